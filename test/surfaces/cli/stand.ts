import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { starterHome } from "../../../src/host/starter.js";
import { nodeFiles } from "../../../src/host/files.js";
import { silentLog } from "../../../src/host/log.js";
import { createPrint } from "../../../src/host/print.js";
import { createShop } from "../../../src/lab/worlds/shop/shop.js";
import type { JsonObject, JsonValue } from "../../../src/model/json.js";
import { seedHome } from "../../../src/store/seed.js";
import { runCli } from "../../../src/surfaces/cli/program.js";
import { createCliPorts } from "../../../src/verbs.js";

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder with a starter home that no daemon ever ran on, and the command line on it, in this process. */
export interface Desk {
  readonly folder: string;
  readonly home: string;
  run(...argv: string[]): Promise<Said>;
  /** With somebody at the terminal who answers its questions. */
  runAnswering(answer: (question: string) => boolean, argv: readonly string[]): Promise<Said>;
  json(...argv: string[]): Promise<JsonValue>;
  /** Writes a file beside the home and answers its path. */
  file(name: string, value: JsonValue | string): string;
  drop(): void;
}

export async function openDesk(): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), "steward-cli-"));
  const home = join(folder, "home");
  await seedHome(home, starterHome(), nodeFiles());
  const runWith = async (answer: ((question: string) => boolean) | undefined, argv: readonly string[]): Promise<Said> => {
    let [out, err] = ["", ""];
    const print = createPrint({
      out: { write: (text) => (out += text) },
      err: { write: (text) => (err += text) },
      env: { NO_COLOR: "1" },
    });
    const main = resolve(import.meta.dirname, "../../../dist/main.js");
    const ports = createCliPorts({ main, env: process.env, cwd: folder, print, log: silentLog, version: "0.0.0" });
    const confirm = (question: string) => Promise.resolve(answer?.(question));
    const code = await runCli(argv.includes("--home") ? argv : [...argv, "--home", home], { ...ports, confirm });
    return { code, out, err };
  };
  const run = (...argv: string[]): Promise<Said> => runWith(undefined, argv);
  return {
    folder,
    home,
    run,
    runAnswering: runWith,
    json: async (...argv) => JSON.parse((await run(...argv, "--json")).out) as JsonValue,
    file(name, value) {
      const path = join(folder, name);
      writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
      return path;
    },
    drop: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The sample shop at one of its versions, as one catalog file with both servers. */
export function shopFile(version: number, change: (tool: JsonObject) => JsonObject | undefined = (tool) => tool): JsonObject[] {
  const tools: JsonObject[] = [];
  for (const part of ["shop", "depot"] as const) {
    for (const listed of createShop({ part, version }).tools()) {
      const changed = change({ ...listed, server: part });
      if (changed !== undefined) tools.push(changed);
    }
  }
  return tools;
}

/** Every file below a folder with its bytes and time: what must not move. */
export function footprint(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    found[path] = entry.isFile() ? `${statSync(path).mtimeMs} ${readFileSync(path, "latin1")}` : "folder";
  }
  return found;
}
