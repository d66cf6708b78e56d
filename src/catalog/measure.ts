/**
 * Measures: how far a definition went that needed nobody's approval, a tool's own and those it took over.
 *
 * Owns: when a definition is worse than a measure and why; joining measures; how measures pass from a tool to whoever took over from it.
 * Speaks: Tools, the stored measures of Holds.
 * Never: whether a tool is held (hold.ts), whether a takeover is in force (world).
 *
 * A tool's own measure only ever gets narrower: it moves to a definition that is no worse, and to no other. So a measure that the tool
 * as it is does not exceed can be forgotten once the tool itself is the measure.
 */
import type { Hold, Holds } from "../model/catalog.js";
import type { Tool } from "../model/tool.js";
import { sha256 } from "./canonical.js";
import { isGrave, scanTool } from "./scan.js";
import type { Neighbours, ScanFinding } from "./scan.js";

export type Digests = Hold["from"];
export type OwnMeasure = NonNullable<Holds["own"]>[string];
export type HeirMeasure = NonNullable<Holds["heirs"]>[string][number];
export type Hop = HeirMeasure["via"][number];

/** A measure to hold a definition against. */
export interface Accepted {
  readonly digests: Digests;
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly findings: readonly string[];
  /** Whose definition it is, where the tool took over from another. */
  readonly predecessor?: string | undefined;
}

/** More ways to a tool than any honest history has; a catalog that swaps names without end is measured by the shortest. */
const HEIRS_KEPT = 32;

export function acceptedOf(tool: Tool, neighbours: Neighbours | undefined): Accepted {
  return {
    digests: shown(tool.digests),
    readOnly: tool.annotations.readOnly,
    destructive: tool.annotations.destructive,
    findings: graveIds(tool, neighbours),
  };
}

/** Ids of what the scan finds grave, sorted. The same finding in two definitions has the same id, wherever it stands. */
export function graveIds(tool: Tool, neighbours: Neighbours | undefined): string[] {
  return [...new Set(scanTool(tool, neighbours).filter(isGrave).map(idOf))].sort();
}

export function idOf(finding: ScanFinding): string {
  return `${finding.code}:${sha256(finding.match).slice(0, 16)}`;
}

export function stored({ digests, readOnly, destructive, findings }: Accepted): OwnMeasure {
  return { from: shown(digests), accepted: { readOnly, destructive, findings: [...findings] } };
}

export function asAccepted({ from, accepted }: OwnMeasure, predecessor?: string): Accepted {
  return { digests: from, ...accepted, ...named(predecessor) };
}

/** Why the tool is worse than what was accepted; empty if it is not. `findings`: what the scan finds grave in it. */
export function exceeds(accepted: Accepted, after: Tool, findings: readonly ScanFinding[]): { rule: string; text: string }[] {
  const reasons: { rule: string; text: string }[] = [];
  const who = accepted.predecessor === undefined ? "It" : `${accepted.predecessor}, which it took over from,`;
  const now = accepted.predecessor === undefined ? "may" : "it may";
  if (accepted.readOnly && !after.annotations.readOnly)
    reasons.push({ rule: "A1", text: `${who} was read-only and ${now} write now.` });
  if (!accepted.destructive && after.annotations.destructive)
    reasons.push({ rule: "A1", text: `${who} destroyed nothing and ${now} destroy now.` });
  for (const finding of findings) {
    if (!accepted.findings.includes(idOf(finding))) reasons.push({ rule: "D1", text: finding.text });
  }
  return reasons;
}

/** The narrowest effect of the tool itself and of those it took over from; measured from the first that it took over from. */
export function strictest(own: Accepted | undefined, others: readonly Accepted[]): Accepted | undefined {
  const [first, ...more] = others;
  if (first === undefined) return own;
  const all = [first, ...more, ...(own === undefined ? [] : [own])];
  return {
    digests: first.digests,
    predecessor: first.predecessor,
    readOnly: all.some((one) => one.readOnly),
    destructive: all.every((one) => one.destructive),
    findings: first.findings.filter((id) => all.every((one) => one.findings.includes(id))),
  };
}

/** A tool that the heir took over from: its last definition, and the takeover. */
export interface Predecessor {
  readonly tool: Tool;
  /** The heir came with the takeover; it was not there before, accepted for itself. */
  readonly came: boolean;
}

/**
 * What a tool inherits from one that it took over from: that one's own measure and all that it had inherited, as far as the heir
 * exceeds them. A tool that was there before is not measured by what it says: it said so all along.
 */
export function inheritedFrom(
  { tool, came }: Predecessor,
  of: { readonly own: Accepted; readonly heirs: readonly HeirMeasure[] },
  heir: { readonly tool: Tool; readonly findings: readonly ScanFinding[] },
): HeirMeasure[] {
  const hop: Hop = { from: tool.key, to: heir.tool.key, came };
  const passed: HeirMeasure[] = [
    { ...stored(of.own), of: tool.key, via: [] },
    // A way that comes back to where it began says nothing that the tool's own measure does not say.
    ...of.heirs.filter((one) => one.of !== heir.tool.key && one.via.every((past) => past.to !== heir.tool.key)),
  ].map((one) => ({ ...one, via: [...one.via, hop] }));
  const said = came ? undefined : heir.findings.map(idOf).sort();
  return passed
    .map((one) => (said === undefined ? one : { ...one, accepted: { ...one.accepted, findings: said } }))
    .filter((one) => exceeds(asAccepted(one), heir.tool, heir.findings).length > 0);
}

/**
 * With the new ones in place of those that came the same way before; shorter ways first. The shortest way of each effect is kept before
 * all others: no crowd of takeovers pushes out the one measure that says a tool may not destroy.
 */
export function joinHeirs(known: readonly HeirMeasure[], more: readonly HeirMeasure[]): HeirMeasure[] {
  const way = (one: HeirMeasure): string => JSON.stringify([one.of, one.via.map((hop) => [hop.from, hop.to])]);
  const joined = new Map([...known, ...more].map((one) => [way(one), one] as const));
  const ordered = [...joined]
    .sort(([a, one], [b, other]) => one.via.length - other.via.length || (a < b ? -1 : 1))
    .map(([, one]) => one);
  if (ordered.length <= HEIRS_KEPT) return ordered;
  const effects = new Map<string, HeirMeasure>();
  for (const one of ordered) {
    const effect = `${one.accepted.readOnly} ${one.accepted.destructive}`;
    if (!effects.has(effect)) effects.set(effect, one);
  }
  const first = new Set(effects.values());
  const kept = new Set([...first, ...ordered.filter((one) => !first.has(one))].slice(0, HEIRS_KEPT));
  return ordered.filter((one) => kept.has(one));
}

/** Whom people know it by: the one that it took over from at last. */
export function lastHop({ via }: HeirMeasure): string | undefined {
  return via.at(-1)?.from;
}

export function named(predecessor: string | undefined): { predecessor?: string } {
  return predecessor === undefined ? {} : { predecessor };
}

export function shown(digests: Digests): { contract: string; text: string; document: string } {
  return { contract: digests.contract, text: digests.text, document: digests.document };
}
