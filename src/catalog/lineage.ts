/**
 * Lineage: which tool or tools took over from which, found when a catalog version is made.
 *
 * Owns: the order in which evidence is asked: spelling, rules over families, modes, scores, splits; and late finds.
 * Speaks: Tools in, LineageLinks out; `successors` composes links over versions.
 * Never: applying a link to a skill, reading text as an instruction (texts are compared, nothing in them is obeyed).
 *
 *   removed ──► spelling ──► rules ──► splits by mode ──► modes and scores ──► splits by words ──► nothing, with hints
 *                  │            │
 *                  └────────────┴── what they pair counts as renamed: others may have merged into it
 *
 * What leaves with certainty by spelling or rule is taken out before anything is scored, so a renamed whole catalog costs
 * little and cannot distract. Refused: one global assignment over all scores; a wrong pair then pushes out a right one.
 */
import type { CatalogVersion } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import type { Tool } from "../model/tool.js";
import { assign } from "./lineage/assign.js";
import type { Verdict } from "./lineage/assign.js";
import { bulkPairs } from "./lineage/bulk.js";
import { targetOf } from "./lineage/candidates.js";
import type { Candidate, Target } from "./lineage/candidates.js";
import { keeperOf, LINEAGE_GATES } from "./lineage/gates.js";
import type { Keeper, LineageGate } from "./lineage/gates.js";
import { identities } from "./lineage/identity.js";
import type { Pair } from "./lineage/identity.js";
import { linkOf } from "./lineage/link.js";
import type { Finding } from "./lineage/link.js";
import { corpusOf, profileOf } from "./lineage/profile.js";
import type { Corpus, Profile } from "./lineage/profile.js";
import { leftoverParts, splitsByModes, splitsByWords } from "./lineage/split.js";

export { successors } from "./lineage/chain.js";
export type { Succession } from "./lineage/chain.js";
export { LINEAGE_GATES } from "./lineage/gates.js";
export type { GateId, LineageGate } from "./lineage/gates.js";

/** A tool that was added while the one it stands for was still there. Found by `supersedeHints`, used at removal. */
export interface SupersedeHint {
  /** Key of the tool that was there. */
  readonly from: string;
  /** Key of the tool that was added. */
  readonly to: string;
  /** The version that added it. */
  readonly atVersion: CatalogVersion;
  readonly score: number;
}

export interface LineageInput {
  readonly removed: readonly Tool[];
  readonly added: readonly Tool[];
  readonly kept: readonly { readonly before: Tool; readonly after: Tool }[];
  /** The version in which `removed` are missing first. */
  readonly atVersion: CatalogVersion;
  /** What `supersedeHints` found in earlier versions; without them a target that did not change is never certain. */
  readonly hints?: readonly SupersedeHint[];
  /** Tools that left in earlier versions and have no link: one of the added ones may be theirs. */
  readonly departed?: readonly { readonly tool: Tool; readonly missingSince: CatalogVersion }[];
}

/** A tool for which nothing was found, and what came nearest. */
export interface Unresolved {
  readonly tool: string;
  readonly nearest: readonly { readonly tool: string; readonly score: number }[];
}
export interface LineageReport {
  readonly links: LineageLink[];
  readonly unresolved: Unresolved[];
}

/** One link per tool that left and has a likely successor, sorted by tool. Pure; the same input gives the same links. */
export function findLineage(input: LineageInput, gates: readonly LineageGate[] = LINEAGE_GATES): LineageLink[] {
  return lineageReport(input, gates).links;
}

/** The links, and for each tool without one up to three candidates that came nearest. */
export function lineageReport(input: LineageInput, gates: readonly LineageGate[] = LINEAGE_GATES): LineageReport {
  const keeper = keeperOf(gates);
  const links: LineageLink[] = [];
  const unresolved: Unresolved[] = [];
  for (const group of groupsOf(input, keeper)) {
    const { findings, nearest } = lineageOf(group, keeper);
    links.push(...findings.map(linkOf));
    unresolved.push(...nearest);
  }
  return { links: links.sort(byFrom), unresolved: unresolved.sort((a, b) => (a.tool < b.tool ? -1 : 1)) };
}

/**
 * Which added tools look like successors of tools that are still there. To be kept until those leave: a tool that
 * came later and fitted then is no mere sibling.
 */
