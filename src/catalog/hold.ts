/**
 * Holds: tools that wait for a person after a safety change, and texts that wait for a look.
 *
 * Owns: what makes a tool held, released, marked `review`; approvals and when they lapse.
 * Speaks: Holds, tools before and after a move.
 * Never: skills' standings (world), the drift's levels (level.ts), a clock.
 *
 * Level-triggered: whether a tool is held is a function of what it is now and of what was last accepted, not of the steps between.
 * So a change that is taken back releases, and a change in small steps is measured whole.
 *
 *   accepted ──(worse)──► held ──(approved)──► approved, as long as contract and text stay
 *       ▲                 │  ▲                      │
 *       └──(no worse)─────┘  └───(moves, worse)─────┘
 *
 * An approval makes nothing accepted: once it lapses, the tool is measured from what needed no approval. A tool that took over from
 * another is measured from that one, so that no rename is a way around a hold.
 */
import type { Hold, Holds } from "../model/catalog.js";
import type { Instant, ToolKey, UpstreamLabel } from "../model/ids.js";
import type { Tool } from "../model/tool.js";
import { sha256 } from "./canonical.js";
import { isGrave, scanTool } from "./scan.js";
import type { Neighbours, ScanFinding } from "./scan.js";

export interface HoldPolicy {
  /** Hold a tool on any change of its texts (default: only when the scan finds something that was not there). */
  readonly holdOnTextChange: boolean;
  /** Other upstreams' tools, for orders about them; without it none are looked for. */
  readonly neighbours?: ((label: UpstreamLabel) => Neighbours) | undefined;
}

/**
 * One tool that moved: `before` is its last definition (of the version before, or the one it left with), undefined at first
 * sight; `after` is undefined where it left. `predecessors`: the last definitions of the tools that it took over from just now.
 */
export interface Moved {
  readonly key: ToolKey;
  readonly before: Tool | undefined;
  readonly after: Tool | undefined;
  readonly predecessors?: readonly Tool[];
}

interface Accepted {
  readonly digests: Hold["from"];
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly findings: readonly string[];
  /** Whose definition it is, where the tool took over from another. */
  readonly predecessor?: string | undefined;
}

/**
 * The holds after some tools moved. A tool that leaves keeps its hold, its review and its approval: it is judged by them when it
 * comes back, and whoever takes over from it is judged by them too. First sight is acceptance; a first text in which the scan finds
 * something grave is marked `review`.
 */
export function nextHolds(holds: Holds, moved: readonly Moved[], at: Instant, policy: HoldPolicy): Holds {
  const [held, review, approved] = [{ ...holds.held }, { ...holds.review }, { ...holds.approved }];
  for (const { key, before, after, predecessors = [] } of moved) {
    if (after === undefined) continue;
    const neighbours = policy.neighbours?.(after.label);
    const approval = standing(approved[key], after) ?? inherited(holds, predecessors, after);
    const lapsed = approval === undefined ? approved[key] : undefined;
    if (approval === undefined) delete approved[key];
    else approved[key] = approval;
    const findings = scanTool(after, neighbours).filter(isGrave);
    const own = baselineOf(held[key], lapsed, before, neighbours);
    const baseline = strictest(
      own,
      predecessors.map((tool) => ({
        ...(baselineOf(holds.held[tool.key], holds.approved[tool.key], tool, neighbours) ?? acceptedOf(tool, neighbours)),
        predecessor: tool.key,
      })),
    );
    if (baseline === undefined) {
      if (findings.length > 0 && approval === undefined)
        review[key] = { since: at, from: shown(after.digests), to: shown(after.digests) };
      continue;
    }
    const isApproved = approval !== undefined && (approval.document === after.digests.document || own === undefined);
    const reasons = isApproved ? [] : reasonsOf(baseline, after, findings, policy);
    if (reasons.length === 0) delete held[key];
    else held[key] = holdOf(baseline, after, reasons, held[key]?.since ?? at);
    const mark = reviewOf(review[key], lapsed ?? own?.digests, after, at);
    if (mark === undefined) delete review[key];
    else review[key] = mark;
  }
  const next = { ...holds, held: sorted(held), review: sorted(review), approved: sorted(approved) };
  return JSON.stringify(next) === JSON.stringify(holds) ? holds : next;
}

type Approval = Holds["approved"][string];

/**
 * A person accepts the tool as it is: nothing holds it, its texts are looked at. It lapses when contract or text moves; the tool is then
 * measured from where the hold was, and from what was approved only if there was none.
 */
export function approveHold(holds: Holds, tool: Tool, by: string, at: Instant): Holds {
  const [held, review] = [{ ...holds.held }, { ...holds.review }];
  const hold = held[tool.key];
  const before = holds.approved[tool.key]?.measure;
  delete held[tool.key];
  delete review[tool.key];
  const accepted = hold?.accepted;
  const ofHold =
    hold === undefined || accepted === undefined ? undefined : { from: hold.from, accepted, ...named(hold.predecessor) };
  const measure = before ?? ofHold;
  const approval: Approval = { ...shown(tool.digests), at, by, ...(measure === undefined ? {} : { measure }) };
  return { ...holds, held, review, approved: sorted({ ...holds.approved, [tool.key]: approval }) };
}

