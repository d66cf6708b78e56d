/**
 * Holds: tools that wait for a person after a safety change, and texts that wait for a look.
 *
 * Owns: what makes a tool held, released, marked `review`; approvals and when they lapse.
 * Speaks: Holds, tools before and after a move.
 * Never: skills' standings (world), the drift's levels (level.ts), a clock.
 *
 * Level-triggered: whether a tool is held is a function of what it is now, of what was last accepted, of the takeovers in force and of the
 * approval given, not of the steps between. So a change that is taken back releases, a change in small steps is measured whole, and a
 * takeover that a person rejects measures nobody.
 *
 *   accepted ──(worse)──► held ──(approved)──► approved, as long as contract and text stay
 *       ▲                 │  ▲                      │
 *       └──(no worse)─────┘  └───(moves, worse)─────┘
 *
 * An approval makes nothing accepted: once it lapses, the tool is measured from what needed no approval. A tool that took over from
 * another is measured from that one too, so that no rename is a way around a hold.
 */
import type { Hold, Holds } from "../model/catalog.js";
import type { Instant, ToolKey, UpstreamLabel } from "../model/ids.js";
import type { Tool } from "../model/tool.js";
import {
  acceptedOf,
  asAccepted,
  exceeds,
  graveIds,
  idOf,
  inheritedFrom,
  joinHeirs,
  lastHop,
  named,
  shown,
  stored,
  strictest,
  type Accepted,
  type HeirMeasure,
  type Hop,
  type Predecessor,
} from "./measure.js";
import { isGrave, scanTool } from "./scan.js";
import type { Neighbours, ScanFinding } from "./scan.js";

export interface HoldPolicy {
  /** Hold a tool on any change of its texts (default: only when the scan finds something that was not there). */
  readonly holdOnTextChange: boolean;
  /** Other upstreams' tools, for orders about them; without it none are looked for. */
  readonly neighbours?: ((label: UpstreamLabel) => Neighbours) | undefined;
  /** Is this takeover in force? By default each is. */
  readonly stands?: ((hop: Hop) => boolean) | undefined;
}

/**
 * One tool that moved: `before` is its last definition (of the version before, or the one it left with), undefined at first
 * sight; `after` is undefined where it left. Equal ones: it is weighed anew, since a takeover or a word on one moved.
 * `predecessors`: the tools that it took over from just now.
 */
export interface Moved {
  readonly key: ToolKey;
  readonly before: Tool | undefined;
  readonly after: Tool | undefined;
  readonly predecessors?: readonly Predecessor[];
}

/** What is written anew, tool by tool. */
interface Draft {
  readonly held: Holds["held"];
  readonly review: Holds["review"];
  readonly approved: Holds["approved"];
  readonly own: NonNullable<Holds["own"]>;
  readonly heirs: NonNullable<Holds["heirs"]>;
}

/**
 * The holds after some tools moved. A tool that leaves keeps its hold, its review and its approval: it is judged by them when it
 * comes back, and whoever takes over from it is judged by them too. First sight is acceptance; a first text in which the scan finds
 * something grave is marked `review`.
 */
export function nextHolds(holds: Holds, moved: readonly Moved[], at: Instant, policy: HoldPolicy): Holds {
  const draft: Draft = {
    held: { ...holds.held },
    review: { ...holds.review },
    approved: { ...holds.approved },
    own: { ...holds.own },
    heirs: { ...holds.heirs },
  };
  for (const { key, before, after, predecessors = [] } of moved)
    if (after !== undefined) weigh(holds, draft, { key, before, after, predecessors }, at, policy);
  const { own, heirs } = draft;
  const next: Holds = {
    format: holds.format,
    held: sorted(draft.held),
    review: sorted(draft.review),
    approved: sorted(draft.approved),
    ...(Object.keys(own).length === 0 ? {} : { own: sorted(own) }),
    ...(Object.keys(heirs).length === 0 ? {} : { heirs: sorted(heirs) }),
  };
  return JSON.stringify(next) === JSON.stringify(inOrder(holds)) ? holds : next;
}

interface Weighed extends Moved {
  readonly after: Tool;
  readonly predecessors: readonly Predecessor[];
}

