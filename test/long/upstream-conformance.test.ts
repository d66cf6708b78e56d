import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../upstream/stand.js";

const root = resolve(import.meta.dirname, "../..");
const suite = resolve(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const run = promisify(execFile);

/** The official suite's client scenarios that concern a session to a server. The others are about login flows, which we leave to configured headers. */
const SCENARIOS: readonly (readonly [scenario: string, version: string])[] = [
  ["initialize", "2025-11-25"],
  ["tools_call", "2025-11-25"],
  ["tools_call", "2026-07-28"],
  ["elicitation-sep1034-client-defaults", "2025-11-25"],
  ["sse-retry", "2025-11-25"],
  ["request-metadata", "2026-07-28"],
  ["sep-2322-client-request-state", "2026-07-28"],
  ["http-standard-headers", "2026-07-28"],
  ["http-custom-headers", "2026-07-28"],
  ["http-invalid-tool-headers", "2026-07-28"],
  ["json-schema-ref-no-deref", "2026-07-28"],
  ["json-schema-2020-12-preservation", "2025-11-25"],
  ["json-schema-2020-12-preservation", "2026-07-28"],
];

describe.skipIf(!existsSync(suite))("the official suite before our upstream sessions", () => {
  for (const [scenario, version] of SCENARIOS) {
    it(`${scenario}, ${version}`, async () => {
      const client = `${process.execPath} --import tsx ${resolve(root, "test/fixtures/conformance/upstream-client.ts")}`;
      const shim = resolve(root, "test/fixtures/conformance/globsync-shim.mjs");
      const args = ["--import", shim, suite, "client", "--scenario", scenario, "--spec-version", version];
      const { stdout, stderr } = await run(
        process.execPath,
        [...args, "--timeout", "90000", "--command", client, "-o", tempFolder()],
        {
          cwd: root,
          maxBuffer: 64 * 1024 * 1024,
        },
      ).catch((error: unknown) => error as { stdout: string; stderr: string });
      const said = stdout + stderr;
      const summary = /Passed: (\d+)\/(\d+), (\d+) failed, (\d+) warnings/.exec(said);
      process.stdout.write(`${scenario} ${version}: ${summary?.[0] ?? "no summary"}\n`);
      expect(said).toContain("OVERALL: PASSED");
    });
  }
});