/** An approval binds to contract and text. */
function standing(approval: Approval | undefined, after: Tool): Approval | undefined {
  const { contract, text } = after.digests;
  return approval?.contract === contract && approval.text === text ? approval : undefined;
}

/** What was approved under another name, and is the same to contract and text: digests know no names. */
function inherited(holds: Holds, predecessors: readonly Tool[], after: Tool): Approval | undefined {
  const [only, ...more] = predecessors;
  return only === undefined || more.length > 0 ? undefined : standing(holds.approved[only.key], after);
}

/**
 * What a tool is measured from: behind a hold what the hold is measured from, behind an approval what the hold before it was, else the
 * definition before.
 */
function baselineOf(
  hold: Hold | undefined,
  approval: Approval | undefined,
  before: Tool | undefined,
  neighbours: Neighbours | undefined,
): Accepted | undefined {
  if (hold !== undefined) {
    if (hold.accepted !== undefined) return { digests: hold.from, ...hold.accepted, ...named(hold.predecessor) };
    if (before?.digests.document === hold.from.document) return acceptedOf(before, neighbours);
    // A hold without its measure: only the accepted digests themselves, or a tool that can do no harm, release it.
    return { digests: hold.from, readOnly: true, destructive: false, findings: [] };
  }
  const measure = approval?.measure;
  if (measure !== undefined) return { digests: measure.from, ...measure.accepted, ...named(measure.predecessor) };
  return before === undefined ? undefined : acceptedOf(before, neighbours);
}

/** The narrowest effect of the tool itself and of those it took over from; measured from the first that it took over from. */
function strictest(own: Accepted | undefined, others: readonly Accepted[]): Accepted | undefined {
  const [first, ...more] = others;
  if (first === undefined) return own;
  const all = [first, ...more, ...(own === undefined ? [] : [own])];
  return {
    digests: first.digests,
    predecessor: first.predecessor,
    readOnly: all.some((one) => one.readOnly),
    destructive: all.every((one) => one.destructive),
    // What the tool said all along is nothing new; of texts that it brought, what every one of the others said as well.
    findings: own?.findings ?? first.findings.filter((id) => more.every((one) => one.findings.includes(id))),
  };
}

function named(predecessor: string | undefined): { predecessor?: string } {
  return predecessor === undefined ? {} : { predecessor };
}

function acceptedOf(tool: Tool, neighbours: Neighbours | undefined): Accepted {
  return {
    digests: shown(tool.digests),
    readOnly: tool.annotations.readOnly,
    destructive: tool.annotations.destructive,
    findings: scanTool(tool, neighbours).filter(isGrave).map(idOf).sort(),
  };
}

/** The same finding in two definitions has the same id, wherever it stands. */
function idOf(finding: ScanFinding): string {
  return `${finding.code}:${sha256(finding.match).slice(0, 16)}`;
}

/** Why the tool is worse than what was accepted; empty if it is not. */
function reasonsOf(
  accepted: Accepted,
  after: Tool,
  findings: readonly ScanFinding[],
  policy: HoldPolicy,
): { rule: string; text: string }[] {
  if (after.digests.document === accepted.digests.document) return [];
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
  // Another tool has other texts: only a tool's own are what the policy speaks of.
  if (policy.holdOnTextChange && accepted.predecessor === undefined && after.digests.text !== accepted.digests.text) {
    reasons.push({ rule: "D1", text: "Its texts changed, and the policy holds a tool for that." });
  }
  return reasons;
}

function holdOf(baseline: Accepted, after: Tool, reasons: readonly { rule: string; text: string }[], since: Instant): Hold {
  const { digests, readOnly, destructive, findings, predecessor } = baseline;
  return {
    since,
    from: { ...digests },
    to: shown(after.digests),
    reasons: [...reasons],
    accepted: { readOnly, destructive, findings: [...findings] },
    ...named(predecessor),
  };
}

type Review = Holds["review"][string];

/** The review mark: from the texts last looked at (or first seen) to the present ones; none where they are the same again. */
function reviewOf(mark: Review | undefined, lookedAt: Hold["from"] | undefined, after: Tool, at: Instant): Review | undefined {
  const to = shown(after.digests);
  if (mark !== undefined && mark.from.document === mark.to.document && mark.from.text === to.text)
    return { ...mark, from: to, to };
  const from = mark?.from ?? (lookedAt && shown(lookedAt));
  return from === undefined || from.text === to.text ? undefined : { since: mark?.since ?? at, from: { ...from }, to };
}

function shown(digests: Hold["from"]): { contract: string; text: string; document: string } {
  return { contract: digests.contract, text: digests.text, document: digests.document };
}

/** Members in the order of their keys: equal holds are equal bytes. */
function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
