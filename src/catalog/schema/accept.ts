/**
 * Does a node accept a value? True, false, or not to be said without running a pattern or an assertion that is not reasoned about.
 *
 * Owns: validation of values by the parts of a schema that the differ understands.
 * Speaks: nodes and JSON values.
 * Never: runs a pattern (an upstream's pattern may take for ever; that is the edge's work, under a deadline). It may be told what
 * patterns say.
 */
import { canonicalJson } from "../canonical.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import { admits, isExclusive } from "./combine.js";
import type { Branch, Node, Slot } from "./node.js";

export type Acceptance = boolean | "undecided";

/** Does the pattern match the text? Undefined where that is not known. */
export type MatchPattern = (pattern: string, text: string) => boolean | undefined;

export interface AcceptOptions {
  /** True where a required member that is missing at this path shall count as given: its value was redacted. */
  readonly assumed?: ((path: string) => boolean) | undefined;
  /** What is known of patterns, which are never run here. */
  readonly matches?: MatchPattern | undefined;
  /**
   * What was answered already, by value and node: where a union of a recursive schema asks about the same value by each of its branches,
   * the work would double with every level. Not used beside `assumed`, whose answers go by path.
   */
  readonly known?: Known | undefined;
}

export type Known = Map<object, Map<Node, Acceptance>>;

export function accepts(node: Node, value: JsonValue, options: AcceptOptions = {}, path = ""): Acceptance {
  const known = options.assumed === undefined ? options.known : undefined;
  if (known === undefined || typeof value !== "object" || value === null) return nodeAccepts(node, value, options, path);
  let answers = known.get(value);
  if (answers === undefined) known.set(value, (answers = new Map()));
  let answer = answers.get(node);
  if (answer === undefined) answers.set(node, (answer = nodeAccepts(node, value, options, path)));
  return answer;
}

function nodeAccepts(node: Node, value: JsonValue, options: AcceptOptions, path: string): Acceptance {
  let undecided = false;
  let taken = 0;
  const exclusive = node.oneOf && isExclusive(node);
  for (const branch of node.branches) {
    const answer = branchAccepts(branch, value, options, path);
    if (answer === true && !exclusive) return true;
    if (answer === true) taken += 1;
    else if (answer === "undecided") undecided = true;
  }
  if (exclusive && taken > 1) return false;
  if (undecided) return "undecided";
  return taken === 1;
}

export function branchAccepts(branch: Branch, value: JsonValue, options: AcceptOptions, path = ""): Acceptance {
  if (branch.kind === "values") {
    if (!listedTexts(branch).has(canonicalJson(value))) return false;
  } else if (!admits(branch, value)) return false;
  let answer: Acceptance = branch.opaque !== undefined ? "undecided" : true;
  if (typeof value === "string")
    for (const pattern of branch.patterns ?? []) answer = both(answer, matched(pattern, value, options));
  if (branch.kind === "values") return answer;
  if (Array.isArray(value)) return both(answer, arrayAccepts(branch, value, options, path));
  if (typeof value === "object" && value !== null) return both(answer, objectAccepts(branch, value, options, path));
  return answer;
}

function matched(pattern: string, text: string, options: AcceptOptions): Acceptance {
  return options.matches?.(pattern, text) ?? "undecided";
}

const listedOf = new WeakMap<Branch, ReadonlySet<string>>();

/** The listed values in canonical spelling. */
function listedTexts(branch: Branch): ReadonlySet<string> {
  let texts = listedOf.get(branch);
  if (texts === undefined) listedOf.set(branch, (texts = new Set((branch.values ?? []).map(canonicalJson))));
  return texts;
}

function arrayAccepts(branch: Branch, value: readonly JsonValue[], options: AcceptOptions, path: string): Acceptance {
  if (branch.unique && new Set(value.map(canonicalJson)).size < value.length) return false;
  let answer: Acceptance = true;
  for (const [index, item] of value.entries()) {
    const slot = branch.prefix?.[index] ?? branch.items;
    if (slot === undefined) continue;
    answer = both(answer, accepts(slot.force(), item, options, `${path}[]`));
    if (answer === false) return false;
  }
  return answer;
}

function objectAccepts(branch: Branch, value: JsonObject, options: AcceptOptions, path: string): Acceptance {
  for (const name of branch.required ?? [])
    if (!Object.hasOwn(value, name) && options.assumed?.(join(path, name)) !== true) return false;
  let answer: Acceptance = true;
  for (const key of Object.keys(value)) {
    answer = both(answer, memberAccepts(branch, key, value[key] ?? null, options, path));
    if (answer === false) return false;
  }
  return answer;
}

function memberAccepts(branch: Branch, key: string, value: JsonValue, options: AcceptOptions, path: string): Acceptance {
  let answer: Acceptance = branch.names === undefined ? true : accepts(branch.names.force(), key, options);
  const { places, isOpen } = placesOf(branch, key, options);
  if (isOpen) answer = both(answer, "undecided");
  for (const { slot, isExtra } of places)
    answer = both(answer, accepts(slot.force(), value, options, join(path, isExtra ? "*" : key)));
  return answer;
}

/** Where the value of a member is judged. */
export interface MemberPlace {
  readonly slot: Slot;
  /** It is judged as one of those that no property and no pattern speaks of. */
  readonly isExtra: boolean;
}

/** The places that judge a member; `isOpen` where others might, by a pattern of which nothing is known. */
export function placesOf(
  branch: Branch,
  key: string,
  options: AcceptOptions,
): { readonly places: readonly MemberPlace[]; readonly isOpen: boolean } {
  const places: MemberPlace[] = [];
  const declared = branch.properties?.get(key);
  // Keys that no pattern takes are for `additionalProperties`; whether one does may be unknown.
  let taken: Acceptance = false;
  for (const [pattern, slot] of branch.patternProperties ?? []) {
    const match = matched(pattern, key, options);
    if (match === true) places.push({ slot, isExtra: false });
    if (taken !== true && match !== false) taken = match;
  }
  if (taken === false && declared === undefined && branch.additional !== undefined)
    places.push({ slot: branch.additional, isExtra: true });
  if (declared !== undefined) places.push({ slot: declared, isExtra: false });
  return { places, isOpen: taken === "undecided" };
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function both(a: Acceptance, b: Acceptance): Acceptance {
  if (a === false || b === false) return false;
  return a === "undecided" || b === "undecided" ? "undecided" : true;
}
