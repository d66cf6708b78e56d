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

const UPSTREAMS = { "2025-11-25": "legacy-upstream.mjs", "2026-07-28": "modern-upstream.mjs" };

describe.each(Object.entries(UPSTREAMS))(
  "the official conformance suite through the proxy, revision %s",
  (revision, upstream) => {
    const { server } = parse(readFileSync(join(package_, `requirements/${revision}.yaml`), "utf8")) as { server: string[] };

    it("passes every required server scenario", { timeout: 600_000 }, async () => {
      const daemon = await before(upstream);
      const failures: string[] = [];
      for (const scenario of server) {
        const out = mkdtempSync(join(tmpdir(), "conformance-"));
        const args = ["--import", join(fixtures, "globsync-shim.mjs"), join(package_, "dist/index.js"), "server"];
        const { stdout } = await run(
          process.execPath,
          [...args, "--url", `${daemon.url}/mcp/direct`, "--scenario", scenario, "--spec-version", revision, "-o", out],
          { maxBuffer: 64 * 1024 * 1024, timeout: 90_000 },
        ).catch((error: unknown) => error as { stdout: string });
        rmSync(out, { recursive: true, force: true });
        const summary = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(stdout);
        if (summary?.[3] !== "0") failures.push(`${scenario}: ${stdout.slice(-1_500)}`);
      }
      process.stdout.write(
        `${revision}: ${server.length - failures.length} of ${server.length} required server scenarios pass\n`,
      );
      expect(failures).toEqual([]);
    });
  },
);
