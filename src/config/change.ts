/**
 * Changing config/steward.json: whole, atomically, and never over a file that could not be read.
 */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureFolder, unwritable, writeAtomic, type Files } from "../host/files.js";
import type { JsonObject } from "../model/json.js";
import { CONFIG_PLACE, readWritten } from "./config.js";

/** It may hold tokens: only its owner reads a new one. */
const OWNER_ONLY = 0o600;

/**
 * Replaces the configuration by what `change` makes of it; the file before stays as `steward.json.bak`. Line endings are kept,
 * comments are not. Throws Fault `config-invalid` where the present file cannot be read: it is left as it is.
 */
export async function changeConfig(home: string, files: Files, change: (written: JsonObject) => JsonObject): Promise<void> {
  const written = readWritten(home);
  const json = change(written?.json ?? { $schema: "./steward.schema.json", mcpServers: {} });
  const text = `${JSON.stringify(json, null, 2)}\n`;
  const path = join(home, CONFIG_PLACE);
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? OWNER_ONLY) & 0o777;
  try {
    await ensureFolder(files, dirname(path), "/");
    await writeAtomic(files, path, written?.text.includes("\r\n") === true ? text.replaceAll("\n", "\r\n") : text, {
      keepPrevious: true,
      mode,
    });
  } catch (error) {
    throw unwritable(CONFIG_PLACE, error);
  }
}

/** Writes a whole configuration. */
export function writeConfig(home: string, files: Files, json: JsonObject): Promise<void> {
  return changeConfig(home, files, () => json);
}
