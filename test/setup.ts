import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

/** Tests with real processes run what a user runs: the built product. */
export default function setup(): void {
  execFileSync(process.execPath, [resolve(import.meta.dirname, "../scripts/build.mjs")], { stdio: "inherit" });
}
