/**
 * The host: what the operating system gives, behind small ports.
 *
 * Owns: durable writing of files (this file), clock, chance, log, terminal, processes, signals, environment, redaction.
 * Speaks: paths, bytes, pids; operating-system errors, and the Fault they mean.
 * Never: domain nouns; what a file holds is known by store/ and config/.
 *
 * Every write of the product goes through `Files`, one primitive a call, so that a test can fail or end the process at any of
 * them. The one way to replace a file is `writeAtomic`: unique temporary name, fsync, rename, fsync of the folder.
 */
import { randomBytes } from "node:crypto";
import { constants, promises as fs } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Fault } from "../model/fault.js";

export interface Files {
  /** Creates a file that must not exist yet. Its bytes are durable after `sync`, its name after `syncFolder`. */
  create(path: string, bytes: string | Uint8Array, mode?: number): Promise<void>;
  /** Adds bytes at the end of a file, creating it where it is missing. Durable after `sync`. */
  append(path: string, bytes: string): Promise<void>;
  /** Cuts a file to `length` bytes. Durable after `sync`. */
  truncate(path: string, length: number): Promise<void>;
  /** fsync of a file that was created, appended to or cut through this port. */
  sync(path: string): Promise<void>;
  /** fsync of a file that lies there already, whoever wrote it. */
  syncWritten(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** A second name for the same bytes (a copy where the file system knows no hard links). `to` must not exist. */
  link(from: string, to: string): Promise<void>;
  /** Removes a file; one that is not there is no error. */
  unlink(path: string): Promise<void>;
  /** Creates one folder; one that is there is no error. */
  makeFolder(path: string, mode?: number): Promise<void>;
  /** Removes a folder if it is empty; otherwise, or where there is none, nothing happens. */
  removeFolder(path: string): Promise<void>;
  /** fsync of a folder: the names in it are durable afterwards. */
  syncFolder(path: string): Promise<void>;
  /** Gives back what is held open. */
  close(): Promise<void>;
}

/** The real file system. Files being written stay open until `sync`; appended ones until `close`. */
export function nodeFiles(): Files {
  const fresh = new Map<string, FileHandle>();
  const appended = new Map<string, FileHandle>();

  async function forget(path: string): Promise<void> {
    for (const open of [fresh, appended]) {
      const handle = open.get(path);
      open.delete(path);
      await handle?.close();
    }
  }

  async function appendHandle(path: string): Promise<FileHandle> {
    const known = appended.get(path);
    if (known !== undefined) return known;
    const handle = await fs.open(path, "a", 0o600);
    appended.set(path, handle);
    return handle;
  }

  return {
    async create(path, bytes, mode = 0o644) {
      const handle = await fs.open(path, "wx", mode);
      fresh.set(path, handle);
      await handle.writeFile(bytes);
    },
    async append(path, bytes) {
      const handle = await appendHandle(path);
      await handle.appendFile(bytes);
    },
    async truncate(path, length) {
      const handle = await appendHandle(path);
      await handle.truncate(length);
    },
    async sync(path) {
      const handle = fresh.get(path);
      if (handle === undefined) {
        await (await appendHandle(path)).sync();
        return;
      }
      fresh.delete(path);
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    async syncWritten(path) {
      const handle = await fs.open(path, "r+");
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    async rename(from, to) {
      await forget(from);
      await forget(to);
      await fs.rename(from, to);
    },
    async link(from, to) {
      try {
        await fs.link(from, to);
      } catch (error) {
        if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(errorCode(error) ?? "")) throw error;
        await fs.copyFile(from, to, constants.COPYFILE_EXCL);
      }
    },
    async unlink(path) {
      await forget(path);
      await fs.rm(path, { force: true });
    },
    async makeFolder(path, mode = 0o755) {
      await fs.mkdir(path, { mode }).catch(unless("EEXIST"));
    },
    async removeFolder(path) {
      await fs.rmdir(path).catch(unless("ENOENT", "ENOTEMPTY", "EEXIST"));
    },
    async syncFolder(path) {
      // Windows cannot open folders; its file system orders renames by itself.
      if (process.platform === "win32") return;
      const handle = await fs.open(path, "r");
      try {
        await handle.sync().catch(unless("EINVAL", "ENOTSUP", "EPERM"));
      } finally {
        await handle.close();
      }
    },
    async close() {
      for (const path of [...fresh.keys(), ...appended.keys()]) await forget(path);
    },
  };
}

function unless(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(errorCode(error) ?? "")) throw error;
  };
}

