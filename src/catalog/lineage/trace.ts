/**
 * Trace: what became of the tools of one upstream that left in one version.
 *
 * Owns: the order in which evidence is asked, and what one stage leaves to the next.
 * Speaks: Tools in, Findings out.
 * Never: thresholds (gates.ts), storing (link.ts).
 */
import type { CatalogVersion } from "../../model/ids.js";
import type { LineageLink } from "../../model/lineage.js";
import type { Tool } from "../../model/tool.js";
import { assign } from "./assign.js";
import type { Verdict } from "./assign.js";
import { bulkPairs } from "./bulk.js";
import { targetOf } from "./candidates.js";
import type { Candidate, Target } from "./candidates.js";
import type { Keeper } from "./gates.js";
import { identities } from "./identity.js";
import type { Pair } from "./identity.js";
import type { Finding } from "./link.js";
import { corpusOf } from "./corpus.js";
import type { Corpus } from "./corpus.js";
import { profileOf } from "./profile.js";
import type { Profile } from "./profile.js";
import { blend, likeness } from "./score.js";
import { freeOf, kinshipOf, leftoverParts, splitsByModes, splitsByWords } from "./split.js";
import type { Kinship, Split } from "./split.js";

export interface TraceInput {
  readonly removed: readonly Tool[];
  readonly added: readonly Tool[];
  readonly kept: readonly { readonly before: Tool; readonly after: Tool }[];
  readonly departed: readonly { readonly tool: Tool; readonly missingSince: CatalogVersion }[];
  /** Added tool's key → keys of the tools it was seen to supersede when it appeared. */
  readonly announced: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key of a tool → keys of the tools that its own text named as taking its place, in the order they were named. */
  readonly told: ReadonlyMap<string, readonly string[]>;
  readonly atVersion: CatalogVersion;
}
export interface Trace {
  readonly findings: readonly Finding[];
  /** Candidates of tools for which nothing was found, best first. */
  readonly nearest: ReadonlyMap<Profile, readonly Candidate[]>;
}

interface Workspace {
  readonly corpus: Corpus;
  readonly keeper: Keeper;
  readonly atVersion: CatalogVersion;
  /** Tools that left and tools that came, without a finding yet. */
  readonly olds: readonly Profile[];
  readonly news: readonly Profile[];
  readonly renamed: readonly Pair[];
  readonly findings: readonly Finding[];
}

export function trace(input: TraceInput, keeper: Keeper): Trace {
  const { removed, added, departed } = input;
  const [before, after] = [input.kept.map((pair) => pair.before), input.kept.map((pair) => pair.after)];
  const corpus = corpusOf([...departed.map((one) => one.tool), ...removed, ...before], [...added, ...after]);
  const kept = input.kept.map((pair) => {
    const now = profileOf(pair.after, corpus);
    const same = pair.before.digests.document === pair.after.digests.document;
    return { before: same ? now : profileOf(pair.before, corpus), after: now };
  });
  const olds = removed.map((tool) => profileOf(tool, corpus));
  const news = added.map((tool) => profileOf(tool, corpus));
  const bystanders = kept.map((pair) => pair.after);
  let work: Workspace = { corpus, keeper, atVersion: input.atVersion, olds, news, renamed: [], findings: [] };
  work = settle(work, identities(work.olds, work.news, bystanders, corpus, keeper));
  work = settle(work, bulkPairs(work.olds, work.news, work.renamed, corpus, keeper));
  const kin = kinshipOf(olds, work.news, corpus, keeper);
  work = divide(work, splitsByModes(work.olds, work.news, kin, corpus, keeper));
  const targets = [
    ...work.news.map((next) => targetOf(next, undefined, "added", NONE)),
    ...kept.map((pair) => targetOf(pair.after, pair.before, "kept", input.announced.get(pair.after.tool.key) ?? NONE)),
    ...work.renamed.map((pair) => targetOf(pair.next, pair.old, "renamed", NONE)),
  ];
  const { verdicts, hints } = assign(work.olds, targets, corpus, keeper);
  work = widened(judged(work, verdicts, kin), kin);
  work = named(work, input.told, [...news, ...bystanders]);
  work = late(work, input, bystanders);
  const found = new Set(work.findings.map((finding) => finding.old));
  return { findings: work.findings, nearest: new Map([...hints].filter(([old]) => !found.has(old))) };
}

const NONE: ReadonlySet<string> = new Set();

function settle(work: Workspace, pairs: readonly Pair[]): Workspace {
  const [left, came] = [new Set(pairs.map((pair) => pair.old)), new Set(pairs.map((pair) => pair.next))];
  return {
    ...work,
    olds: work.olds.filter((old) => !left.has(old)),
    news: work.news.filter((next) => !came.has(next)),
    renamed: [...work.renamed, ...pairs.filter((pair) => pair.certain)],
    findings: [...work.findings, ...pairs.map((pair) => renameOf(pair, work))],
  };
}

function renameOf(pair: Pair, { corpus, atVersion }: Workspace): Finding {
  const level = pair.certain ? "certain" : "proposed";
  return { ...pair, to: [pair.next], kind: "renamed", level, fixed: {}, corpus, atVersion };
}

