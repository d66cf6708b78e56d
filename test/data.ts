import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const root = process.env["STEWARD_DATA"] ?? resolve(import.meta.dirname, "../../shared/data");

/** Absolute path of a file or folder of the public data sets, or undefined where they are not there (tests then skip). */
export function sharedData(relative: string): string | undefined {
  const path = join(root, relative);
  return existsSync(path) ? path : undefined;
}
