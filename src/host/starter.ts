/** Where the package lies: the starter home that `steward init` and `npm start` copy from. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

export interface StarterHome {
  readonly root: string;
  readonly config: string;
  readonly catalog: string;
  readonly skills: string;
}

/** Paths of the shipped starter home; the folders are those of the package, whether it runs from `src` or from `dist`. */
export function starterHome(from: string = import.meta.dirname): StarterHome {
  const root = packageRoot(from);
  return { root, config: join(root, "config"), catalog: join(root, "catalog"), skills: join(root, "skills") };
}

/** The package's own version, as its package.json says. */
export function packageVersion(from: string = import.meta.dirname): string {
  const manifest = JSON.parse(readFileSync(join(packageRoot(from), "package.json"), "utf8")) as { version?: unknown };
  return typeof manifest.version === "string" ? manifest.version : "0.0.0";
}

/** Names the code that runs, this machine's kind included: equal stamps, equal code. Sizes and times of its files are looked at. */
export function codeStamp(from: string = import.meta.dirname): string {
  const root = packageRoot(from);
  // `src` or `dist`, whichever this is of.
  const code = join(root, relative(root, from).split(sep)[0] ?? "");
  const files = readdirSync(code, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.map(({ parentPath, name }) => {
    const { size, mtimeMs } = statSync(join(parentPath, name));
    return `${join(parentPath, name)} ${size} ${mtimeMs}`;
  });
  return hash("sha256", [packageVersion(from), process.version, process.arch, ...lines.sort()].join("\n"), "hex");
}

function packageRoot(from: string): string {
  for (let at = resolve(from); ; at = dirname(at)) {
    if (existsSync(join(at, "package.json"))) return at;
    if (at === dirname(at)) throw new Error(`no package.json above ${from}`);
  }
}
