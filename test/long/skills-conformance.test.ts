import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropHome, newHome, startDaemon, type Daemon } from "../e2e/daemon.js";

const root = resolve(import.meta.dirname, "../..");
const suite = resolve(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const shim = resolve(root, "test/fixtures/conformance/globsync-shim.mjs");
const run = promisify(execFile);

const SCENARIOS = ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"];

describe.each(["/mcp", "/mcp/direct"])(
  "the official suite's scenarios of the Skills extension, at %s of the starter home",
  (path) => {
    const home = newHome();
    let daemon: Daemon;
    beforeAll(async () => {
      daemon = await startDaemon(home);
      await daemon.ready();
    });
    afterAll(async () => {
      await daemon.stop();
      dropHome(home);
    });

    it.each(SCENARIOS.flatMap((scenario) => ["2025-11-25", "2026-07-28"].map((revision) => ({ scenario, revision }))))(
      "$scenario passes under $revision, without a warning",
      async ({ scenario, revision }) => {
        const out = mkdtempSync(join(tmpdir(), "conformance-"));
        const args = ["--import", shim, suite, "server", "--url", `${daemon.url}${path}`, "--scenario", scenario];
        const { stdout, stderr } = await run(process.execPath, [...args, "--force", "--spec-version", revision, "-o", out], {
          maxBuffer: 64 * 1024 * 1024,
        }).catch((error: unknown) => error as { stdout: string; stderr: string });
        rmSync(out, { recursive: true, force: true });
        const said = stdout + stderr;
        const summary = /Passed: (\d+)\/(\d+), (\d+) failed, (\d+) warnings/.exec(said);
        process.stdout.write(`${path} ${scenario} ${revision}: ${summary?.[0] ?? said.slice(-1_500)}\n`);
        expect(Number(summary?.[1])).toBeGreaterThan(0);
        expect(summary?.slice(3)).toEqual(["0", "0"]);
      },
    );
  },
);
