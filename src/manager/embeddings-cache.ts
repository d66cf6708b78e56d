/**
 * The cache of vectors: what an embedder made of a text is kept by the text's digest, one file an embedder.
 *
 * Owns: `state/vectors`: whose file is whose, what is in it, which files are kept.
 * Speaks: identities, digests of texts, unit vectors.
 * Never: needed: it may be deleted at any time, and whatever is damaged in it is passed over and embedded again.
 */
import { createReadStream } from "node:fs";
import { open, readdir, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ensureFolder, type Files } from "../host/files.js";
import { canonicalJson, sha256 } from "../catalog/canonical.js";
import { EMBEDDING_LIMITS } from "../model/endpoint-limits.js";
import { vectorFormat, vectorsFormat } from "../model/vectors.js";
import { cosine } from "../retrieve/vectors.js";
import { packed, readPacked } from "./embeddings-translate.js";

/** One embedder's space: texts are comparable within it and nowhere else. */
export interface Space {
  readonly identity: string;
  readonly dimension: number;
  readonly probe: Float32Array;
  has(text: string): boolean;
  /** The vectors of these texts that are kept and whole. */
  read(texts: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>;
  /** Keeps vectors; resolves when they are on disc. */
  keep(rows: ReadonlyMap<string, Float32Array>): Promise<void>;
}

export interface VectorCache {
  /** The space of an embedder that answers the probe like this: a kept one it fits, or a new one. */
  spaceOf(made: Embedder): Promise<Space>;
}

interface Embedder {
  readonly url: string;
  readonly model: string;
  readonly probe: Float32Array;
}

/** True where two answers to the probe come from one embedder: the same numbers, but for rounding. */
export function isSameEmbedder(a: Float32Array, b: Float32Array): boolean {
  return a.length === b.length && cosine(a, b) >= EMBEDDING_LIMITS.probeLikeness;
}

/** Where in the file a text's line lies, in bytes. */
interface Place {
  readonly start: number;
  readonly length: number;
}

export function openVectorCache(options: {
  /** `state/vectors` of a home that exists. */
  readonly folder: string;
  readonly files: Files;
  readonly log: (level: "warn", text: string) => void;
}): VectorCache {
  const { folder, files, log } = options;
  const home = dirname(dirname(folder));

  /** Last used first. */
  async function listed(): Promise<string[]> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const named = entries.filter((entry) => entry.isFile() && /^[0-9a-f]{16}\.jsonl$/.test(entry.name));
    const found = await Promise.all(
      named.map(async ({ name }) => ({ path: join(folder, name), at: (await stat(join(folder, name))).mtimeMs })),
    );
    return found.sort((a, b) => b.at - a.at).map(({ path }) => path);
  }

  /**
   * Makes room beside the space that begins. What has no vectors goes first: an endpoint that answers differently at each start must not
   * take away what others took long to embed.
   */
  async function makeRoom(begun: string): Promise<void> {
    const others = await Promise.all(
      (await listed()).filter((path) => path !== begun).map(async (path) => ({ path, isEmpty: await hasNoVectors(path) })),
    );
    const kept = [...others.filter(({ isEmpty }) => !isEmpty), ...others.filter(({ isEmpty }) => isEmpty)];
    for (const { path } of kept.slice(EMBEDDING_LIMITS.spacesKept - 1)) await files.unlink(path);
  }

  async function find(made: Embedder): Promise<string | undefined> {
    for (const path of await listed()) {
      const head = await readHead(path);
      const probe = head === undefined ? undefined : readPacked(head.probe);
      if (head?.url === made.url && head.model === made.model && probe !== undefined && isSameEmbedder(probe, made.probe))
        return path;
    }
    return undefined;
  }

  async function begin(made: Embedder): Promise<string> {
    const { url, model, probe } = made;
    const identity = sha256(canonicalJson({ url, model, probe: packed(probe) })).slice(0, 16);
    const head = { format: vectorsFormat.id, identity, url, model, dimension: probe.length, probe: packed(probe) };
    await ensureFolder(files, folder, home);
    const path = join(folder, `${identity}.jsonl`);
    // One of this name whose head cannot be read: nothing may be glued to what is left of it.
    await files.unlink(path);
    await files.append(path, `${JSON.stringify(head)}\n`);
    await files.sync(path);
    await files.syncFolder(folder);
    await makeRoom(path);
    return path;
  }

  return {
    async spaceOf(made) {
      try {
        const known = await find(made);
        if (known !== undefined) await noteUse(known);
        const path = known ?? (await begin(made));
        return await openSpace(path, made.probe, files, log);
      } catch (error) {
        log("warn", `${folder} cannot be used; vectors last until the daemon stops: ${String(error)}`);
        const { url, model, probe } = made;
        return spaceInMemory(sha256(canonicalJson({ url, model, probe: packed(probe) })).slice(0, 16), probe);
      }
    },
  };
}

/** The file's time says when its vectors were last used; nothing depends on it but which file goes first. */
async function noteUse(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
}

