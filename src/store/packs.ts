/**
 * The pack: all definitions of the present catalog in one file, so that a start reads one file instead of ten thousand.
 *
 * Derived and safe to delete. Its first line says how many lines follow and their sha256; a pack that does not agree with itself
 * is ignored. What it holds was checked against its digest when it was packed.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode, writeAtomic, type Files } from "../host/files.js";
import type { JsonObject } from "../model/json.js";
import type { ListedTool } from "../model/tool.js";
import { places } from "./places.js";

const FORMAT = "tool-pack/1";

/** Empty where there is no pack, or none that can be trusted. */
export function readPack(home: string): Map<string, ListedTool> {
  const bytes = readOrUndefined(join(home, places.toolPack));
  const end = bytes?.indexOf(0x0a) ?? -1;
  if (bytes === undefined || end < 0) return new Map();
  try {
    const head = JSON.parse(bytes.toString("utf8", 0, end)) as JsonObject;
    const rest = bytes.subarray(end + 1);
    if (head["format"] !== FORMAT || head["sha256"] !== createHash("sha256").update(rest).digest("hex")) return new Map();
    return new Map(JSON.parse(rest.toString("utf8")) as [string, ListedTool][]);
  } catch {
    return new Map();
  }
}

export async function writePack(home: string, files: Files, documents: ReadonlyMap<string, ListedTool>): Promise<void> {
  const rest = JSON.stringify([...documents]);
  const head = JSON.stringify({ format: FORMAT, sha256: createHash("sha256").update(rest).digest("hex") });
  await writeAtomic(files, join(home, places.toolPack), `${head}\n${rest}`);
}

function readOrUndefined(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
