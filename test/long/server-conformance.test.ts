import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { dropHome, newHome, startDaemon, type Daemon } from "../e2e/daemon.js";

const root = resolve(import.meta.dirname, "../..");
const package_ = resolve(root, "node_modules/@modelcontextprotocol/conformance");
const fixtures = resolve(root, "test/fixtures/conformance");
const run = promisify(execFile);

const homes: string[] = [];
const open: Daemon[] = [];
afterEach(async () => {
  for (const daemon of open.splice(0)) await daemon.stop();
  for (const home of homes.splice(0)) dropHome(home);
});

/** The daemon before one upstream with an empty prefix: every tool under its own name. */
async function before(upstream: string): Promise<Daemon> {
  const home = newHome();
  homes.push(home);
  mkdirSync(join(home, "config"), { recursive: true });
  const config = {
    mcpServers: { suite: { command: process.execPath, args: [join(fixtures, upstream)] } },
    steward: { upstreams: { suite: { prefix: "" } } },
  };
  writeFileSync(join(home, "config/steward.json"), JSON.stringify(config));
  const daemon = await startDaemon(home, []);
  open.push(daemon);
  await daemon.ready();
  return daemon;
}

const EXPECTED = join(fixtures, "expected-failures.yml");

interface Ran {
  readonly code: number;
  readonly said: string;
  /** Checks that passed and failed; undefined where the suite said neither. */
  readonly counts: { readonly passed: number; readonly failed: number } | undefined;
}

async function runScenario(daemon: Daemon, scenario: string, revision: string, ...more: readonly string[]): Promise<Ran> {
  const out = mkdtempSync(join(tmpdir(), "conformance-"));
  const args = ["--import", join(fixtures, "globsync-shim.mjs"), join(package_, "dist/index.js"), "server"];
  const { stdout, code = 0 } = await run(
    process.execPath,
    [...args, "--url", `${daemon.url}/mcp/direct`, "--scenario", scenario, "--spec-version", revision, "-o", out, ...more],
    { maxBuffer: 64 * 1024 * 1024, timeout: 90_000 },
  ).then(
    (ran) => ({ ...ran, code: 0 }),
    (error: unknown) => error as { stdout: string; code?: number },
  );
  rmSync(out, { recursive: true, force: true });
  const summary = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(stdout);
  const counts = summary === null ? undefined : { passed: Number(summary[1]), failed: Number(summary[3]) };
  return { code, said: stdout.slice(-1_500), counts };
}

const UPSTREAMS = { "2025-11-25": "legacy-upstream.mjs", "2026-07-28": "modern-upstream.mjs" };

describe.each(Object.entries(UPSTREAMS))(
  "the official conformance suite through the proxy, revision %s",
  (revision, upstream) => {
    const { server } = parse(readFileSync(join(package_, `requirements/${revision}.yaml`), "utf8")) as { server: string[] };

    it("passes every required server scenario", { timeout: 600_000 }, async () => {
      const daemon = await before(upstream);
      const failures: string[] = [];
      for (const scenario of server) {
        const { counts, said } = await runScenario(daemon, scenario, revision);
        if (counts?.failed !== 0) failures.push(`${scenario}: ${said}`);
      }
      process.stdout.write(
        `${revision}: ${server.length - failures.length} of ${server.length} required server scenarios pass\n`,
      );
      expect(failures).toEqual([]);
    });
  },
);

describe("the tasks extension, which is not offered", () => {
  const { server: expected } = parse(readFileSync(EXPECTED, "utf8")) as { server: string[] };

  it("is missing in every scenario that needs it, as the file of expected failures says", { timeout: 600_000 }, async () => {
    const known = await run(process.execPath, [
      "--import",
      join(fixtures, "globsync-shim.mjs"),
      join(package_, "dist/index.js"),
      "list",
    ]);
    const tasks = [...known.stdout.matchAll(/- (tasks-[a-z-]+) \[extension\]/g)].map((match) => match[1] ?? "");
    const daemon = await before(UPSTREAMS["2026-07-28"]);
    const seen: Record<string, string> = {};
    for (const scenario of tasks) {
      const { code, counts } = await runScenario(daemon, scenario, "2026-07-28", "--force", "--expected-failures", EXPECTED);
      // The suite exits with an error where a failure was not expected, and where an expected one did not come.
      const fails = counts !== undefined && counts.failed > 0;
      seen[scenario] = code !== 0 ? "not as expected" : fails ? "fails as expected" : "asks for nothing";
    }
    process.stdout.write(`${JSON.stringify(seen, undefined, 2)}\n`);
    expect(seen).toEqual(
      Object.fromEntries(tasks.map((name) => [name, expected.includes(name) ? "fails as expected" : "asks for nothing"])),
    );
    expect(expected.filter((name) => !tasks.includes(name))).toEqual([]);
  });
});
