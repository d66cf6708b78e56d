// Builds src/ into dist/ when a source is newer than the last build. Types are checked by `npm run check`, not here.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync, writeFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const stamp = join(root, "dist", ".built");

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

const sources = Math.max(newest(join(root, "src")), statSync(join(root, "tsconfig.build.json")).mtimeMs);
if (existsSync(stamp) && statSync(stamp).mtimeMs > sources) process.exit(0);

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
rmSync(stamp, { force: true });
const built = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json"), "--noCheck"], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
writeFileSync(stamp, "");
