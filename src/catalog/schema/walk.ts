/**
 * Two schemas walked side by side: every difference between what they accept is observed once at each field it bears on.
 *
 * Owns: the walk through unions, and whether another branch makes up for what one of them lost.
 * Speaks: nodes in, observations out.
 * Never: rules and levels (catalog/rules.ts). Complete: unequal schemas always give an observation.
 */
import { canonicalJson } from "../canonical.js";
import type { JsonValue } from "../../model/json.js";
import { observeBranches } from "./branches.js";
import { isExclusive } from "./combine.js";
import { effort, Exhausted, type Effort } from "./effort.js";
import { equality, sameJson, type Equality } from "./equal.js";
import { accepts } from "./accept.js";
import { isAny, isImplied, isPlain, kindOf, KINDS } from "./node.js";
import type { Branch, Kind, Node, Slot } from "./node.js";
import { narrows, type Cover, type Difference, type Observation } from "./observation.js";
import { pairUp } from "./pairing.js";
import { fragment, branchFragment, isOfKind, nodeOf, partsOf, presentIn, type At, type Loose, type Walk } from "./step.js";

/** Pairs of places looked at before a pair that was seen is passed over: keeps schemas that multiply finite. */
const VISIT_LIMIT = 5_000;
/** Places looked at in all to see whether branches contain one another; beyond, none is said to. */
const CONTAINED_VISIT_LIMIT = 50_000;

/** What an observation takes, in steps: fragments of both schemas are made for it, and rules and levels look at it. */
const NOTE_STEPS = 20;

const START: At = Object.freeze({ path: "", field: "", coveredByNew: "no", coveredByOld: "no" });

export function observe(before: Slot, after: Slot, options: { readonly findsRenames: boolean }): Observation[] {
  const a = before.force();
  const b = after.force();
  const found: Observation[] = [];
  try {
    observeAll(a, b, options.findsRenames, found);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    found.push({ kind: "opaque-moved", keyword: "$large", ...START, field: undefined, before: undefined, after: undefined });
  }
  return found;
}

function observeAll(a: Node, b: Node, findsRenames: boolean, found: Observation[]): void {
  const work = effort();
  const equal = equality(work);
  if (equal.nodes(a, b)) return;
  const walk = startWalk({
    equal,
    findsRenames,
    work,
    note(difference, { path, field, coveredByNew, coveredByOld }, was, is) {
      work.spend(NOTE_STEPS);
      const place = { path, field: field === "" ? undefined : field, coveredByNew, coveredByOld };
      found.push({ ...difference, ...place, before: was?.(), after: is?.() });
    },
    contained: { known: { "member-removed": new Map(), "member-added": new Map() }, trail: [], visits: 0 },
    looseByNew: "member-removed",
    looseByOld: "member-added",
    isOver: () => false,
  });
  if (isAny(a) !== isAny(b) && a.branches.length > 0 && b.branches.length > 0)
    walk.note(
      { kind: isAny(a) ? "contract-published" : "contract-lost" },
      START,
      () => fragment(a),
      () => fragment(b),
    );
  else walk.nodes(a, b, START);
}

/** What was found out about whether one node contains another, with the pairs found since each question was asked. */
interface Contained {
  readonly known: Readonly<Record<Loose, Map<Node, Map<Node, Cover>>>>;
  readonly trail: [Loose, Node, Node][];
  /** Places looked at to find out. */
  visits: number;
}

interface WalkOptions {
  readonly equal: Equality;
  readonly findsRenames: boolean;
  readonly work: Effort;
  readonly note: Walk["note"];
  readonly contained: Contained;
  readonly looseByNew: Loose;
  readonly looseByOld: Loose | undefined;
  /** True where nothing more needs to be known. */
  readonly isOver: () => boolean;
}

