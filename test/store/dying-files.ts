/**
 * Files on which a process dies, or a write fails, at the n-th operation: for exhaustive tests of everything that writes.
 *
 *   const count = await steps(files => run(files));              // how many operations there are
 *   for (let at = 1; at <= count; at += 1) run(dyingFiles(nodeFiles(), { at, how: "torn" }))
 *
 * `before`, `torn` and `after` are kill -9: what was done stays. `power` and `nulls` are a power failure: what was not fsynced is
 * lost, names (created, renamed, removed files) included with `power`; with `nulls` the names stay and the bytes are zeros. These
 * two need a home made by `tempHome()` and `afterEach(removeHomes)`. A dead process's lock is taken away by `ownerDied(home)`.
 */
import { existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeFiles, type Files } from "../../src/host/files.js";
import { tempHome } from "./home.js";

export type Death = "before" | "torn" | "after" | "power" | "nulls";
export const DEATHS: readonly Death[] = ["before", "torn", "after", "power", "nulls"];

/** What a dead process's writes reject with. */
export class Died extends Error {
  constructor() {
    super("the process died");
  }
}

export interface DyingFiles extends Files {
  /** Operations so far. */
  steps(): number;
  readonly dead: boolean;
  /** Names of the operations, for messages. */
  readonly done: readonly string[];
}

type Operation = Exclude<keyof Files, "close">;
const OPERATIONS: readonly Operation[] = [
  "create",
  "append",
  "truncate",
  "sync",
  "syncWritten",
  "rename",
  "link",
  "unlink",
  "makeFolder",
  "removeFolder",
  "syncFolder",
];

/** Without `death` it only counts. Operations that run at the same time die together. */
export function dyingFiles(inner: Files = nodeFiles(), death?: { readonly at: number; readonly how: Death }): DyingFiles {
  let steps = 0;
  let dead = false;
  const done: string[] = [];
  const power = death?.how === "power" || death?.how === "nulls" ? unsyncedState() : undefined;

  const step =
    (name: Operation) =>
    async (...args: readonly unknown[]): Promise<void> => {
      if (dead) throw new Died();
      steps += 1;
      const run = (): Promise<void> => (inner[name] as (...args: readonly unknown[]) => Promise<void>)(...args);
      const dies = steps === death?.at;
      done.push(`${name} ${String(args[0])}`);
      if (dies) {
        dead = true;
        if (death.how === "torn") await torn(inner, name, args);
        if (death.how !== "before" && death.how !== "torn") await run();
        if (power !== undefined) {
          if (death.how === "nulls") power.note(name, args);
          power.fail(death.how === "nulls");
        }
        await inner.close();
        throw new Died();
      }
      const noted = power?.note(name, args);
      await run();
      noted?.();
    };

  const wrapped = Object.fromEntries(OPERATIONS.map((name) => [name, step(name)])) as unknown as Omit<Files, "close">;
  return {
    ...wrapped,
    close: () => inner.close(),
    steps: () => steps,
    get dead() {
      return dead;
    },
    done,
  };
}

/** Half of what would have been written. */
async function torn(inner: Files, name: Operation, args: readonly unknown[]): Promise<void> {
  const [path, bytes] = args;
  if (name === "append" && typeof bytes === "string") await inner.append(String(path), bytes.slice(0, bytes.length >> 1));
  if (name === "create" && typeof bytes === "string") await inner.create(String(path), bytes.slice(0, bytes.length >> 1));
}

/** Fails the operations from the n-th on, `times` of them, with the system's code; later ones work again. */
export function failingFiles(
  inner: Files,
  failure: { readonly at: number; readonly code: string; readonly times?: number; readonly after?: boolean },
): DyingFiles {
  const counted = dyingFiles(inner);
  const last = failure.at + (failure.times ?? 1) - 1;
  const fail = (): Error => Object.assign(new Error(`${failure.code}: injected`), { code: failure.code });
  let steps = 0;
  const step =
    (name: Operation) =>
    async (...args: readonly unknown[]): Promise<void> => {
      steps += 1;
      const fails = steps >= failure.at && steps <= last;
      if (fails && failure.after !== true) throw fail();
      await (counted[name] as (...args: readonly unknown[]) => Promise<void>)(...args);
      if (fails) throw fail();
    };
  const wrapped = Object.fromEntries(OPERATIONS.map((name) => [name, step(name)])) as unknown as Omit<Files, "close">;
  return { ...wrapped, close: () => inner.close(), steps: () => steps, dead: false, done: counted.done };
}

/** Keeps track of what an operating system that loses power would forget. */
function unsyncedState() {
  const shadow = tempHome();
  let shadows = 0;
  /** Names not made durable yet, in order, with how to undo each. */
  let names: { folder: string; undo: () => void }[] = [];
  /** Bytes not made durable yet: path → length that is. */
  const bytes = new Map<string, number>();

  const keep = (path: string): string | undefined => {
    if (!existsSync(path)) return undefined;
    const copy = join(shadow, String(++shadows));
    linkSync(path, copy);
    return copy;
  };
  const named = (path: string, undo: () => void): void => void names.push({ folder: dirname(path), undo });

  /** Called before an operation; what it returns is called after it. */
  function note(name: Operation, args: readonly unknown[]): (() => void) | undefined {
    const [a, b] = args.map(String) as [string, string];
    switch (name) {
      case "create":
        return () => {
          named(a, () => rmSync(a, { force: true }));
          bytes.set(a, 0);
        };
      case "append": {
        const before = existsSync(a) ? statSync(a).size : undefined;
        return () => {
          if (before === undefined) named(a, () => rmSync(a, { force: true }));
          if (!bytes.has(a)) bytes.set(a, before ?? 0);
        };
      }
      case "sync":
      case "syncWritten":
        return () => void bytes.delete(a);
      case "rename": {
        const old = keep(b);
        return () => {
          named(b, () => {
            if (existsSync(b)) renameSync(b, a);
            if (old !== undefined) renameSync(old, b);
          });
          const length = bytes.get(a);
          bytes.delete(a);
          if (length !== undefined) bytes.set(b, length);
        };
      }
      case "link":
        return () => named(b, () => rmSync(b, { force: true }));
      case "unlink": {
        const old = keep(a);
        return () => {
          bytes.delete(a);
          if (old !== undefined) named(a, () => renameSync(old, a));
        };
      }
      case "makeFolder":
        return existsSync(a) ? undefined : () => named(a, () => rmSync(a, { recursive: true, force: true }));
      case "removeFolder": {
        const was = existsSync(a);
        return () => {
          if (was && !existsSync(a)) named(a, () => mkdirSync(a));
        };
      }
      case "syncFolder":
        return () => {
          names = names.filter(({ folder }) => folder !== a);
        };
      case "truncate":
        return undefined;
    }
  }

  function fail(nulls: boolean): void {
    if (nulls) {
      for (const [path, length] of bytes) {
        if (!existsSync(path)) continue;
        const size = statSync(path).size;
        truncateSync(path, length);
        writeFileSync(path, Buffer.alloc(size - length), { flag: "a" });
      }
    } else {
      for (const { undo } of names.reverse()) undo();
      for (const [path, length] of bytes) if (existsSync(path)) truncateSync(path, length);
    }
  }

  return { note, fail };
}
