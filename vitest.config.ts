import { defineConfig } from "vitest/config";

const long = process.env["STEWARD_LONG"] === "1";

/** Tests that leave nothing behind in their process: their files share what they import, which saves half of their time. */
const ALIKE = "catalog config episodes exchange graph lab maintain manager model provision retrieve skills store world"
  .split(" ")
  .map((room) => `test/${room}/**/*.test.ts`);

export default defineConfig({
  test: {
    globalSetup: ["test/setup.ts"],
    testTimeout: long ? 600_000 : 30_000,
    hookTimeout: long ? 600_000 : 60_000,
    pool: "forks",
    // Long tests kill, time out and count processes: one at a time. Of the others many wait for a process or a deadline: one more than cores.
    maxWorkers: long ? 1 : 3,
    reporters: ["default", "./test/closing-line.ts"],
    projects: long
      ? [{ extends: true, test: { name: "long", include: ["test/long/**/*.test.ts"] } }]
      : [
          { extends: true, test: { name: "alike", include: ALIKE, isolate: false } },
          { extends: true, test: { name: "alone", include: ["test/**/*.test.ts"], exclude: ["test/long/**", ...ALIKE] } },
        ],
  },
});