function weigh(holds: Holds, draft: Draft, { key, before, after, predecessors }: Weighed, at: Instant, policy: HoldPolicy): void {
  const neighbours = policy.neighbours?.(after.label);
  const stands = policy.stands ?? (() => true);
  const findings = scanTool(after, neighbours).filter(isGrave);
  const approval = standing(draft.approved[key], after) ?? inherited(holds, predecessors, after);
  const lapsed = approval === undefined ? draft.approved[key] : undefined;
  const past = measuresOf(holds, key, before, neighbours);
  const own = past.own ?? acceptedOf(after, neighbours);
  const inherits = predecessors.flatMap((from) => {
    const { own: theirs, heirs } = measuresOf(holds, from.tool.key, from.tool, neighbours);
    return inheritedFrom(from, { own: theirs ?? acceptedOf(from.tool, neighbours), heirs }, { tool: after, findings });
  });
  const ownReasons = judgedAlone(own, after, findings, policy);
  const isOwn = ownReasons.length === 0;
  const heirs = joinHeirs(past.heirs, inherits).filter((one) => !isOwn || exceeds(asAccepted(one), after, findings).length > 0);
  setOrDelete(draft.own, key, isOwn ? undefined : stored(own));
  setOrDelete(draft.heirs, key, heirs.length === 0 ? undefined : heirs);
  const inForce = heirs.filter(({ via }) => via.every(stands));
  const measure =
    strictest(
      own,
      inForce.map((one) => asAccepted(one, lastHop(one))),
    ) ?? own;
  const reasons =
    inForce.length === 0 ? ownReasons : [...exceeds(measure, after, findings), ...ownReasons.filter((one) => one.policy)];
  const isFree = reasons.length === 0 || isApproved(approval, after, findings, before, neighbours);
  if (isFree) delete draft.held[key];
  else draft.held[key] = holdOf(measure, after, reasons, draft.held[key]?.since ?? at);
  if (approval === undefined) delete draft.approved[key];
  else draft.approved[key] = withMeasure(approval, reasons.length === 0 ? undefined : measure);
  const wasHeld = holds.held[key] !== undefined;
  setOrDelete(draft.review, key, markOf(draft, { key, after, lapsed, seen: past.own, wasHeld, approval, findings }, at));
}

/** The tool's own measure where it was seen before, and those that it took over. */
function measuresOf(
  holds: Holds,
  key: string,
  before: Tool | undefined,
  neighbours: Neighbours | undefined,
): { own: Accepted | undefined; heirs: readonly HeirMeasure[] } {
  const own = holds.own?.[key];
  const heirs = holds.heirs?.[key] ?? [];
  const seen = before === undefined ? undefined : acceptedOf(before, neighbours);
  if (own !== undefined || heirs.length > 0) return { own: own === undefined ? seen : asAccepted(own), heirs };
  return measuresBefore(holds, key, seen) ?? { own: seen, heirs };
}

/** Of a home whose holds keep one measure a tool: it is the tool's own, or that of the one that it took over from. */
function measuresBefore(
  holds: Holds,
  key: string,
  seen: Accepted | undefined,
): { own: Accepted | undefined; heirs: readonly HeirMeasure[] } | undefined {
  const hold = holds.held[key];
  const past = hold ?? holds.approved[key]?.measure;
  if (past === undefined) return undefined;
  // A hold without its measure: only the accepted digests themselves, or a tool that can do no harm, release it.
  const accepted = past.accepted ?? { readOnly: true, destructive: false, findings: [] };
  if (past.accepted === undefined && seen?.digests.document === past.from.document) return { own: seen, heirs: [] };
  const { from, predecessor } = past;
  if (predecessor === undefined) return { own: { digests: from, ...accepted }, heirs: [] };
  return { own: seen, heirs: [{ from, accepted, of: predecessor, via: [{ from: predecessor, to: key, came: true }] }] };
}

/** By its own measure alone; `policy` marks what is no harm and held by policy. */
function judgedAlone(
  own: Accepted,
  after: Tool,
  findings: readonly ScanFinding[],
  policy: HoldPolicy,
): { rule: string; text: string; policy?: true }[] {
  if (after.digests.document === own.digests.document) return [];
  const reasons: { rule: string; text: string; policy?: true }[] = exceeds(own, after, findings);
  if (policy.holdOnTextChange && after.digests.text !== own.digests.text)
    reasons.push({ rule: "D1", text: "Its texts changed, and the policy holds a tool for that.", policy: true });
  return reasons;
}

type Approval = Holds["approved"][string];

/**
 * A person accepts the tool as it is: nothing holds it, its texts are looked at. It lapses when contract or text moves; the tool is then
 * measured from where the hold was, and from what was approved only if there was none.
 */
