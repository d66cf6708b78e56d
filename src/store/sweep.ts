/** Removes temporary files that a killed process left: with the lock held, they are nobody's. */
import { existsSync, type Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { TEMPORARY, type Files } from "../host/files.js";
import { FOLDERS, places } from "./places.js";

export async function sweepTemporary(home: string, files: Files): Promise<void> {
  const sweep = async (folder: string, deep: boolean): Promise<void> => {
    if (!existsSync(join(home, folder))) return;
    const entries: Dirent[] = await readdir(join(home, folder), { withFileTypes: true });
    for (const entry of entries) {
      if (entry.isFile() && entry.name.startsWith(".") && entry.name.endsWith(TEMPORARY))
        await files.unlink(join(home, folder, entry.name));
      else if (deep && entry.isDirectory()) await sweep(`${folder}/${entry.name}`, true);
    }
  };
  for (const folder of FOLDERS) await sweep(folder, folder === places.skills);
}
