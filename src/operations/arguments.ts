/** Arguments of a tool: the forms in which they come, and what is wrong with them, said so that an agent can mend it. */
import type { Misfit, Path } from "../catalog/schema/misfits.js";
import { brief } from "../catalog/schema/words.js";
import { Fault } from "../model/fault.js";
import { isDeeperThan, isJsonObject, JSON_LEVELS, type JsonObject, type JsonValue } from "../model/json.js";

/**
 * Arguments as an object: an object, the JSON text of one, null or absent; anything else is refused before any upstream hears of it.
 * Agents that write JSON into a text do so on every level.
 */
export function readArguments(given: JsonValue | undefined): JsonObject {
  if (given === undefined || given === null) return {};
  if (isJsonObject(given)) return given;
  if (typeof given !== "string") throw argumentsFault(`arguments is ${Array.isArray(given) ? "an array" : `a ${typeof given}`}`);
  if (given.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    throw argumentsFault("arguments is a text that is not JSON");
  }
  if (value === null) return {};
  if (!isJsonObject(value)) throw argumentsFault("arguments is the JSON text of something that is not an object");
  // What came as an object was measured with the message that carried it.
  if (isDeeperThan(value, JSON_LEVELS)) throw argumentsFault(`arguments is nested deeper than ${JSON_LEVELS} levels`);
  return value;
}

function argumentsFault(what: string): Fault {
  return new Fault("input-invalid", `${what}; give an object, e.g. {"order_id": "O-1001"}. Nothing was called.`, {
    issues: [{ path: "arguments", problem: what }],
  });
}

/** Sentences at most. */
const SENTENCES_MOST = 10;
/** Steps of a path that are spelt at either end. */
const STEPS_MOST = 12;

/** What is wrong, in plain sentences that begin with the place: `items[0].qty is missing (an integer).` */
export function sentencesOf(misfits: readonly Misfit[]): string[] {
  const said = misfits
    .slice(0, SENTENCES_MOST)
    .map(({ at, says }) => `${at.length === 0 ? "The arguments" : spelled(at)} ${says}.`);
  if (misfits.length > SENTENCES_MOST) said.push("There is more of it.");
  return said.length > 0 ? said : ["The arguments do not fit the schema."];
}

/** `items[0].qty`; names that are no words in brackets; the middle of a very long path left out. */
export function spelled(at: Path): string {
  const steps = at.map((step) => {
    if (typeof step === "number") return `[${step}]`;
    return /^[\p{L}_$][\p{L}\p{N}_$-]{0,99}$/u.test(step) ? `.${step}` : `[${brief(JSON.stringify(step), 100)}]`;
  });
  const said = steps.length <= 2 * STEPS_MOST ? steps : [...steps.slice(0, STEPS_MOST), ".…", ...steps.slice(-STEPS_MOST)];
  return said.join("").replace(/^\./, "");
}
