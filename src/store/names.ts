/** What a folder of the home holds, by name: none where it is not there (a home that was never started has no state). */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../host/files.js";
import { isPlainId, numberOf } from "./places.js";

/** Numbers of the documents in a place, ascending. */
export function numbersIn(home: string, place: string): number[] {
  return namesIn(join(home, place))
    .map((name) => numberOf(name, ".json"))
    .filter((n) => n !== undefined)
    .sort((a, b) => a - b);
}

/** Ids of the documents in a place, in their order. Names that are no ids are somebody else's. */
export function idsIn(home: string, place: string): string[] {
  return namesIn(join(home, place))
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length))
    .filter(isPlainId)
    .sort();
}

/**
 * The highest number that a document of a place ever had, as far as names tell: one that lies there, whether it can be read or not, that
 * was set aside as damaged, or of which only the copy in an older format is left. 0 where there is none.
 */
export function highestNumberIn(home: string, place: string): number {
  let highest = 0;
  for (const name of namesIn(join(home, place))) {
    const file = name.replace(/\.(?:damaged-|v)\d+$/, "");
    highest = Math.max(highest, numberOf(file, ".json") ?? 0);
  }
  return highest;
}

/** Numbered documents of a place that were set aside as damaged: number → name of the newest such file. */
export function damagedIn(home: string, place: string): Map<number, string> {
  const newest = new Map<number, { readonly nth: number; readonly name: string }>();
  for (const name of namesIn(join(home, place))) {
    const [, file = "", nth = "0"] = /^(.+)\.damaged-(\d+)$/.exec(name) ?? [];
    const number = numberOf(file, ".json");
    if (number !== undefined && Number(nth) > (newest.get(number)?.nth ?? 0)) newest.set(number, { nth: Number(nth), name });
  }
  return new Map([...newest].map(([number, { name }]) => [number, name]));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
