// Writes MATRIX.md from what its test sees of a freshly built daemon.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
const steps = [[join(root, "scripts/build.mjs")], [vitest, "run", "test/surfaces/mcp-matrix.test.ts"]];
for (const args of steps) {
  const env = { ...process.env, STEWARD_MATRIX: "write" };
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env });
  if (status !== 0) process.exit(status ?? 1);
}
