/** Published servers whose versions change under a running daemon, with calls in flight: fetched from the npm registry, kept between runs. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FAULTS } from "../../src/model/fault.js";
import { cli, dropHome, newHome, startDaemon, until, type Daemon } from "../e2e/daemon.js";

const kept = join(tmpdir(), "steward-published");

/** Main program of a published version, installed by the ordinary client; undefined where the registry cannot be reached. */
function published(name: string, version: string): string | undefined {
  const folder = join(kept, `${name.replace(/^.*\//, "")}-${version}`);
  const root = join(folder, "node_modules", name);
  try {
    if (!existsSync(root)) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), '{"private": true}');
      const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
      execFileSync("npm", ["install", ...flags, `${name}@${version}`], { cwd: folder, timeout: 120_000 });
    }
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { bin: Record<string, string> };
    return join(root, Object.values(manifest.bin)[0] ?? "");
  } catch {
    return undefined;
  }
}

const FILES = ["2025.8.21", "2025.11.25", "2026.8.31"] as const;
const EVERYTHING = ["2025.9.25", "2026.1.14", "2026.8.31"] as const;
const programs = {
  files: FILES.map((version) => published("@modelcontextprotocol/server-filesystem", version)),
  everything: EVERYTHING.map((version) => published("@modelcontextprotocol/server-everything", version)),
};
const reachable = [...programs.files, ...programs.everything].every((program) => program !== undefined);

/** The step of the way back. */
const BACK = 0;

interface Row {
  readonly label: string;
  readonly pid?: number;
  readonly presence: { readonly state: string };
}
interface Ended {
  readonly tool: string;
  readonly status: number;
  readonly code: string | undefined;
}

describe.skipIf(!reachable)("published servers swapped under a running daemon", () => {
  const home = newHome();
  const folder = join(home, "shared-files");
  let daemon: Daemon;

  function configure(step: number): void {
    const server = (program: string | undefined, ...args: string[]): object => ({
      command: process.execPath,
      args: [program ?? "", ...args],
    });
    const mcpServers = {
      files: server(programs.files[step], folder),
      everything: server(programs.everything[step], "stdio"),
    };
    writeFileSync(join(home, "config/steward.json"), JSON.stringify({ mcpServers }));
  }
  const get = async <T>(path: string): Promise<T> => (await (await fetch(`${daemon.url}${path}`)).json()) as T;
  const pids = async (): Promise<(number | undefined)[]> => (await get<Row[]>("/v1/upstreams")).map((row) => row.pid);
  const toolsOf = async (): Promise<string[]> =>
    (await get<{ tools: { tool: string; digests: { document: string } }[] }>("/v1/catalog")).tools.map(
      (one) => `${one.tool} ${one.digests.document}`,
    );

  async function call(tool: string, args: object): Promise<Ended> {
    const response = await fetch(`${daemon.url}/v1/call_tool`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tool, arguments: args }),
    });
    const body = (await response.json()) as { code?: string };
    return { tool, status: response.status, code: body.code };
  }

  /** Swaps to a step while calls go on; answers with how every one of them ended. */
  async function swap(step: number): Promise<Ended[]> {
    const before = await pids();
    const ended: Ended[] = [];
    let going = true;
    const keepCalling = async (tool: string, args: object): Promise<void> => {
      while (going) ended.push(await call(tool, args));
    };
    const callers = [
      keepCalling("files/list_directory", { path: folder }),
      keepCalling("files/read_text_file", { path: join(folder, "note.txt") }),
      keepCalling("everything/echo", { message: "hello" }),
    ];
    await until(async () => ended.length > 5, "calls go on");
    configure(step);
    await until(async () => {
      const rows = await get<Row[]>("/v1/upstreams");
      const fresh = rows.every((row, at) => row.pid !== undefined && row.pid !== before[at] && row.presence.state === "up");
      return fresh && rows.length === 2;
    }, `the servers of step ${step} are up`);
    const settled = ended.length;
    await until(async () => ended.length > settled + 10, "calls go on after the swap");
    going = false;
    await Promise.all(callers);
    return ended;
  }

  beforeAll(async () => {
    mkdirSync(join(home, "config"), { recursive: true });
    mkdirSync(folder);
    writeFileSync(join(folder, "note.txt"), "written here");
    configure(0);
    daemon = await startDaemon(home, []);
    await daemon.ready();
  }, 240_000);
  afterAll(async () => {
    await daemon.stop();
    dropHome(home);
  });

  it(
    "lose no call in silence, make a version where a definition moved, and come back as they were",
    { timeout: 240_000 },
    async () => {
      const first = await toolsOf();
      const listed = [first];
      for (const step of [1, 2, BACK]) {
        const ended = await swap(step);
        const failed = ended.filter((one) => one.status !== 200);
        // Every call ended: with the upstream's answer, or with a fault of the table that says what became of it.
        expect(failed.filter((one) => one.code === undefined || !(one.code in FAULTS))).toEqual([]);
        // Lost are those that were with the old server when it was stopped: at most one of each caller. Servers of the first step do
        // not say that they only read, so that the way back is a safety change: held until a person approves.
        const held = failed.filter((one) => one.code === "tool-held");
        expect(failed.length - held.length).toBeLessThanOrEqual(3);
        expect(held.length > 0 && step !== BACK).toBe(false);
        expect(ended.slice(-5).filter((one) => one.status !== 200 && one.code !== "tool-held")).toEqual([]);
        await fetch(`${daemon.url}/v1/catalog/sync`, { method: "POST" });
        const now = await call("files/read_text_file", { path: join(folder, "note.txt") });
        expect(now.code).toBe(step === BACK ? "tool-held" : undefined);
        listed.push(await toolsOf());
        process.stdout.write(
          `step ${step}: ${ended.length} calls, ${failed.length} with a fault (${[...new Set(failed.map((one) => one.code))].join(", ")})\n`,
        );
      }
      expect(listed[1]).not.toEqual(listed[0]);
      expect(listed[2]).not.toEqual(listed[1]);
      expect(listed[3]).toEqual(first);
      const versions =
        await get<{ version: number; cause: string; added: number; removed: number; changed: number }[]>("/v1/catalog/versions");
      // No version for a listing that moved nothing.
      expect(versions.every((row) => row.version === 1 || row.added + row.removed + row.changed > 0)).toBe(true);
      for (const { version } of versions.slice(1)) {
        const drift = await get<{ unclassified: number }>(`/v1/catalog/drift?from=${version - 1}&to=${version}`);
        expect(drift.unclassified).toBe(0);
      }
      const log = await cli(home, "catalog", "log");
      process.stdout.write(log.out);
      expect(log.code).toBe(0);
      expect(daemon.stderr()).not.toMatch(/"level":(50|60)|event \S+ failed/);
    },
  );
});