export function approveHold(holds: Holds, tool: Tool, by: string, at: Instant, neighbours?: Neighbours): Holds {
  const [held, review] = [{ ...holds.held }, { ...holds.review }];
  const hold = held[tool.key];
  const before = holds.approved[tool.key]?.measure;
  delete held[tool.key];
  delete review[tool.key];
  const accepted = hold?.accepted;
  const ofHold =
    hold === undefined || accepted === undefined ? undefined : { from: hold.from, accepted, ...named(hold.predecessor) };
  const measure = before ?? ofHold;
  const findings = graveIds(tool, neighbours);
  const approval: Approval = { ...shown(tool.digests), at, by, findings, ...(measure === undefined ? {} : { measure }) };
  return { ...holds, held, review, approved: sorted({ ...holds.approved, [tool.key]: approval }) };
}

/** An approval binds to contract and text. */
function standing(approval: Approval | undefined, after: Tool): Approval | undefined {
  const { contract, text } = after.digests;
  return approval?.contract === contract && approval.text === text ? approval : undefined;
}

/** What was approved under another name, and is the same to contract and text: digests know no names. */
function inherited(holds: Holds, predecessors: readonly Predecessor[], after: Tool): Approval | undefined {
  const [only, ...more] = predecessors;
  return only === undefined || more.length > 0 ? undefined : standing(holds.approved[only.tool.key], after);
}

/** Contract and text are the approved ones; what else the document says (icons, `_meta`) may bring no order to the model. */
function isApproved(
  approval: Approval | undefined,
  after: Tool,
  findings: readonly ScanFinding[],
  before: Tool | undefined,
  neighbours: Neighbours | undefined,
): boolean {
  if (approval === undefined) return false;
  if (approval.document === after.digests.document) return true;
  const known = approval.findings ?? (before === undefined ? undefined : graveIds(before, neighbours));
  return known === undefined || findings.every((finding) => known.includes(idOf(finding)));
}

/** The approval with what the tool is measured from once it lapses; nothing where the tool is no worse than that. */
function withMeasure({ measure: _measure, ...approval }: Approval, now: Accepted | undefined): Approval {
  return now === undefined ? approval : { ...approval, measure: { ...stored(now), ...named(now.predecessor) } };
}

function holdOf(measure: Accepted, after: Tool, reasons: readonly { rule: string; text: string }[], since: Instant): Hold {
  return {
    since,
    from: { ...measure.digests },
    to: shown(after.digests),
    reasons: reasons.map(({ rule, text }) => ({ rule, text })),
    accepted: stored(measure).accepted,
    ...named(measure.predecessor),
  };
}

type Review = Holds["review"][string];

interface Looked {
  readonly key: string;
  readonly after: Tool;
  readonly lapsed: Approval | undefined;
  /** What the tool was accepted for before; undefined at first sight. */
  readonly seen: Accepted | undefined;
  readonly wasHeld: boolean;
  readonly approval: Approval | undefined;
  readonly findings: readonly ScanFinding[];
}

/** First sight of grave texts that nothing holds, or that a takeover held which is none, asks for a look. */
function markOf({ review, held }: Draft, looked: Looked, at: Instant): Review | undefined {
  const { key, after, lapsed, seen, wasHeld, approval, findings } = looked;
  const isHeld = held[key] !== undefined;
  const isFirst = seen === undefined || (wasHeld && seen.digests.document === after.digests.document);
  if (isFirst && !isHeld && findings.length > 0 && approval === undefined)
    return { since: at, from: shown(after.digests), to: shown(after.digests) };
  return seen === undefined && !isHeld ? review[key] : reviewOf(review[key], lapsed ?? seen?.digests, after, at);
}

/** The review mark: from the texts last looked at (or first seen) to the present ones; none where they are the same again. */
function reviewOf(mark: Review | undefined, lookedAt: Hold["from"] | undefined, after: Tool, at: Instant): Review | undefined {
  const to = shown(after.digests);
  if (mark !== undefined && mark.from.document === mark.to.document && mark.from.text === to.text)
    return { ...mark, from: to, to };
  const from = mark?.from ?? (lookedAt && shown(lookedAt));
  return from === undefined || from.text === to.text ? undefined : { since: mark?.since ?? at, from: { ...from }, to };
}

function setOrDelete<Value>(record: Record<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) delete record[key];
  else record[key] = value;
}

/** Members in the order of their keys: equal holds are equal bytes. */
function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The members in the order in which they are written here, whatever order they were read in. */
function inOrder({ format, held, review, approved, own, heirs }: Holds): Holds {
  return { format, held, review, approved, ...(own === undefined ? {} : { own }), ...(heirs === undefined ? {} : { heirs }) };
}
