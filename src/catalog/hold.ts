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
 *   accepted ──(worse)──► held ──(approved)──► accepted anew
 *       ▲                  │
 *       └──(as accepted, or no worse)──┘
 */
import type { Hold, Holds } from "../model/catalog.js";
import type { Instant, ToolKey, UpstreamLabel } from "../model/ids.js";
import type { Tool, ToolDigests } from "../model/tool.js";
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
 * sight; `after` is undefined where it left.
 */
export interface Moved {
  readonly key: ToolKey;
  readonly before: Tool | undefined;
  readonly after: Tool | undefined;
}

interface Accepted {
  readonly digests: Hold["from"];
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly findings: readonly string[];
}

/**
 * The holds after some tools moved. A tool that leaves keeps its hold, its review and its approval: it is judged by them when it
 * comes back. First sight is acceptance; a first text in which the scan finds something grave is marked `review`.
 */
export function nextHolds(holds: Holds, moved: readonly Moved[], at: Instant, policy: HoldPolicy): Holds {
  const [held, review, approved] = [{ ...holds.held }, { ...holds.review }, { ...holds.approved }];
  for (const { key, before, after } of moved) {
    if (after === undefined) continue;
    const approval = approved[key];
    const stands = approval !== undefined && approval.contract === after.digests.contract && approval.text === after.digests.text;
    if (approval !== undefined && !stands) delete approved[key];
    const neighbours = policy.neighbours?.(after.label);
    const findings = scanTool(after, neighbours).filter(isGrave);
    const baseline = baselineOf(held[key], before, neighbours);
    if (baseline === undefined) {
      if (findings.length > 0 && !stands) review[key] = { since: at, from: shown(after.digests), to: shown(after.digests) };
      continue;
    }
    const reasons = stands && approval.document === after.digests.document ? [] : reasonsOf(baseline, after, findings, policy);
    if (reasons.length === 0) delete held[key];
    else held[key] = holdOf(baseline, after, reasons, held[key]?.since ?? at);
    const mark = reviewOf(review[key], baseline, after, at);
    if (mark === undefined) delete review[key];
    else review[key] = mark;
  }
  const next = { ...holds, held: sorted(held), review: sorted(review), approved: sorted(approved) };
  return JSON.stringify(next) === JSON.stringify(holds) ? holds : next;
}

/** A person accepts the tool as it is: nothing holds it, its texts are looked at; lapses when contract or text moves. */
export function approveHold(holds: Holds, tool: Tool, by: string, at: Instant): Holds {
  const [held, review] = [{ ...holds.held }, { ...holds.review }];
  delete held[tool.key];
  delete review[tool.key];
  return { ...holds, held, review, approved: sorted({ ...holds.approved, [tool.key]: { ...shown(tool.digests), at, by } }) };
}

/** What was last accepted: behind a hold what the hold is measured from, else the definition before. */
function baselineOf(hold: Hold | undefined, before: Tool | undefined, neighbours: Neighbours | undefined): Accepted | undefined {
  if (hold !== undefined) {
    if (hold.accepted !== undefined) return { digests: hold.from, ...hold.accepted };
    if (before?.digests.document === hold.from.document) return acceptedOf(before, neighbours);
    // A hold without its measure: only the accepted digests themselves, or a tool that can do no harm, release it.
    return { digests: hold.from, readOnly: true, destructive: false, findings: [] };
  }
  return before === undefined ? undefined : acceptedOf(before, neighbours);
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
  if (accepted.readOnly && !after.annotations.readOnly) reasons.push({ rule: "A1", text: "It was read-only and may write now." });
  if (!accepted.destructive && after.annotations.destructive) {
    reasons.push({ rule: "A1", text: "It destroyed nothing and may destroy now." });
  }
  for (const finding of findings) {
    if (!accepted.findings.includes(idOf(finding))) reasons.push({ rule: "D1", text: finding.text });
  }
  if (policy.holdOnTextChange && after.digests.text !== accepted.digests.text) {
    reasons.push({ rule: "D1", text: "Its texts changed, and the policy holds a tool for that." });
  }
  return reasons;
}

function holdOf(baseline: Accepted, after: Tool, reasons: readonly { rule: string; text: string }[], since: Instant): Hold {
  const { digests, readOnly, destructive, findings } = baseline;
  return {
    since,
    from: { ...digests },
    to: shown(after.digests),
    reasons: [...reasons],
    accepted: { readOnly, destructive, findings: [...findings] },
  };
}

type Review = Holds["review"][string];

/** The review mark: from the texts last looked at (or first seen) to the present ones; none where they are the same again. */
function reviewOf(mark: Review | undefined, baseline: Accepted, after: Tool, at: Instant): Review | undefined {
  const to = shown(after.digests);
  if (mark !== undefined && mark.from.document === mark.to.document && mark.from.text === to.text)
    return { ...mark, from: to, to };
  const from = mark?.from ?? baseline.digests;
  return from.text === to.text ? undefined : { since: mark?.since ?? at, from: { ...from }, to };
}

function shown(digests: ToolDigests): { contract: string; text: string; document: string } {
  return { contract: digests.contract, text: digests.text, document: digests.document };
}

/** Members in the order of their keys: equal holds are equal bytes. */
function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
