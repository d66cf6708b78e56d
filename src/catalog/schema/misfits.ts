/**
 * Where and why a node refuses a value, said so that it can be mended.
 *
 * Owns: which of the places that refuse are named, and of a union's forms the nearest.
 * Speaks: nodes and JSON values; sentences without their subject.
 * Never: judges. Every step goes only where accept.ts refuses, so that verdict and reason cannot part; what was looked at once is not
 * looked at again, so that the work is bounded by the places of the schema times those of the value.
 */
import { canonicalJson } from "../canonical.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import { accepts, branchAccepts, placesOf, type AcceptOptions, type MatchPattern } from "./accept.js";
import { isNever, kindOf, type Branch, type Node, type Slot } from "./node.js";
import { boundsBroken, KIND_WORDS, listed, wantedOf } from "./words.js";

/** Misfits found of one value at most. */
export const MISFITS_MOST = 11;

/** Keys and indexes from the outermost value in; empty for that value itself. */
export type Path = readonly (string | number)[];

export interface Misfit {
  /** A place in the value, or of a member that it lacks. */
  readonly at: Path;
  /** What is wrong, with the place as its subject: `must be at most 10`. */
  readonly says: string;
  /** One of listed values is wanted: such a member tells the forms of a union apart. */
  readonly isListed?: true;
}

/** Why the node refuses the value; empty where it does not. */
export function misfitsOf(node: Node, value: JsonValue, matches?: MatchPattern): readonly Misfit[] {
  const options: AcceptOptions = { matches, known: new Map() };
  return accepts(node, value, options) === false ? new Finder(options).ofNode(node, value) : [];
}

/** One search. A class, since all it remembers dies with it. */
class Finder {
  private readonly found = new Map<object, Map<Branch, readonly Misfit[]>>();

  constructor(private readonly options: AcceptOptions) {}

  /** The node refuses the value. */
  ofNode(node: Node, value: JsonValue): readonly Misfit[] {
    if (isNever(node)) return [here("is not accepted")];
    const fitting = node.oneOf ? node.branches.filter((branch) => branchAccepts(branch, value, this.options) === true) : [];
    if (fitting.length > 1) return [here(`fits ${fitting.length} of the forms it may have and must fit exactly one`)];
    const kind = kindOf(value);
    const forms = node.branches.filter((branch) => branch.kind === kind || isAmong(branch, value));
    const [only] = forms;
    if (only === undefined) {
      const isListed = node.branches.some((branch) => branch.kind === "values");
      const given = isListed && node.branches.every((branch) => branch.kind === "values") ? "" : `, not ${KIND_WORDS[kind]}`;
      return [{ ...here(`must be ${wantedOf(node.branches)}${given}`), ...(isListed ? { isListed: true } : {}) }];
    }
    if (forms.length > 1) return this.ofNearest(forms, value);
    const misfits = this.ofBranch(only, value);
    const others = node.branches.filter((branch) => branch !== only);
    // A node that names no kind takes the others by the letter, and nobody is told to send them.
    if (others.length === 0 || typeof value === "object" || wantedOf(node.branches) === "") return misfits;
    return misfits.map((misfit) => ({ ...misfit, says: `${misfit.says}, or be ${wantedOf(others)}` }));
  }

  /** Of several forms the one with the least to mend; one whose telling member is another's is not meant. */
  private ofNearest(forms: readonly Branch[], value: JsonValue): readonly Misfit[] {
    let nearest: readonly Misfit[] = [];
    let least = Number.POSITIVE_INFINITY;
    for (const form of forms) {
      const misfits = this.ofBranch(form, value);
      const isOther = misfits.some(({ at, isListed }) => at.length === 1 && isListed === true);
      const cost = misfits.length + (isOther ? MISFITS_MOST : 0);
      if (cost >= least) continue;
      least = cost;
      nearest = misfits;
    }
    const summary = here(`fits none of the ${forms.length} forms it may have; what follows is about the nearest`);
    return [summary, ...nearest].slice(0, MISFITS_MOST);
  }

