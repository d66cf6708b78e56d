/** Servers that people run: their packages, a call each that needs nothing else, what it answers. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { JsonObject } from "../../src/model/json.js";

export const modules = resolve(import.meta.dirname, "../../node_modules");

/** The program of an installed package. */
export function programOf(name: string): string {
  const manifest = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as {
    bin: string | Record<string, string>;
  };
  const program = typeof manifest.bin === "string" ? manifest.bin : Object.values(manifest.bin)[0];
  return join(modules, name, program ?? "");
}

/** A label for a package: its name without the scope. */
export const labelOf = (name: string): string => name.replace(/^.*\//, "").slice(0, 32);

export interface Real {
  readonly name: string;
  readonly args: (folder: string) => readonly string[];
  readonly call: (folder: string) => { readonly name: string; readonly args: JsonObject };
  readonly answers: RegExp;
  readonly tools: number;
}
export const REAL: readonly Real[] = [
  {
    name: "@modelcontextprotocol/server-everything",
    args: () => ["stdio"],
    call: () => ({ name: "echo", args: { message: "hello" } }),
    answers: /hello/,
    tools: 8,
  },
  {
    name: "@modelcontextprotocol/server-filesystem",
    args: (folder) => [folder],
    call: (folder) => ({ name: "read_text_file", args: { path: join(folder, "note.txt") } }),
    answers: /written here/,
    tools: 10,
  },
  {
    name: "@modelcontextprotocol/server-memory",
    args: () => [],
    call: () => ({ name: "read_graph", args: {} }),
    answers: /entities/,
    tools: 8,
  },
  {
    name: "@modelcontextprotocol/server-sequential-thinking",
    args: () => [],
    call: () => ({
      name: "sequentialthinking",
      args: { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    }),
    answers: /thoughtNumber/,
    tools: 1,
  },
  {
    name: "@coo-quack/calc-mcp",
    args: () => [],
    call: () => ({ name: "math", args: { action: "eval", expression: "6*7" } }),
    answers: /42/,
    tools: 10,
  },
  {
    name: "@cyanheads/git-mcp-server",
    args: () => [],
    call: (folder) => ({ name: "git_status", args: { path: folder } }),
    answers: /branch|clean|untracked/i,
    tools: 20,
  },
];