export function supersedeHints(
  input: Pick<LineageInput, "added" | "kept" | "atVersion">,
  gates: readonly LineageGate[] = LINEAGE_GATES,
): SupersedeHint[] {
  if (input.added.length === 0) return [];
  const links = findLineage(
    { removed: input.kept.map((pair) => pair.before), added: input.added, kept: [], atVersion: input.atVersion },
    gates,
  );
  const strong = links.filter((link) => link.level === "certain");
  return strong.flatMap((link) =>
    link.to.map((to) => ({ from: link.from, to, atVersion: input.atVersion, score: link.score })),
  );
}

function byFrom(a: LineageLink, b: LineageLink): number {
  return a.from < b.from ? -1 : a.from > b.from ? 1 : a.atVersion - b.atVersion;
}

/** One group per upstream in which something left: names and words mean something within one upstream only. */
function groupsOf(input: LineageInput, keeper: Keeper): LineageInput[] {
  const departed = input.departed ?? [];
  if (keeper.holds("same-upstream", false)) return [input];
  const labels = new Set([...input.removed.map((tool) => tool.label), ...departed.map((one) => one.tool.label)]);
  return [...labels].map((label) => ({
    ...input,
    removed: input.removed.filter((tool) => tool.label === label),
    added: input.added.filter((tool) => tool.label === label),
    kept: input.kept.filter((pair) => pair.before.label === label),
    departed: departed.filter((one) => one.tool.label === label),
  }));
}

interface Workspace {
  readonly corpus: Corpus;
  readonly keeper: Keeper;
  readonly atVersion: CatalogVersion;
  readonly findings: Finding[];
}

function lineageOf(input: LineageInput, keeper: Keeper): { findings: readonly Finding[]; nearest: readonly Unresolved[] } {
  const departed = input.departed ?? [];
  const corpus = corpusOf(
    [...departed.map((one) => one.tool), ...input.removed, ...input.kept.map((pair) => pair.before)],
    [...input.added, ...input.kept.map((pair) => pair.after)],
  );
  const profile = (tool: Tool): Profile => profileOf(tool, corpus);
  const work: Workspace = { corpus, keeper, atVersion: input.atVersion, findings: [] };
  const kept = input.kept.map((pair) => ({ before: profile(pair.before), after: profile(pair.after) }));
  const left = input.removed.map(profile);
  let olds = left;
  let news = input.added.map(profile);
  const renamed: Pair[] = [];
  const settle = (pairs: readonly Pair[]): void => {
    for (const pair of pairs) {
      work.findings.push(renameOf(pair, work));
      if (pair.certain) renamed.push(pair);
    }
    olds = olds.filter((old) => !pairs.some((pair) => pair.old === old));
    news = news.filter((next) => !pairs.some((pair) => pair.next === next));
  };
  settle(identities(olds, news, kept.map((pair) => pair.after), corpus, keeper));
  settle(bulkPairs(olds, news, renamed, corpus, keeper));
  const bySplit = splitsByModes(olds, news, corpus, keeper);
  for (const split of bySplit) work.findings.push({ ...split, to: split.parts, kind: "split", fixed: {}, corpus, atVersion: work.atVersion });
  olds = olds.filter((old) => !bySplit.some((split) => split.old === old));
  news = news.filter((next) => !bySplit.some((split) => split.parts.includes(next)));

  const announced = announcements(input.hints ?? []);
  const targets = [
    ...news.map((next) => targetOf(next, undefined, "added", new Set())),
    ...kept.map((pair) => targetOf(pair.after, pair.before, "kept", announced.get(pair.after.tool.key) ?? new Set())),
    ...renamed.map((pair) => targetOf(pair.next, pair.old, "renamed", new Set())),
  ];
  const { verdicts, hints } = assign(olds, targets, corpus, keeper);
  scored(verdicts, olds, news, work);
  widen(work, left, news);
  late(departed.map((one) => ({ profile: profile(one.tool), since: one.missingSince })), news, kept, work);
  return { findings: work.findings, nearest: nearestOf(hints, work.findings) };
}

function announcements(hints: readonly SupersedeHint[]): Map<string, Set<string>> {
  const announced = new Map<string, Set<string>>();
  for (const hint of hints) announced.set(hint.to, (announced.get(hint.to) ?? new Set()).add(hint.from));
  return announced;
}