function startWalk(options: WalkOptions): Walk {
  const { equal, findsRenames, work, note, contained, isOver, looseByNew, looseByOld } = options;
  const open = new Map<Node, Set<Node>>();
  const seen = new Map<Node, Set<Node>>();
  let visits = 0;
  const walk: Walk = {
    equal,
    findsRenames,
    looseByNew,
    looseByOld,
    spend: work.spend,
    note,
    nodes(a, b, at) {
      work.spend(1);
      if (isOver() || has(open, a, b) || equal.nodes(a, b) || (visits > VISIT_LIMIT && has(seen, a, b))) return;
      visits += 1;
      add(open, a, b);
      add(seen, a, b);
      work.within(() => observeNodes(walk, a, b, at));
      open.get(a)?.delete(b);
    },
    covers: (b, a, loose) => coverOf(a, b, loose, { equal, work, contained }),
  };
  return walk;
}

/** Coinductive, like the walk itself: assumed while it is being found out, and taken back with what rests on it. */
function coverOf(a: Node, b: Node, loose: Loose, asked: Pick<WalkOptions, "equal" | "work" | "contained">): Cover {
  const { contained } = asked;
  const rows = contained.known[loose];
  const known = rows.get(a)?.get(b);
  if (known !== undefined) return known;
  const mark = contained.trail.length;
  const row = rows.get(a) ?? new Map<Node, Cover>();
  rows.set(a, row.set(b, "fully"));
  contained.trail.push([loose, a, b]);
  let cover: Cover = "fully";
  const note: Walk["note"] = (difference, at) => {
    if (at.coveredByNew === "fully" || cover === "no") return;
    if (narrows(difference)) cover = at.coveredByNew === "loosely" || isUnused(difference) ? "loosely" : "no";
    else if (difference.kind === loose) cover = "loosely";
  };
  const isOver = (): boolean => {
    contained.visits += 1;
    // Too much to look at: not known to be contained.
    if (contained.visits > CONTAINED_VISIT_LIMIT) cover = "no";
    return cover === "no";
  };
  startWalk({ ...asked, findsRenames: false, note, isOver, looseByNew: loose, looseByOld: undefined }).nodes(a, b, START);
  if (cover !== "fully") {
    for (const [side, x, y] of contained.trail.splice(mark)) contained.known[side].get(x)?.delete(y);
    row.set(b, cover);
  }
  return cover;
}

/** Keys that nobody declared are refused: as where there is one form only, no reason to hold that what was declared is. */
function isUnused(difference: Difference): boolean {
  return difference.kind === "extras-closed" && !difference.wasMap;
}

function has(pairs: ReadonlyMap<Node, ReadonlySet<Node>>, a: Node, b: Node): boolean {
  return pairs.get(a)?.has(b) ?? false;
}

function add(pairs: Map<Node, Set<Node>>, a: Node, b: Node): void {
  const row = pairs.get(a);
  if (row === undefined) pairs.set(a, new Set([b]));
  else row.add(b);
}

function observeNodes(walk: Walk, a: Node, b: Node, at: At): void {
  if (!sameJson(a.fallback, b.fallback))
    walk.note(
      { kind: "default-moved" },
      at,
      () => a.fallback,
      () => b.fallback,
    );
  if (a.oneOf || b.oneOf) {
    const [was, is] = [isExclusive(a), isExclusive(b)];
    if (was !== is)
      walk.note(
        { kind: is ? "exclusion-introduced" : "exclusion-lifted" },
        at,
        () => fragment(a),
        () => fragment(b),
      );
  }
  const left = unpaired(walk, a.branches, b.branches);
  const [x, y] = [left.a[0], left.b[0]];
  // The common case: one branch each, nothing else that could make up for a difference.
  if (a.branches.length === 1 && b.branches.length === 1 && x && y && x.kind === y.kind && x.kind !== "values") {
    observeBranches(walk, x, y, at, a, b);
    return;
  }
  observeKinds(walk, a, b, left, at);
  for (const kind of KINDS) if (presentIn(a, kind) && presentIn(b, kind)) observeOneKind(walk, a, b, left, kind, at);
}

