import { defineConfig } from "vitest/config";

const long = process.env["STEWARD_LONG"] === "1";

export default defineConfig({
  test: {
    include: long ? ["test/long/**/*.test.ts"] : ["test/**/*.test.ts"],
    exclude: long ? [] : ["test/long/**"],
    globalSetup: ["test/setup.ts"],
    testTimeout: long ? 600_000 : 30_000,
    hookTimeout: long ? 600_000 : 60_000,
    pool: "forks",
    // Long tests kill, time out and count processes: one at a time.
    maxWorkers: long ? 1 : 2,
    reporters: ["default", "./test/closing-line.ts"],
  },
});