function renameOf(pair: Pair, work: Workspace): Finding {
  const { corpus, atVersion } = work;
  const level = pair.certain ? "certain" : "proposed";
  return { old: pair.old, to: [pair.next], kind: "renamed", level, score: pair.score, fixed: {}, evidence: pair.evidence, corpus, atVersion };
}

/** Certain verdicts first; what is open then may still be a split of which the verdict saw one part. */
function scored(verdicts: readonly Verdict[], olds: readonly Profile[], news: readonly Profile[], work: Workspace): void {
  const { corpus, keeper, atVersion } = work;
  const certain = verdicts.filter((verdict) => verdict.level === "certain");
  const taken = new Set(certain.map((verdict) => verdict.candidate.target.profile));
  const open = olds.filter((old) => !certain.some((verdict) => verdict.old === old));
  const splits = splitsByWords(open, news.filter((next) => !taken.has(next)), corpus, keeper).filter((split) => {
    const verdict = verdicts.find((one) => one.old === split.old);
    return verdict === undefined || (verdict.candidate.method === undefined && split.parts.includes(verdict.candidate.target.profile));
  });
  for (const split of splits) work.findings.push({ ...split, to: split.parts, kind: "split", fixed: {}, corpus, atVersion });
  const rest = verdicts.filter((verdict) => !splits.some((split) => split.old === verdict.old));
  for (const verdict of rest) {
    const { target, method, score } = verdict.candidate;
    work.findings.push({
      old: verdict.old,
      to: [target.profile],
      kind: kindOf(target, method !== undefined || rest.filter((other) => other.candidate.target === target).length > 1),
      level: verdict.level,
      score: Math.min(1, score),
      fixed: method?.fixed ?? {},
      evidence: verdict.evidence,
      corpus,
      atVersion,
    });
  }
}

/** Renames by rule or score that changed a verb, where a second tool of the same nouns came too: rather a split. */
function widen(work: Workspace, removed: readonly Profile[], news: readonly Profile[]): void {
  const taken = new Set(work.findings.flatMap((finding) => finding.to));
  work.findings.forEach((finding, at) => {
    const [next] = finding.to;
    if (next === undefined || finding.kind !== "renamed" || finding.to.length > 1) return;
    const free = news.filter((other) => !taken.has(other));
    const more = leftoverParts(finding.old, next, free, removed, work.corpus, work.keeper);
    if (more.length === 0) return;
    more.forEach((part) => taken.add(part));
    const evidence = [...finding.evidence, ...more.map((part) => `\`${part.tool.key}\` reads the same things`)];
    work.findings[at] = { ...finding, to: [next, ...more], kind: "split", level: "proposed", evidence };
  });
}

function kindOf(target: Target, merges: boolean): LineageLink["kind"] {
  if (merges) return "merged";
  return target.origin === "added" ? "renamed" : "superseded";
}

/** A tool that left versions ago and comes again under another spelling. */
function late(
  departed: readonly { readonly profile: Profile; readonly since: CatalogVersion }[],
  news: readonly Profile[],
  kept: readonly { readonly after: Profile }[],
  work: Workspace,
): void {
  if (departed.length === 0) return;
  const taken = new Set(work.findings.flatMap((finding) => finding.to));
  const free = news.filter((next) => !taken.has(next));
  const pairs = identities(departed.map((one) => one.profile), free, kept.map((pair) => pair.after), work.corpus, work.keeper);
  for (const pair of pairs) {
    const since = departed.find((one) => one.profile === pair.old)?.since ?? work.atVersion;
    const finding = renameOf(pair, { ...work, atVersion: since });
    work.findings.push({ ...finding, evidence: [...finding.evidence, `it came in version ${work.atVersion}, after the old tool had left`] });
  }
}

function nearestOf(hints: ReadonlyMap<Profile, readonly Candidate[]>, findings: readonly Finding[]): Unresolved[] {
  const found = new Set(findings.map((finding) => finding.old));
  return [...hints].flatMap(([old, candidates]) =>
    found.has(old)
      ? []
      : [
          {
            tool: old.tool.key,
            nearest: candidates.map((one) => ({ tool: one.target.profile.tool.key, score: Math.round(one.score * 1000) / 1000 })),
          },
        ],
  );
}