/** The system's code of an error (`ENOENT`), where it has one. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

let written = 0;

/** Temporary names start with a dot and end in this, so that readers pass over them and a later start may sweep them. */
export const TEMPORARY = ".tmp";

/** A name beside `path` that nobody else uses: two processes, two writes of one process, two starts with one pid. */
export function temporaryName(path: string): string {
  written += 1;
  const unique = `${process.pid}-${written}-${randomBytes(4).toString("hex")}`;
  return join(dirname(path), `.${basename(path)}.${unique}${TEMPORARY}`);
}

export interface AtomicOptions {
  readonly mode?: number;
  /** Keep the bytes that were there as `<path>.bak`. */
  readonly keepPrevious?: boolean;
  /** Leave the fsync of the folder to the caller, who writes several files into it. */
  readonly folderLater?: boolean;
  /** Leave the fsync of the file to the caller, too: until then a power failure may leave an empty file or none. */
  readonly syncLater?: boolean;
}

/** Replaces or creates a file, whole or not at all. Rejects with the system's error; nothing but a temporary file may be left. */
export async function writeAtomic(
  files: Files,
  path: string,
  bytes: string | Uint8Array,
  options: AtomicOptions = {},
): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await files.create(temporary, bytes, options.mode);
    if (options.syncLater !== true) await files.sync(temporary);
    if (options.keepPrevious === true) await keepPrevious(files, path);
    await files.rename(temporary, path);
  } catch (error) {
    await files.unlink(temporary).catch(() => undefined);
    throw error;
  }
  if (options.folderLater !== true) await files.syncFolder(dirname(path));
}

async function keepPrevious(files: Files, path: string): Promise<void> {
  const temporary = temporaryName(`${path}.bak`);
  try {
    await files.link(path, temporary);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw error;
  }
  try {
    await files.rename(temporary, `${path}.bak`);
    // Renaming one name of a file onto another name of the same file does nothing and leaves the first.
    await files.unlink(temporary);
  } catch (error) {
    await files.unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** Creates a folder with its parents, each made durable in the one above it. `within` is a folder that exists already. */
export async function ensureFolder(files: Files, path: string, within: string, mode?: number): Promise<void> {
  const missing: string[] = [];
  for (let at = path; at !== within && at !== dirname(at); at = dirname(at)) {
    if (await isFolder(at)) break;
    missing.unshift(at);
  }
  for (const folder of missing) {
    await files.makeFolder(folder, mode);
    await files.syncFolder(dirname(folder));
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await fs.stat(path)).isDirectory();
  } catch {
    return false;
  }
}

const causes: Readonly<Record<string, string>> = {
  ENOSPC: "The disc is full: free some space; nothing else needs to be done.",
  EDQUOT: "The disc quota is used up: free some space; nothing else needs to be done.",
  EROFS: "The file system is mounted read-only.",
  EACCES: "This user may not write there: correct owner or permissions.",
  EPERM: "This user may not write there: correct owner or permissions.",
  EIO: "The disc reports an input/output error: check it before relying on it.",
  EMFILE: "Too many files are open in this process.",
  ENFILE: "Too many files are open on this machine.",
};

/** The Fault that a failed write is for people: which file, what the system said, what to do. */
export function unwritable(what: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const code = errorCode(error);
  const said = error instanceof Error ? error.message : String(error);
  const cause = code === undefined ? undefined : causes[code];
  return new Fault(
    "home-unwritable",
    `${what}: ${cause ?? ""} (${said})`.replace(":  (", ": ("),
    { code: code ?? null },
    { cause: error },
  );
}
