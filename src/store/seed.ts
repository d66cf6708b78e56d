/**
 * Laying out a new home from the shipped one.
 *
 * The configuration comes last and is what makes a folder a home: a process that dies before has done nothing that the next one
 * does not do again. Files that are there already are a person's and stay.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureFolder, unwritable, writeAtomic, type Files } from "../host/files.js";
import type { StarterHome } from "../host/starter.js";
import type { SkillName } from "../model/ids.js";
import { lockFormat, type LockEntry } from "../model/skill.js";
import { places } from "./places.js";

const CONFIG = "steward.json";

/** Is this folder a home: has it a configuration? */
export function isHome(home: string): boolean {
  return existsSync(join(home, "config", CONFIG));
}

/** Copies the starter home where there is none yet; false where there is one. Throws Fault `home-unwritable`. */
export async function seedHome(home: string, starter: Omit<StarterHome, "root">, files: Files): Promise<boolean> {
  if (isHome(home)) return false;
  try {
    for (const part of ["catalog", "skills", "config"] as const) {
      const paths = filesBelow(starter[part]);
      const inOrder = part === "config" ? paths.sort((a, b) => Number(a === CONFIG) - Number(b === CONFIG)) : paths;
      for (const path of inOrder) await copy(files, join(starter[part], path), join(home, part, path));
    }
  } catch (error) {
    throw unwritable(`laying out ${home}`, error);
  }
  return true;
}

async function copy(files: Files, from: string, to: string): Promise<void> {
  if (existsSync(to)) return;
  await ensureFolder(files, dirname(to), "/");
  await writeAtomic(files, to, readFileSync(from));
}

/** Relative paths of plain files, dot files apart. */
function filesBelow(root: string, below = ""): string[] {
  if (!existsSync(join(root, below))) return [];
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.name.startsWith(".")) return [];
    return entry.isDirectory() ? filesBelow(root, path) : entry.isFile() ? [path] : [];
  });
}

/** What the lock beside the shipped skills says they were verified against. */
export function shippedLock(home: string): ReadonlyMap<SkillName, LockEntry["verified"]> | undefined {
  try {
    const lock = lockFormat.schema.parse(JSON.parse(readFileSync(join(home, places.skillsLock), "utf8")));
    return new Map(Object.entries(lock.skills).map(([name, entry]) => [name as SkillName, entry.verified]));
  } catch {
    return undefined;
  }
}
