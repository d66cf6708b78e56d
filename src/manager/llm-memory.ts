/**
 * The manager's memory: a small map that outlives the process where somebody keeps it.
 *
 * Owns: the port, a memory for one process, and one in a file of the home.
 * Speaks: keys and JSON values.
 * Never: throws for what the file holds: it is a cache, and a damaged one starts empty.
 */
import { readFileSync } from "node:fs";
import { errorCode, writeAtomic, type Files } from "../host/files.js";
import type { JsonValue } from "../model/json.js";
import { managerMemoryFormat } from "../model/manager-memory.js";
import { LLM_LIMITS } from "../model/endpoint-limits.js";

export interface LlmMemory {
  get(key: string): JsonValue | undefined;
  /** Takes effect at once; where it is kept on disc, some time later. */
  set(key: string, value: JsonValue): void;
}

export interface KeptMemory extends LlmMemory {
  /** Resolves when everything set so far is on disc, or could not be written. */
  settled(): Promise<void>;
}

/** Holds the newest entries, the oldest go first; ladders count like answers and are few. */
export function memoryOfOneProcess(most: number = LLM_LIMITS.answersKept): LlmMemory & { entries(): Record<string, JsonValue> } {
  const entries = new Map<string, JsonValue>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      for (const oldest of entries.keys()) {
        if (entries.size <= most) break;
        entries.delete(oldest);
      }
    },
    entries: () => Object.fromEntries(entries),
  };
}

/** The memory in a file (`state/manager.json`), read at once, written whole and atomically after it moved. */
export function openMemory(options: {
  readonly path: string;
  readonly files: Files;
  readonly log: (level: "info" | "warn" | "error", text: string) => void;
}): KeptMemory {
  const { path, files, log } = options;
  const memory = memoryOfOneProcess();
  for (const [key, value] of Object.entries(readEntries(path, log))) memory.set(key, value);
  let writing: Promise<void> = Promise.resolve();
  let isDue = false;

  async function write(): Promise<void> {
    isDue = false;
    const text = `${JSON.stringify({ format: managerMemoryFormat.id, entries: memory.entries() }, undefined, 2)}\n`;
    try {
      await writeAtomic(files, path, text);
    } catch (error) {
      log("warn", `${path} could not be written; what the manager learnt lasts until the daemon stops: ${String(error)}`);
    }
  }

  return {
    get: (key) => memory.get(key),
    set(key, value) {
      memory.set(key, value);
      if (isDue) return;
      isDue = true;
      writing = writing.then(write);
    },
    settled: () => writing,
  };
}

function readEntries(path: string, log: (level: "warn", text: string) => void): Record<string, JsonValue> {
  try {
    return managerMemoryFormat.schema.parse(JSON.parse(readFileSync(path, "utf8"))).entries;
  } catch (error) {
    if (errorCode(error) !== "ENOENT") log("warn", `${path} cannot be read and is begun anew; endpoints are tried again.`);
    return {};
  }
}
