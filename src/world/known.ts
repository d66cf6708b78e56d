/**
 * How one change moves the ground state in memory. Pure and cheap: no index is touched here, so that a decision may look at what
 * its own changes would lead to before anything is on disc.
 */
import { catalogFrom } from "../catalog/version.js";
import type { ObservedFlow } from "../graph/flows.js";
import { libraryFrom } from "../skills/library.js";
import { assertNever } from "../model/fault.js";
import type { Change } from "../model/change.js";
import { FLOW_EPISODES } from "../model/flow.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { PastSkill } from "../model/ports.js";
import type { Tool, ListedTool } from "../model/tool.js";
import type { Known } from "./world.js";

/** Earlier states kept per skill: enough to go back several catalog versions. */
const PAST_KEPT = 8;

type Of<Kind extends Change["kind"]> = Extract<Change, { kind: Kind }>;

export function applyChange(known: Known, change: Change): Known {
  switch (change.kind) {
    case "catalog-version":
      return applyCatalogVersion(known, change);
    case "library-revision":
      return applyLibraryRevision(known, change);
    case "lineage":
      return {
        ...known,
        lineage: new Map([...known.lineage, ...change.links.map((link) => [link.id, link] as const)]),
        hints: change.hints ?? known.hints,
      };
    case "holds":
      return { ...known, holds: change.holds };
    case "catalog-pin":
      return { ...known, catalogPins: withEntry(known.catalogPins, change.token, change.pin) };
    case "presence":
      return { ...known, presence: withEntry(known.presence, change.label, change.presence) };
    case "intake":
      return {
        ...known,
        intake: withEntry(known.intake, change.label, change.problems.length === 0 ? undefined : change.problems),
      };
    case "standings": {
      const standings = new Map(known.standings);
      for (const [name, standing] of change.set) standings.set(name, standing);
      for (const name of change.drop) standings.delete(name);
      return { ...known, standings };
    }
    case "pinned":
      return { ...known, pinned: withEntry(known.pinned, change.skill, change.pin) };
    case "rejected":
      return { ...known, rejected: new Map([...known.rejected, ...change.set]) };
    case "calibration":
      return { ...known, calibration: change.calibration };
    case "flows":
      return { ...known, flows: new Map([...known.flows, ...change.set]) };
    case "samples":
      return {
        ...known,
        samples: withEntry(known.samples, change.tool, change.samples.length === 0 ? undefined : change.samples),
      };
    case "patterns":
      return { ...known, patterns: change.answers };
    case "evidence":
      return { ...known, evidence: known.evidence + 1 };
    case "policy":
      return { ...known, policy: change.policy, prefixes: change.prefixes, skillsFrom: change.skillsFrom };
    case "upstream-skills":
      return { ...known, upstreamSkills: withEntry(known.upstreamSkills, change.label, change.taken) };
    case "clock":
      return { ...known, now: change.at };
    case "episode":
    case "call":
    case "view":
    case "report":
    case "vectors":
      return known;
    default:
      return assertNever(change, "change");
  }
}

const counting = new WeakMap<Known["flows"], readonly ObservedFlow[]>();

/** The observed flows that were seen often enough to join tools; worked out once, since every view asks how many they are. */
export function countingFlows({ flows }: Pick<Known, "flows">): readonly ObservedFlow[] {
  const known = counting.get(flows);
  if (known !== undefined) return known;
  const found = [...flows.values()]
    .filter((flow) => flow.episodes.length >= FLOW_EPISODES)
    .map(({ from, field, to, param }) => ({ from: from as ToolKey, field, to: to as ToolKey, param }));
  counting.set(flows, found);
  return found;
}

function withEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value | undefined): ReadonlyMap<Key, Value> {
  const copy = new Map(map);
  if (value === undefined) copy.delete(key);
  else copy.set(key, value);
  return copy;
}

