/**
 * Parameters that were renamed: one left, one came, and they say the same.
 *
 * Owns: when two members of one object are the same member under another name.
 * Speaks: names, descriptions, kinds of values.
 * Never: tools (lineage finds those).
 */
import { canonicalJson } from "../canonical.js";
import type { Node } from "./node.js";

export interface Member {
  readonly name: string;
  readonly node: Node;
  readonly required: boolean;
}

/** Pairs (left, came), each member in at most one, the most alike first. */
export function findRenames(left: readonly Member[], came: readonly Member[]): (readonly [Member, Member])[] {
  if (left.length === 0 || came.length === 0) return [];
  const pairs: { from: Member; to: Member; score: number }[] = [];
  // Where very many left and came, only a name in another spelling is looked for.
  if (left.length * came.length > PAIR_LIMIT) return respelt(left, came);
  const said = remembering(words);
  for (const from of left) {
    for (const to of came) {
      const score = likeness(from, to, said, left.length === 1 && came.length === 1);
      if (score >= RENAME_AT_LEAST) pairs.push({ from, to, score });
    }
  }
  pairs.sort((a, b) => b.score - a.score || compare(a.from.name, b.from.name) || compare(a.to.name, b.to.name));
  const taken = new Set<Member>();
  const found: (readonly [Member, Member])[] = [];
  for (const { from, to, score } of pairs) {
    if (taken.has(from) || taken.has(to)) continue;
    // Two equally good partners: nobody can say which, so neither is taken.
    const isRival = (pair: (typeof pairs)[number]): boolean =>
      pair.score === score && (pair.from === from) !== (pair.to === to) && !taken.has(pair.from) && !taken.has(pair.to);
    if (pairs.some(isRival)) continue;
    taken.add(from);
    taken.add(to);
    found.push([from, to]);
  }
  return found;
}

/** Each member is laid beside all others, and its description may be long. */
function remembering(read: (text: string) => readonly string[]): (text: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (text) => {
    let made = known.get(text);
    if (made === undefined) known.set(text, (made = read(text)));
    return made;
  };
}

/** Pairs compared at most: beyond this an object was replaced, not edited. */
const PAIR_LIMIT = 10_000;

function respelt(left: readonly Member[], came: readonly Member[]): (readonly [Member, Member])[] {
  const byName = new Map(came.map((member) => [words(member.name).join(""), member]));
  return left.flatMap((from): [Member, Member][] => {
    const to = byName.get(words(from.name).join(""));
    return to !== undefined && sameValues(from.node, to.node) ? [[from, to]] : [];
  });
}

/** 0…1: below this two members are a removal and an addition. */
const RENAME_AT_LEAST = 0.6;

/**
 * Names weigh most; a shared description can stand for a name. Values of different kinds are never the same member.
 * `alone`: nothing else left or came, which is evidence too.
 */
function likeness(from: Member, to: Member, said: (text: string) => readonly string[], alone: boolean): number {
  if (!sameValues(from.node, to.node)) return 0;
  const a = said(from.name);
  const b = said(to.name);
  if (a.join("") === b.join("")) return 1;
  const name = overlap(new Set(a), new Set(b));
  const textA = from.node.text;
  const textB = to.node.text;
  const described = textA !== undefined && textB !== undefined;
  const text = described ? overlap(new Set(said(textA)), new Set(said(textB))) : 0;
  if (described && textA === textB && textA.length >= 12) return 0.9 + name / 100;
  const contained = name > 0 && (a.every((word) => b.includes(word)) || b.every((word) => a.includes(word)));
  const score = described ? 0.5 * name + 0.5 * text : 0.8 * name;
  return Math.min(0.89, score + (contained ? 0.2 : 0) + (alone ? 0.1 : 0));
}

/** Kinds of values with null left aside, and listed values that have something in common. */
function sameValues(a: Node, b: Node): boolean {
  const kinds = (node: Node): string =>
    [...new Set(node.branches.map((branch) => (branch.kind === "values" ? kindWords(branch.values ?? []) : branch.kind)))]
      .filter((kind) => kind !== "null")
      .sort()
      .join();
  if (kinds(a) !== kinds(b)) return false;
  const listedA = listed(a);
  const listedB = listed(b);
  if (listedA.size === 0 || listedB.size === 0) return true;
  return [...listedA].some((value) => listedB.has(value));
}

function listed(node: Node): Set<string> {
  return new Set(node.branches.flatMap((branch) => (branch.values ?? []).map(canonicalJson)));
}

function kindWords(values: readonly unknown[]): string {
  return [...new Set(values.map((value) => typeof value))].sort().join("+");
}

/** Lower-case words: `issueNumber`, `issue_number` and `issue-number` are the same two. */
export function words(text: string): string[] {
  return text
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** Shared words over all words. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