/** Nothing behind the head, or no head; what cannot be read holds nothing. */
async function hasNoVectors(path: string): Promise<boolean> {
  return (await firstLines(path, 2)).length < 2;
}

/** Undefined where it cannot be read: it is nobody's then. */
async function readHead(path: string): Promise<{ url: string; model: string; probe: string } | undefined> {
  try {
    return vectorsFormat.schema.parse(JSON.parse((await firstLines(path, 1))[0] ?? ""));
  } catch {
    return undefined;
  }
}

/** The first lines that say anything, as far as they can be read. The file is closed wherever that ends: spaces come and go for months. */
async function firstLines(path: string, most: number): Promise<string[]> {
  const lines: string[] = [];
  let rest = "";
  try {
    for await (const chunk of createReadStream(path, { encoding: "utf8" })) {
      const parts = `${rest}${String(chunk)}`.split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts.filter((part) => part !== ""));
      if (lines.length >= most) return lines.slice(0, most);
    }
  } catch {
    return lines;
  }
  return rest === "" ? lines : [...lines, rest];
}

async function openSpace(
  path: string,
  probe: Float32Array,
  files: Files,
  log: (level: "warn", text: string) => void,
): Promise<Space> {
  const { places, bytes, torn, cutBytes } = await indexLines(path);
  let end = await mendEnd(path, files, { bytes, cutBytes });
  if (torn > 0) log("warn", `${path}: ${torn} damaged line${torn === 1 ? "" : "s"} passed over; those texts are embedded again.`);
  let writing: Promise<void> = Promise.resolve();
  return {
    identity: basename(path, ".jsonl"),
    dimension: probe.length,
    probe,
    has: (text) => places.has(text),
    async read(texts) {
      const found = new Map<string, Float32Array>();
      const handle = await open(path, "r");
      try {
        for (const text of texts) {
          const place = places.get(text);
          if (place === undefined) continue;
          const { buffer } = await handle.read(Buffer.alloc(place.length), 0, place.length, place.start);
          const vector = readLine(buffer.toString("utf8"), text, probe.length);
          if (vector === undefined) places.delete(text);
          else found.set(text, vector);
        }
      } finally {
        await handle.close();
      }
      return found;
    },
    keep(rows) {
      writing = writing
        .then(async () => {
          let block = "";
          for (const [text, vector] of rows) {
            const line = JSON.stringify({ format: vectorFormat.id, text, vector: packed(vector) });
            places.set(text, { start: end + block.length, length: line.length });
            block += `${line}\n`;
          }
          end += block.length;
          await files.append(path, block);
          await files.sync(path);
        })
        .catch((error: unknown) => {
          for (const text of rows.keys()) places.delete(text);
          log("warn", `${path} could not be written; those vectors last until the daemon stops: ${String(error)}`);
        });
      return writing;
    },
  };
}

/** A line that was cut would stay damaged at every start: it goes, unless it is the head, which was read. Answers the file's length. */
async function mendEnd(path: string, files: Files, { bytes, cutBytes }: { bytes: number; cutBytes: number }): Promise<number> {
  if (cutBytes === 0) return bytes;
  const isHead = bytes === 0;
  await (isHead ? files.append(path, "\n") : files.truncate(path, bytes));
  await files.sync(path);
  return isHead ? cutBytes + 1 : bytes;
}

/**
 * Where the whole lines lie; `bytes` without what is left of a last line that was cut. Lines are ASCII (digests and base64), so a length in characters is one in
 * bytes.
 */
async function indexLines(path: string): Promise<{ places: Map<string, Place>; bytes: number; torn: number; cutBytes: number }> {
  const places = new Map<string, Place>();
  let [start, torn, first] = [0, 0, true];
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    let at = 0;
    const data = Buffer.concat([rest, chunk as Buffer]);
    for (let stop = data.indexOf(0x0a); stop >= 0; stop = data.indexOf(0x0a, at)) {
      const text = /"text":"([0-9a-f]{64})"/.exec(data.toString("latin1", at, Math.min(stop, at + 160)))?.[1];
      if (text !== undefined) places.set(text, { start, length: stop - at });
      else if (!first) torn++;
      first = false;
      start += stop - at + 1;
      at = stop + 1;
    }
    rest = data.subarray(at);
  }
  const cutBytes = rest.length;
  return { places, bytes: start, torn: torn + (cutBytes > 0 && !first ? 1 : 0), cutBytes };
}

function readLine(line: string, text: string, dimension: number): Float32Array | undefined {
  try {
    const read = vectorFormat.schema.parse(JSON.parse(line));
    const vector = readPacked(read.vector);
    return read.text === text && vector?.length === dimension ? vector : undefined;
  } catch {
    return undefined;
  }
}

function spaceInMemory(identity: string, probe: Float32Array): Space {
  return {
    identity,
    dimension: probe.length,
    probe,
    has: () => false,
    read: () => Promise.resolve(new Map()),
    keep: () => Promise.resolve(),
  };
}