function applyCatalogVersion(known: Known, change: Of<"catalog-version">): Known {
  const tools = new Map<ToolKey, Tool>(known.catalog.tools);
  for (const key of change.removed) tools.delete(key);
  for (const tool of change.moved) tools.set(tool.key, tool);
  // Definitions that went are kept until the decision is whole: its later changes may refer to them.
  const definitions = new Map(known.definitions);
  for (const key of [...change.removed, ...change.moved.map((tool) => tool.key)]) {
    const before = known.catalog.tools.get(key);
    if (before !== undefined) definitions.set(before.digests.document, before.document);
  }
  const highestVersion = Math.max(known.highestVersion, change.manifest.version);
  return { ...known, catalog: catalogFrom(change.manifest, tools), highestVersion, definitions };
}

function applyLibraryRevision(known: Known, change: Of<"library-revision">): Known {
  const past = new Map(known.past);
  for (const name of change.written.keys()) {
    const skill = known.library.skills.get(name);
    const entry = known.library.lock.skills[name];
    if (skill === undefined || entry === undefined) continue;
    const states: PastSkill[] = [{ revision: entry.revision, files: skill.files, entry }, ...(past.get(name) ?? [])];
    past.set(name, states.slice(0, PAST_KEPT));
  }
  for (const name of change.removed) past.delete(name);
  const definitions =
    change.definitions === undefined ? known.definitions : new Map([...known.definitions, ...change.definitions]);
  return { ...known, library: libraryFrom(change.record, change.written, known.library), past, definitions };
}

/** Tools that wait for a person. */
export function heldTools({ holds }: Pick<Known, "holds">): ReadonlySet<string> {
  return new Set(Object.keys(holds.held));
}

/** Document digests that something still refers to: locks, earlier states of skills, holds, and tools that left and may return. */
export function referredDocuments(known: Pick<Known, "library" | "holds" | "catalog" | "past">): Set<string> {
  const referred = new Set<string>();
  for (const entry of Object.values(known.library.lock.skills)) {
    for (const digests of Object.values(entry.verified)) referred.add(digests.document);
  }
  for (const states of known.past.values()) {
    for (const { entry } of states) for (const digests of Object.values(entry.verified)) referred.add(digests.document);
  }
  for (const hold of Object.values(known.holds.held)) referred.add(hold.from.document).add(hold.to.document);
  for (const { document, measure } of Object.values(known.holds.approved)) {
    referred.add(document);
    if (measure !== undefined) referred.add(measure.from.document);
  }
  for (const review of Object.values(known.holds.review)) referred.add(review.from.document);
  for (const { from } of Object.values(known.holds.own ?? {})) referred.add(from.document);
  for (const { from } of Object.values(known.holds.heirs ?? {}).flat()) referred.add(from.document);
  for (const departed of known.catalog.departed.values()) referred.add(departed.document);
  return referred;
}

/**
 * Keeps exactly the referred definitions. They are looked up by digest: two tools may share a definition, and the one that still has
 * it must not hide it from the one that had it. `held`: where they may be taken from beside the present catalog.
 */
export function pruneDefinitions(known: Known, held: ReadonlyMap<string, ListedTool> = known.definitions): Known {
  const present = new Map<string, ListedTool>();
  for (const tool of known.catalog.tools.values()) present.set(tool.digests.document, tool.document);
  const definitions = new Map<string, ListedTool>();
  for (const digest of [...referredDocuments(known)].sort()) {
    const listed = held.get(digest) ?? present.get(digest);
    if (listed !== undefined) definitions.set(digest, listed);
  }
  return { ...known, definitions };
}

/** Skills whose standing may move when these skills' files move: themselves and what builds on them. */
export function dependants(known: Known, skills: Iterable<SkillName>): Set<SkillName> {
  const users = new Map<string, SkillName[]>();
  for (const skill of known.library.skills.values()) {
    for (const used of skill.contract.uses) users.set(used, [...(users.get(used) ?? []), skill.name]);
  }
  const reached = new Set<SkillName>();
  const waiting = [...skills];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    waiting.push(...(users.get(name) ?? []));
  }
  return reached;
}
