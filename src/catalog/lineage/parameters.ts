/**
 * Parameters: which of the new tool's stands for which of the old tool's.
 *
 * Owns: the mapping that a link carries and a rebind relies on.
 * Speaks: parameter names.
 * Never: whether a rebind may be applied (maintain/ asks the schema differ).
 */
import type { JsonValue } from "../../model/json.js";
import { textVector } from "./corpus.js";
import type { Corpus } from "./corpus.js";
import type { Parameter, Profile } from "./profile.js";
import { cosine, matchParameters, sameType } from "./score.js";
import { terms } from "./words.js";

/** A rename of a parameter needs this likeness of words, or the last place left and a like description. */
const SURE_LIKENESS = 0.6;
const LAST_PLACE_TEXT = 0.5;

/**
 * old parameter → new parameter. Unlike names are mapped only where exactly one required parameter of a type is left on
 * each side and their descriptions agree; a wrong mapping would put a value where it does not belong.
 */
export function mapParameters(
  old: Profile,
  nexts: readonly Profile[],
  fixed: Readonly<Record<string, JsonValue>>,
  corpus: Corpus,
): Record<string, string> {
  const mapping = new Map<string, string>();
  for (const next of nexts) {
    const open = old.parameters.filter((parameter) => !mapping.has(parameter.name));
    const places = next.parameters.filter((parameter) => !Object.hasOwn(fixed, parameter.name));
    const matched = matchParameters(open, places);
    const taken = new Set<Parameter>();
    for (const [from, { to, likeness }] of matched) {
      if (likeness < SURE_LIKENESS) continue;
      mapping.set(from.name, to.name);
      taken.add(to);
    }
    lastPlace(
      open.filter((parameter) => !mapping.has(parameter.name)),
      places.filter((parameter) => !taken.has(parameter)),
      corpus,
      mapping,
    );
  }
  return Object.fromEntries(mapping);
}

function lastPlace(open: readonly Parameter[], places: readonly Parameter[], corpus: Corpus, mapping: Map<string, string>): void {
  const [from, ...moreOpen] = open.filter((parameter) => parameter.required);
  const [to, ...morePlaces] = places.filter((parameter) => parameter.required);
  if (from === undefined || to === undefined || moreOpen.length > 0 || morePlaces.length > 0 || !sameType(from, to)) return;
  if (from.type === "any" || to.type === "any") return;
  const agree = cosine(textVector(terms(from.description), corpus), textVector(terms(to.description), corpus));
  if (agree !== undefined && agree >= LAST_PLACE_TEXT) mapping.set(from.name, to.name);
}