  /** The branch is of the value's kind and refuses it. */
  private ofBranch(branch: Branch, value: JsonValue): readonly Misfit[] {
    if (typeof value !== "object" || value === null) return orAny(this.ofScalar(branch, value));
    let known = this.found.get(value);
    if (known === undefined) this.found.set(value, (known = new Map()));
    let misfits = known.get(branch);
    if (misfits === undefined) {
      const all = Array.isArray(value) ? this.ofArray(branch, value) : this.ofObject(branch, value);
      known.set(branch, (misfits = orAny([...boundsBroken(branch, value).map(here), ...all])));
    }
    return misfits;
  }

  private ofScalar(branch: Branch, value: JsonValue): Misfit[] {
    const misfits = boundsBroken(branch, value).map(here);
    if (typeof value !== "string") return misfits;
    for (const pattern of branch.patterns ?? [])
      if (this.options.matches?.(pattern, value) === false) misfits.push(here(`must match the pattern ${listed([pattern])}`));
    return misfits;
  }

  private ofArray(branch: Branch, value: readonly JsonValue[]): Misfit[] {
    const misfits = branch.unique === true ? twice(value) : [];
    for (const [index, item] of value.entries()) {
      if (misfits.length >= MISFITS_MOST) break;
      const slot = branch.prefix?.[index] ?? branch.items;
      if (slot !== undefined) misfits.push(...this.inside(slot, index, item));
    }
    return misfits;
  }

  private ofObject(branch: Branch, value: JsonObject): Misfit[] {
    const misfits: Misfit[] = [];
    for (const name of branch.required ?? []) {
      if (misfits.length >= MISFITS_MOST) return misfits;
      if (!Object.hasOwn(value, name)) misfits.push(missing(branch, name));
    }
    for (const key of Object.keys(value)) {
      if (misfits.length >= MISFITS_MOST) break;
      misfits.push(...this.ofMember(branch, key, value[key] ?? null));
    }
    return misfits;
  }

  private ofMember(branch: Branch, key: string, value: JsonValue): Misfit[] {
    const misfits: Misfit[] = [];
    if (branch.names !== undefined && accepts(branch.names.force(), key, this.options) === false) {
      const [first] = this.ofNode(branch.names.force(), key);
      misfits.push({ at: [key], says: `has a name that is not accepted: it ${first?.says ?? "does not fit"}` });
    }
    for (const { slot, isExtra } of placesOf(branch, key, this.options).places) {
      if (isExtra && isNever(slot.force())) misfits.push({ at: [key], says: `is not known here (${knownNames(branch)})` });
      else misfits.push(...this.inside(slot, key, value));
    }
    return misfits;
  }

  private inside(slot: Slot, step: string | number, value: JsonValue): Misfit[] {
    const node = slot.force();
    if (accepts(node, value, this.options) !== false) return [];
    return this.ofNode(node, value).map((misfit) => ({ ...misfit, at: [step, ...misfit.at] }));
  }
}

function here(says: string): Misfit {
  return { at: [], says };
}

function orAny(misfits: readonly Misfit[]): readonly Misfit[] {
  return misfits.length > 0 ? misfits.slice(0, MISFITS_MOST) : [here("does not fit its schema")];
}

/** The value is listed: what refuses it is a pattern beside the list. */
function isAmong(branch: Branch, value: JsonValue): boolean {
  if (branch.kind !== "values" || branch.patterns === undefined) return false;
  const text = canonicalJson(value);
  return (branch.values ?? []).some((listedValue) => canonicalJson(listedValue) === text);
}

function missing(branch: Branch, name: string): Misfit {
  const node = branch.properties?.get(name)?.force();
  const wanted = node === undefined ? "" : wantedOf(node.branches);
  return { at: [name], says: wanted === "" ? "is missing" : `is missing (${wanted})` };
}

/** The first item that came before already. */
function twice(items: readonly JsonValue[]): Misfit[] {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = canonicalJson(item);
    const first = seen.get(text);
    if (first !== undefined) return [{ at: [index], says: `is the same as item ${first}; no item may be there twice` }];
    seen.set(text, index);
  }
  return [];
}

function knownNames(branch: Branch): string {
  const names = [...(branch.properties?.keys() ?? [])];
  return names.length === 0 ? "nothing is" : `known: ${listed(names, (name) => name)}`;
}
