/**
 * A step of the walk over two schemas: where it stands, and what its parts ask of one another.
 *
 * Owns: the walk's port and the fragments that observations show.
 * Speaks: nodes, branches, places.
 * Never: walks (walk.ts, branches.ts).
 */
import { canonicalJson } from "../canonical.js";
import type { JsonValue } from "../../model/json.js";
import type { Equality } from "./equal.js";
import { KINDS, kindOf } from "./node.js";
import type { Branch, Kind, Node } from "./node.js";
import type { Cover, Difference } from "./observation.js";
import { printWithin } from "./print.js";

/** Where in the two schemas the walk stands. */
export interface At {
  readonly path: string;
  readonly field: string;
  readonly coveredByNew: Cover;
  readonly coveredByOld: Cover;
}

/** A fragment to be shown, made only if it is. */
export type Shown = () => JsonValue | undefined;

/**
 * Accepted but not understood: for a caller, members that the other branch does not declare; for a reader, members that it declares
 * and that do not come.
 */
export type Loose = "member-removed" | "member-added";

/** What the parts of the walk ask of one another. */
export interface Walk {
  readonly equal: Equality;
  readonly findsRenames: boolean;
  /** Counts the work of a comparison. Throws Exhausted, which ends it. */
  spend(steps: number): void;
  nodes(a: Node, b: Node, at: At): void;
  /** Fragments are made when the observation is kept. */
  note(difference: Difference, at: At, before?: Shown, after?: Shown): void;
  /** Does `b` for certain accept all that `a` accepts? */
  covers(b: Node, a: Node, loose: Loose): Cover;
  /** What counts as loose where the new schema makes up for something; undefined for the old one: not asked. */
  readonly looseByNew: Loose;
  readonly looseByOld: Loose | undefined;
}

/** Fragments longer than this are shown by their kinds alone. */
const FRAGMENT_LENGTH = 4_000;

/** Each place takes two characters at least. */
const FRAGMENT_PLACES = FRAGMENT_LENGTH / 2;

const fragments = new WeakMap<Node, JsonValue>();

/** The normal form of a node to be shown, and tested against recorded values; a very large one by its kinds alone. */
export function fragment(node: Node): JsonValue {
  let made = fragments.get(node);
  if (made === undefined) fragments.set(node, (made = makeFragment(node)));
  return made;
}

function makeFragment(node: Node): JsonValue {
  const printed = printWithin({ id: 0, force: () => node }, FRAGMENT_PLACES);
  if (printed !== undefined && canonicalJson(printed).length <= FRAGMENT_LENGTH) return printed;
  return { type: [...new Set(KINDS.filter((kind) => presentIn(node, kind)))] };
}

export function branchFragment(branch: Branch): JsonValue {
  return fragment(nodeOf(branch));
}

/** The walk's place one step further in. */
export function deeper(at: At, token: string, field: string): At {
  return { ...at, path: `${at.path}/${token}`, field };
}

const wrapped = new WeakMap<Branch, Node>();

/** A branch as a node of its own, the same one each time, so that what is remembered of it is found again. */
export function nodeOf(branch: Branch): Node {
  const known = wrapped.get(branch);
  if (known !== undefined) return known;
  const node: Node = { branches: [branch], oneOf: false, fallback: undefined, text: undefined };
  wrapped.set(branch, node);
  return node;
}

/** Members that have more forms than this are not taken apart. */
const PARTS_MOST = 8;

const takenApart = new WeakMap<Branch, readonly (readonly Branch[])[]>();

/** An object by the forms of one of its members: for each member that has several, branches that together accept what the object does. */
export function partsOf(branch: Branch): readonly (readonly Branch[])[] {
  const known = takenApart.get(branch);
  if (known !== undefined) return known;
  const all = [...(branch.properties ?? [])].flatMap(([name, slot]) => {
    const { branches, oneOf } = slot.force();
    if (oneOf || branches.length < 2 || branches.length > PARTS_MOST) return [];
    return [branches.map((form) => withMember(branch, name, form))];
  });
  takenApart.set(branch, all);
  return all;
}

function withMember(branch: Branch, name: string, form: Branch): Branch {
  const node = nodeOf(form);
  return { ...branch, properties: new Map([...(branch.properties ?? []), [name, { id: 0, force: () => node }]]) };
}

export function presentIn(node: Node, kind: Kind): boolean {
  return node.branches.some((branch) => isOfKind(branch, kind));
}

export function isOfKind(branch: Branch, kind: Kind): boolean {
  return branch.kind === kind || (branch.kind === "values" && (branch.values ?? []).some((value) => kindOf(value) === kind));
}
