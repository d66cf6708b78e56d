// Builds src/ into dist/ when a source is newer than the last build: the own modules in a few files (a start opens five instead of
// three hundred and fifty), packages as they are installed. Types are checked by `npm run check`, not here.
import { existsSync, readdirSync, statSync, writeFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");
const stamp = join(dist, ".built");

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

const sources = Math.max(newest(join(root, "src")), statSync(import.meta.filename).mtimeMs);
if (existsSync(stamp) && statSync(stamp).mtimeMs > sources) process.exit(0);

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ["src/main.ts"],
  outdir: "dist",
  chunkNames: "parts/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  logLevel: "warning",
  metafile: true,
});
// What an earlier build left: nothing refers to it any more.
const written = new Set(Object.keys(metafile.outputs).map((path) => resolve(root, path)));
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && !written.has(path)) rmSync(path);
}
writeFileSync(stamp, "");
