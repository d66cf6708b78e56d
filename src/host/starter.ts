/** Where the package lies: the starter home that `steward init` and `npm start` copy from. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

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

function packageRoot(from: string): string {
  for (let at = resolve(from); ; at = dirname(at)) {
    if (existsSync(join(at, "package.json"))) return at;
    if (at === dirname(at)) throw new Error(`no package.json above ${from}`);
  }
}