interface Unpaired {
  readonly a: readonly Branch[];
  readonly b: readonly Branch[];
}

/** The branches that have no equal on the other side, each once. */
function unpaired(walk: Walk, a: readonly Branch[], b: readonly Branch[]): Unpaired {
  const isIn = (branches: readonly Branch[], x: Branch): boolean => branches.some((y) => walk.equal.branches(x, y));
  const apart = (branches: readonly Branch[], others: readonly Branch[]): readonly Branch[] => {
    const found: Branch[] = [];
    for (const x of branches) if (!isIn(others, x) && !isIn(found, x)) found.push(x);
    return found;
  };
  return { a: apart(a, b), b: apart(b, a) };
}

/** Kinds of values that one side accepts and the other does not at all: one observation for all of them. */
function observeKinds(walk: Walk, a: Node, b: Node, left: Unpaired, at: At): void {
  const lost = KINDS.filter((kind) => left.a.some((branch) => isOfKind(branch, kind)) && !presentIn(b, kind));
  const won = KINDS.filter((kind) => left.b.some((branch) => isOfKind(branch, kind)) && !presentIn(a, kind));
  if (lost.length + won.length === 0) return;
  const onlyNull = [...lost, ...won].every((kind) => kind === "null");
  const edge = onlyNull || (won.length === 0 && isMeantAs(a, lost)) || (lost.length === 0 && isMeantAs(b, won));
  walk.note(
    { kind: "kinds-moved", lost, won, edge },
    at,
    () => fragment(a),
    () => fragment(b),
  );
}

/** True where the node names no type, and the kind it is plainly meant for is not among these. */
function isMeantAs(node: Node, kinds: readonly Kind[]): boolean {
  if (!isImplied(node)) return false;
  const meant = node.branches.find((branch) => !isPlain(branch))?.kind;
  return meant !== undefined && meant !== "values" && !kinds.includes(meant);
}

/** Values of one kind, on both sides: listed ones against listed ones, branches against branches. */
function observeOneKind(walk: Walk, a: Node, b: Node, left: Unpaired, kind: Kind, at: At): void {
  const listedA = listed(left.a, kind);
  const listedB = listed(left.b, kind);
  const openA = left.a.filter((branch) => branch.kind === kind || isGuarded(branch, kind));
  const openB = left.b.filter((branch) => branch.kind === kind || isGuarded(branch, kind));
  const gone = without(listedA, listedB).filter((value) => accepts(b, value) !== true);
  const introduced = openA.length > 0 && openB.length === 0 && listedB.length > 0;
  const come = without(listedB, listedA).filter((value) =>
    introduced ? accepts(a, value) === false : accepts(a, value) !== true,
  );
  const lifted = openB.length > 0 && openA.length === 0 && listedA.length > 0;
  if (introduced)
    walk.note(
      { kind: "values-introduced" },
      cover(walk, at, openA, openB, a, b),
      () => fragment(a),
      () => fragment(b),
    );
  if (lifted)
    walk.note(
      { kind: "values-lifted" },
      cover(walk, at, openA, openB, a, b),
      () => fragment(a),
      () => fragment(b),
    );
  if (gone.length > 0)
    walk.note(
      { kind: "values-lost" },
      at,
      () => showValues(a, listedA),
      () => fragment(b),
    );
  if (come.length > 0)
    walk.note(
      { kind: "values-won" },
      at,
      () => fragment(a),
      () => showValues(b, listedB),
    );
  // Listed values that moved into or out of a branch of their kind are the branch's affair.
  if (!introduced && !lifted) observePairs(walk, a, b, openA, openB, at);
}

/** Listed values beside something undecidable are compared as a branch. */
function isGuarded(branch: Branch, kind: Kind): boolean {
  return branch.kind === "values" && isSpecial(branch) && isOfKind(branch, kind);
}

