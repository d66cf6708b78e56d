import { defineConfig } from "vitest/config";

const long = process.env["STEWARD_LONG"] === "1";

/** Tests of the core: in memory, without anything that outlives a test. Their files share what they import, which saves half of their time. */
const CORE = ["catalog", "episodes", "graph", "maintain", "model", "provision", "retrieve", "skills", "world"].map(
  (room) => `test/${room}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    globalSetup: ["test/setup.ts"],
    testTimeout: long ? 600_000 : 30_000,
    hookTimeout: long ? 600_000 : 60_000,
    pool: "forks",
    // Long tests kill, time out and count processes: one at a time.
    maxWorkers: long ? 1 : 2,
    reporters: ["default", "./test/closing-line.ts"],
    projects: long
      ? [{ extends: true, test: { name: "long", include: ["test/long/**/*.test.ts"] } }]
      : [
          { extends: true, test: { name: "core", include: CORE, isolate: false } },
          { extends: true, test: { name: "edge", include: ["test/**/*.test.ts"], exclude: ["test/long/**", ...CORE] } },
        ],
  },
});
