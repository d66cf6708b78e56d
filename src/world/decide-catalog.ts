/**
 * What happens to the catalog: listings, configuration, presence, approvals, judged lineage, time.
 */
import { approveHold } from "../catalog/hold.js";
import { nextManifest } from "../catalog/version.js";
import { Fault } from "../model/fault.js";
import type { Event } from "../model/event.js";
import { splitToolKey, type ToolKey, type UpstreamLabel } from "../model/ids.js";
import type { PresenceState } from "../model/catalog.js";
import type { Tool, ListedTool } from "../model/tool.js";
import { skillsReaching } from "../graph/reach.js";
import type { LockEntry } from "../model/skill.js";
import { traceLineage } from "./decide-lineage.js";
import { settleStandings } from "./decide-standings.js";
import { put, type Draft } from "./draft.js";
import { putRevision, type SkillWrite } from "./revise.js";
import { takenFrom } from "./upstream-skills.js";
import { neighboursIn, weighHolds } from "./weigh-holds.js";
import { isOffered, type Known } from "./world.js";

type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

export function decideListing(draft: Draft, event: Of<"listing">): void {
  const { label } = event;
  const presenceMoved = setPresence(draft, label, "up", undefined, event.at);
  const known = draft.known.intake.get(label) ?? [];
  if (JSON.stringify(known) !== JSON.stringify(event.problems)) put(draft, { kind: "intake", label, problems: event.problems });
  const tools = new Map<ToolKey, Tool>();
  for (const [key, tool] of draft.known.catalog.tools) if (tool.label !== label) tools.set(key, tool);
  for (const tool of event.tools) tools.set(tool.key, tool);
  const moved = moveCatalog(draft, tools, `listing of ${label} (${event.cause})`);
  if (presenceMoved) settleUpstream(draft, label);
  draft.answer = { version: draft.known.catalog.version, moved };
}

export function decideConfigured(draft: Draft, event: Of<"configured">): void {
  const prefixes = new Map([...event.upstreams].map(([label, { prefix }]) => [label, prefix] as const));
  const skillsFrom = new Set([...event.upstreams].flatMap(([label, { skills }]) => (skills === "import" ? [label] : [])));
  put(draft, { kind: "policy", policy: event.policy, prefixes, skillsFrom });
  for (const label of draft.known.presence.keys()) {
    if (!event.upstreams.has(label)) put(draft, { kind: "presence", label, presence: undefined });
  }
  for (const [label, { disabled }] of event.upstreams) {
    const presence = draft.known.presence.get(label);
    if (disabled) setPresence(draft, label, "disabled", "disabled in the configuration", event.at);
    else if (beginsAnew(presence?.state, event.starting)) setPresence(draft, label, "connecting", undefined, event.at);
  }
  const tools = new Map([...draft.known.catalog.tools].filter(([, tool]) => event.upstreams.has(tool.label)));
  if (tools.size < draft.known.catalog.tools.size) moveCatalog(draft, tools, "configuration: an upstream was taken out");
  // Level-triggered: whatever an earlier run left behind, standings are as the present ground state says.
  settleStandings(draft, { skills: draft.known.library.skills.keys() });
  draft.effects.push({ kind: "announce-tools" });
}

/**
 * Whether an upstream that is to run counts as connecting from now on. A configuration that is read again moves no presence of what it
 * leaves as it is: the one who holds the connection tells of every upstream that it starts anew, and of no other.
 */
function beginsAnew(before: PresenceState | undefined, starting: boolean): boolean {
  // What was away stays away with its `since`: a restart of the daemon does not renew the grace period.
  if (before === "away") return false;
  return starting || before === undefined || before === "disabled";
}

export function decidePresence(draft: Draft, event: Of<"presence">): void {
  const before = draft.known.presence.get(event.label);
  // Another attempt is no sign of life.
  if (before?.state === "away" && event.state === "connecting") return;
  if (!setPresence(draft, event.label, event.state, event.reason, event.at)) return;
  const bears = (state: PresenceState | undefined): boolean =>
    state === "away" || !isOffered(state === undefined ? undefined : { state, since: "", reason: undefined });
  if (bears(before?.state) || bears(event.state)) settleUpstream(draft, event.label);
}

/** Skills that use its tools, and those that it serves itself. */
function settleUpstream(draft: Draft, label: UpstreamLabel): void {
  settleStandings(draft, { tools: toolsOf(draft.known, label), skills: takenFrom(draft.known, label) });
}

/** Time passed: skills of upstreams that are away beyond the grace period come to rest. */
export function decideTick(draft: Draft, event: Of<"tick">): void {
  const tools: ToolKey[] = [];
  for (const [label, presence] of draft.known.presence) {
    const due = presence.state === "away" && Date.parse(event.at) - Date.parse(presence.since) >= draft.known.policy.graceMs;
    if (due) tools.push(...toolsOf(draft.known, label));
  }
  if (tools.length > 0) settleStandings(draft, { tools });
}

