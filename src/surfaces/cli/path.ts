/** What a person typed, as one part of a path of `/v1`. */
import { CliFault, EXIT } from "./access.js";

/** Characters: no name or id of ours is longer, and an address of that many still fits into a request's headers, however it is spelt. */
const LONGEST = 1_000;

/**
 * Spelt so that it stays one part. Throws CliFault for what would ask for something else: an empty text asks for the whole list, dots
 * for what stands above it. `what`: "a skill", "an episode", …
 */
export function pathPart(text: string, what: string): string {
  if (text === "" || text === "." || text === "..")
    throw new CliFault(`${JSON.stringify(text)} is not the name of ${what}.`, EXIT.usage);
  if (text.length > LONGEST) {
    const shown = JSON.stringify(`${text.slice(0, 40)}…`);
    throw new CliFault(`${shown} is not the name of ${what}: it has ${text.length} characters.`, EXIT.usage);
  }
  return encodeURIComponent(text);
}