function divide(work: Workspace, splits: readonly Split[]): Workspace {
  const { corpus, atVersion } = work;
  const [left, came] = [new Set(splits.map((split) => split.old)), new Set(splits.flatMap((split) => split.parts))];
  return {
    ...work,
    olds: work.olds.filter((old) => !left.has(old)),
    news: work.news.filter((next) => !came.has(next)),
    findings: [
      ...work.findings,
      ...splits.map((split): Finding => ({ ...split, to: split.parts, kind: "split", fixed: {}, corpus, atVersion })),
    ],
  };
}

/** Certain verdicts first; what is open then may still be a split of which the verdict saw one part. */
function judged(work: Workspace, verdicts: readonly Verdict[], kin: Kinship): Workspace {
  const certain = verdicts.filter((verdict) => verdict.level === "certain");
  const taken = new Set(certain.map((verdict) => verdict.candidate.target.profile));
  const settled = new Set(certain.map((verdict) => verdict.old));
  const open = work.olds.filter((old) => !settled.has(old));
  const free = work.news.filter((next) => !taken.has(next));
  const seenFor = new Map(verdicts.map((verdict) => [verdict.old, verdict.candidate]));
  const splits = splitsByWords(open, free, kin, work.keeper).filter((split) => {
    const seen = seenFor.get(split.old);
    return seen === undefined || (seen.method === undefined && split.parts.includes(seen.target.profile));
  });
  const left = new Set(splits.map((split) => split.old));
  const rest = verdicts.filter((verdict) => !left.has(verdict.old));
  const aimed = new Map<Target, number>();
  for (const { candidate } of rest) aimed.set(candidate.target, (aimed.get(candidate.target) ?? 0) + 1);
  const divided = divide(work, splits);
  return { ...divided, findings: [...divided.findings, ...rest.map((verdict) => judgement(verdict, aimed, work))] };
}

/** `aimed`: how many verdicts are for each target. */
function judgement(verdict: Verdict, aimed: ReadonlyMap<Target, number>, { corpus, atVersion }: Workspace): Finding {
  const { target, method, score } = verdict.candidate;
  const merges = method !== undefined || (aimed.get(target) ?? 0) > 1;
  return {
    old: verdict.old,
    to: [target.profile],
    kind: kindOf(target, merges),
    level: verdict.level,
    score: Math.min(1, score),
    fixed: method?.fixed ?? {},
    evidence: verdict.evidence,
    corpus,
    atVersion,
  };
}

function kindOf(target: Target, merges: boolean): LineageLink["kind"] {
  if (merges) return "merged";
  return target.origin === "added" ? "renamed" : "superseded";
}

/** Renames by rule or score that changed a verb, where a second tool of the same nouns came too: rather a split. */
function widened(work: Workspace, kin: Kinship): Workspace {
  const taken = new Set(work.findings.flatMap((finding) => finding.to));
  const free = freeOf(work.news, taken);
  const findings = work.findings.map((finding): Finding => {
    const [next] = finding.to;
    if (next === undefined || finding.kind !== "renamed") return finding;
    const more = leftoverParts(finding.old, next, free, kin);
    if (more.length === 0) return finding;
    more.forEach((part) => taken.add(part));
    const evidence = [...finding.evidence, ...more.map((part) => `\`${part.tool.key}\` reads the same things`)];
    return { ...finding, to: [next, ...more], kind: "split", level: "proposed", evidence };
  });
  return { ...work, findings };
}

/** What nothing else was found for, and its own text named a successor: proposed, since a text is no evidence of likeness. */
function named(work: Workspace, told: TraceInput["told"], there: readonly Profile[]): Workspace {
  const { corpus, atVersion } = work;
  const found = new Set(work.findings.map((finding) => finding.old));
  const byKey = new Map<string, Profile>(there.map((one) => [one.tool.key, one]));
  const findings = work.olds.flatMap((old): Finding[] => {
    const next = (told.get(old.tool.key) ?? []).map((to) => byKey.get(to)).find((one) => one !== undefined);
    if (found.has(old) || next === undefined) return [];
    const evidence = [`its description said that \`${next.tool.key}\` takes its place`];
    const score = Math.min(1, Math.max(0, blend(likeness(old, next, corpus))));
    return [{ old, to: [next], kind: "superseded", level: "proposed", score, fixed: {}, evidence, corpus, atVersion }];
  });
  return { ...work, findings: [...work.findings, ...findings] };
}

/** A tool that left versions ago and comes again under another spelling: `atVersion` is when it left. */
function late(work: Workspace, input: TraceInput, bystanders: readonly Profile[]): Workspace {
  if (input.departed.length === 0) return work;
  const taken = new Set(work.findings.flatMap((finding) => finding.to));
  const free = work.news.filter((next) => !taken.has(next));
  if (free.length === 0) return work;
  const gone = new Map(input.departed.map((one) => [profileOf(one.tool, work.corpus), one.missingSince]));
  const pairs = identities([...gone.keys()], free, bystanders, work.corpus, work.keeper);
  const findings = pairs.map((pair): Finding => {
    const finding = renameOf(pair, { ...work, atVersion: gone.get(pair.old) ?? work.atVersion });
    return { ...finding, evidence: [...pair.evidence, `it came in version ${work.atVersion}, after the old tool had left`] };
  });
  return { ...work, findings: [...work.findings, ...findings] };
}