function isSpecial(branch: Branch): boolean {
  return branch.patterns !== undefined || branch.opaque !== undefined || branch.fallback !== undefined;
}

function listed(branches: readonly Branch[], kind: Kind): readonly JsonValue[] {
  return branches
    .filter((branch) => branch.kind === "values" && !isSpecial(branch))
    .flatMap((branch) => branch.values ?? [])
    .filter((value) => kindOf(value) === kind);
}

function without(values: readonly JsonValue[], others: readonly JsonValue[]): readonly JsonValue[] {
  const known = new Set(others.map(canonicalJson));
  return values.filter((value) => !known.has(canonicalJson(value)));
}

function showValues(node: Node, values: readonly JsonValue[]): JsonValue {
  return node.branches.length === 1 ? { enum: [...values] } : fragment(node);
}

function observePairs(walk: Walk, a: Node, b: Node, openA: readonly Branch[], openB: readonly Branch[], at: At): void {
  const { pairs, lost, won } = pairUp(walk, openA, openB);
  for (const [x, y] of pairs) observeBranches(walk, x, y, cover(walk, at, [x], [y], a, b), a, b);
  for (const x of lost) {
    walk.note(
      { kind: "branch-lost" },
      cover(walk, at, [x], [], a, b),
      () => branchFragment(x),
      () => fragment(b),
    );
  }
  for (const y of won) {
    walk.note(
      { kind: "branch-won" },
      cover(walk, at, [], [y], a, b),
      () => fragment(a),
      () => branchFragment(y),
    );
  }
}

/** Does the rest of a union accept what these branches did? Asked only where there is a rest. */
function cover(walk: Walk, at: At, xs: readonly Branch[], ys: readonly Branch[], a: Node, b: Node): At {
  if (a.branches.length < 2 && b.branches.length < 2) return at;
  return {
    ...at,
    coveredByNew: better(at.coveredByNew, within(walk, b, xs, walk.looseByNew)),
    coveredByOld: walk.looseByOld === undefined ? "no" : better(at.coveredByOld, within(walk, a, ys, walk.looseByOld)),
  };
}

/** The cover of the branch that is covered worst, as a whole or in parts. */
function within(walk: Walk, node: Node, branches: readonly Branch[], loose: Loose): Cover {
  return worstCover(branches, (x) => {
    const whole = withinOne(walk, node, x, loose);
    return whole === "no" ? withinInParts(walk, node, x, loose) : whole;
  });
}

/** Nothing is covered by nothing; one that is not covered ends it. */
function worstCover(branches: readonly Branch[], coverOfOne: (branch: Branch) => Cover): Cover {
  let worst: Cover = branches.length === 0 ? "no" : "fully";
  for (const branch of branches) {
    const cover = coverOfOne(branch);
    if (better(worst, cover) === worst) worst = cover;
    if (worst === "no") break;
  }
  return worst;
}

/** By the branch of the node that covers it best. */
function withinOne(walk: Walk, node: Node, x: Branch, loose: Loose): Cover {
  let best: Cover = "no";
  for (const y of node.branches) {
    if (y.kind !== x.kind) continue;
    best = better(best, walk.equal.branches(x, y) ? "fully" : walk.covers(nodeOf(y), nodeOf(x), loose));
    if (best === "fully") break;
  }
  return best;
}

/** One branch may take an object where a member is a number, and another one where it is a text. Looked for at one member at a time. */
function withinInParts(walk: Walk, node: Node, x: Branch, loose: Loose): Cover {
  if (node.branches.length < 2) return "no";
  for (const parts of partsOf(x)) {
    walk.spend(parts.length);
    const worst = worstCover(parts, (part) => withinOne(walk, node, part, loose));
    if (worst !== "no") return worst;
  }
  return "no";
}

function better(a: Cover, b: Cover): Cover {
  if (a === "fully" || b === "fully") return "fully";
  return a === "loosely" || b === "loosely" ? "loosely" : "no";
}