export function decideCatalogPinned(draft: Draft, { token, pin, at, by }: Of<"catalog-pinned">): void {
  put(draft, { kind: "catalog-pin", token, pin: pin === undefined ? undefined : { ...pin, at, by } });
  // The tools that a direct client is shown moved.
  draft.effects.push({ kind: "announce-tools" });
}

export function decideToolApproved(draft: Draft, event: Of<"tool-approved">): void {
  const tool = draft.known.catalog.tools.get(event.tool);
  if (tool === undefined)
    throw new Fault("tool-unknown", `${event.tool} is not in catalog version ${draft.known.catalog.version}.`);
  const { contract, text, document } = event;
  const isAnother = document !== undefined && tool.digests.document !== document;
  if (tool.digests.contract !== contract || tool.digests.text !== text || isAnother) {
    throw new Fault("approval-stale", `${event.tool} now has contract ${tool.digests.contract} and text ${tool.digests.text}.`, {
      contract: tool.digests.contract,
      text: tool.digests.text,
    });
  }
  const neighbours = neighboursIn(draft.known)(tool.label);
  put(draft, { kind: "holds", holds: approveHold(draft.known.holds, tool, event.by, event.at, neighbours) });
  settleStandings(draft, { tools: [event.tool] });
  draft.effects.push({ kind: "announce-tools" });
}

/** Puts a new set of tools in force as the next version, with lineage, holds and standings. False where nothing moved. */
function moveCatalog(draft: Draft, tools: ReadonlyMap<ToolKey, Tool>, cause: string): boolean {
  const before = draft.known;
  const manifest = nextManifest(before.catalog, tools, before.now, cause, before.highestVersion);
  if (manifest === undefined) return false;
  const moved: Tool[] = [];
  const removed: ToolKey[] = [];
  const documents = new Map<string, ListedTool>();
  for (const [key, tool] of tools) {
    if (before.catalog.tools.get(key)?.digests.document === tool.digests.document) continue;
    moved.push(tool);
    documents.set(tool.digests.document, tool.document);
  }
  for (const key of before.catalog.tools.keys()) if (!tools.has(key)) removed.push(key);
  put(draft, { kind: "catalog-version", manifest, documents, moved, removed });
  traceLineage(draft, before, moved, removed);
  adoptVerified(draft, moved);
  const holdsMoved = weighHolds(draft, before, moved, removed);
  settleStandings(draft, { tools: [...moved.map((tool) => tool.key), ...removed, ...holdsMoved] });
  draft.effects.push({ kind: "announce-tools" }, { kind: "texts-moved" });
  draft.effects.push({
    kind: "log",
    level: "info",
    text: `catalog version ${manifest.version}: ${cause}`,
    data: { tools: tools.size, moved: moved.length, removed: removed.length },
  });
  return true;
}

/**
 * Skills that were written before their tools were listed: where a tool is there as the skill says (or the skill says nothing), the
 * listed definition is what it counts as verified against from now on, so that later changes can be judged.
 */
function adoptVerified(draft: Draft, moved: readonly Tool[]): void {
  const writes: SkillWrite[] = [];
  for (const name of skillsReaching(
    draft.world.graph,
    moved.map((tool) => tool.key),
  ).sort()) {
    const skill = draft.known.library.skills.get(name);
    const entry = draft.known.library.lock.skills[name];
    if (skill === undefined || entry === undefined) continue;
    const adopted: Record<string, LockEntry["verified"][string]> = {};
    for (const need of skill.contract.requires) {
      const tool = draft.known.catalog.tools.get(need.tool as ToolKey);
      const fits = tool !== undefined && (need.contractDigest === "" || need.contractDigest === tool.digests.contract);
      if (fits && entry.verified[need.tool] === undefined) adopted[need.tool] = { ...tool.digests };
    }
    if (Object.keys(adopted).length === 0) continue;
    const edit = {
      kind: "keep",
      skill: name,
      cause: "its tools were listed as the skill says",
      signature: `adopt:${skill.digest}`,
      by: "mechanical",
    } as const;
    writes.push({ name, files: skill.files, provenance: entry.provenance, verified: { ...entry.verified, ...adopted }, edit });
  }
  if (writes.length > 0) putRevision(draft, { cause: "tools were listed for the first time", writes });
}

function setPresence(draft: Draft, label: UpstreamLabel, state: PresenceState, reason: string | undefined, at: string): boolean {
  const before = draft.known.presence.get(label);
  if (before?.state === state && before.reason === reason) return false;
  const since = before?.state === state ? before.since : at;
  put(draft, { kind: "presence", label, presence: { state, since, reason } });
  return before?.state !== state;
}

/** Tools of a label, those that left included: skills may still name them. */
function toolsOf(known: Known, label: UpstreamLabel): ToolKey[] {
  const keys = [...known.catalog.tools.keys(), ...known.catalog.departed.keys()];
  return keys.filter((key) => splitToolKey(key).label === label);
}
