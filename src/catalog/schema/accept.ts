/**
 * Does a node accept a value? True, false, or not to be said without running a pattern or an assertion that is not reasoned about.
 *
 * Owns: validation of values by the parts of a schema that the differ understands.
 * Speaks: nodes and JSON values.
 * Never: runs a pattern (an upstream's pattern may take for ever; that is the edge's work, under a deadline).
 */
import { canonicalJson } from "../canonical.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import { admits, isExclusive } from "./combine.js";
import type { Branch, Node } from "./node.js";

export type Acceptance = boolean | "undecided";

/** True where a required member that is missing at this path shall count as given: its value was redacted. */
export type Assumed = (path: string) => boolean;

const NOTHING_ASSUMED: Assumed = () => false;

export function accepts(node: Node, value: JsonValue, assumed: Assumed = NOTHING_ASSUMED, path = ""): Acceptance {
  let undecided = false;
  let taken = 0;
  const exclusive = node.oneOf && isExclusive(node);
  for (const branch of node.branches) {
    const answer = branchAccepts(branch, value, assumed, path);
    if (answer === true && !exclusive) return true;
    if (answer === true) taken += 1;
    else if (answer === "undecided") undecided = true;
  }
  if (exclusive && taken > 1) return false;
  if (undecided) return "undecided";
  return taken === 1;
}

function branchAccepts(branch: Branch, value: JsonValue, assumed: Assumed, path: string): Acceptance {
  if (branch.kind === "values") {
    if (!listedTexts(branch).has(canonicalJson(value))) return false;
  } else if (!admits(branch, value)) return false;
  let answer: Acceptance = branch.opaque !== undefined ? "undecided" : true;
  if (typeof value === "string" && branch.patterns !== undefined) answer = "undecided";
  if (branch.kind === "values") return answer;
  if (Array.isArray(value)) return both(answer, arrayAccepts(branch, value, assumed, path));
  if (typeof value === "object" && value !== null) return both(answer, objectAccepts(branch, value, assumed, path));
  return answer;
}

const listedOf = new WeakMap<Branch, ReadonlySet<string>>();

/** The listed values in canonical spelling. */
function listedTexts(branch: Branch): ReadonlySet<string> {
  let texts = listedOf.get(branch);
  if (texts === undefined) listedOf.set(branch, (texts = new Set((branch.values ?? []).map(canonicalJson))));
  return texts;
}

function arrayAccepts(branch: Branch, value: readonly JsonValue[], assumed: Assumed, path: string): Acceptance {
  if (branch.unique && new Set(value.map(canonicalJson)).size < value.length) return false;
  let answer: Acceptance = true;
  for (const [index, item] of value.entries()) {
    const slot = branch.prefix?.[index] ?? branch.items;
    if (slot === undefined) continue;
    answer = both(answer, accepts(slot.force(), item, assumed, `${path}[]`));
    if (answer === false) return false;
  }
  return answer;
}

function objectAccepts(branch: Branch, value: JsonObject, assumed: Assumed, path: string): Acceptance {
  for (const name of branch.required ?? []) if (!Object.hasOwn(value, name) && !assumed(join(path, name))) return false;
  let answer: Acceptance = true;
  for (const key of Object.keys(value)) {
    answer = both(answer, memberAccepts(branch, key, value[key] ?? null, assumed, path));
    if (answer === false) return false;
  }
  return answer;
}

function memberAccepts(branch: Branch, key: string, value: JsonValue, assumed: Assumed, path: string): Acceptance {
  const declared = branch.properties?.get(key);
  let answer: Acceptance = branch.names === undefined ? true : accepts(branch.names.force(), key);
  // Which keys a pattern takes is not known without running it.
  if (branch.patternProperties !== undefined) answer = both(answer, "undecided");
  else if (declared === undefined && branch.additional !== undefined)
    answer = both(answer, accepts(branch.additional.force(), value, assumed, join(path, "*")));
  return declared === undefined ? answer : both(answer, accepts(declared.force(), value, assumed, join(path, key)));
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function both(a: Acceptance, b: Acceptance): Acceptance {
  if (a === false || b === false) return false;
  return a === "undecided" || b === "undecided" ? "undecided" : true;
}
