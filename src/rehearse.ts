/**
 * Rehearse: what would happen, tried in memory on a home that is only read.
 *
 * Owns: reading a home without its lock, catalogs from files, versions and servers that are started for it.
 * Speaks: CheckAnswer and Comparison for the CLI; peek, upstreams, foresee below.
 * Never: writes into a home, waits for a daemon, decides what a change means.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { catalogFrom, emptyCatalog, nextManifest } from "./catalog/version.js";
import { configuredEvent } from "./compose.js";
import { interpret, readConfig } from "./config/config.js";
import { systemClock } from "./host/clock.js";
import { baseEnv, type Environment } from "./host/env.js";
import type { Log } from "./host/log.js";
import { createPatternRunner, type PatternRunner } from "./host/patterns.js";
import type { Catalog } from "./model/catalog.js";
import type { Config } from "./model/config.js";
import { Fault } from "./model/fault.js";
import type { Event } from "./model/event.js";
import type { SkillName, ToolKey, UpstreamLabel } from "./model/ids.js";
import { isJsonObject } from "./model/json.js";
import type { Problem } from "./model/problem.js";
import type { Tool } from "./model/tool.js";
import { editsByRules, rehearseMaintenance } from "./operations/maintenance.js";
import { withPatterns } from "./operations/patterns-run.js";
import { readProofs } from "./operations/proofs.js";
import { readVersion } from "./operations/versions.js";
import { isServersFile, readJson, readTools, type ReadJson } from "./rehearse/files.js";
import { definitionsIn, peekHome, type Peek } from "./store/peek.js";
import { shippedLock } from "./store/seed.js";
import {
  CliFault,
  EXIT,
  exitOf,
  type CheckAnswer,
  type CheckFlags,
  type CompareFlags,
  type Comparison,
} from "./surfaces/cli/access.js";
import { createUpstreams } from "./upstream/upstreams.js";
import { compareCatalogs } from "./world/compare.js";
import { arrive, dueToIt, everythingUp, foresee, play, type Arrival, type Played, type Prospect } from "./world/foresee.js";
import { rebuild } from "./world/rebuild.js";
import { verifiedTool } from "./world/standings.js";
import type { World } from "./world/world.js";

export interface RehearsalSurroundings {
  readonly main: string;
  readonly env: Environment;
  readonly cwd: string;
  readonly log: Log;
  readonly version: string;
}

/** What the library of a home would be like against a catalog file, a configuration or a version of the home. */
export async function checkHome(around: RehearsalSurroundings, home: string, flags: CheckFlags): Promise<CheckAnswer> {
  const opened = await openHome(around, home);
  const found = await prospectOf(around, opened, flags);
  const { prospect, problems, unlisted } = found;
  const at = systemClock().now();
  const { before, after, left } = await arrival(opened, prospect, at);
  const proofs = await readProofs({ store: opened.peek }, after);
  const report = await rehearseMaintenance(after, proofs, at);
  const foresight = foresee({ before, after }, dueToIt(report, editsByRules(before, proofs, at)));
  return {
    against: flags.against,
    home,
    ...foresight,
    from: { ...foresight.from, catalog: opened.peek.ground.manifest?.version ?? 0 },
    unlisted,
    problems: [...problems.map((problem) => ({ ...problem })), ...unasked(left)],
  };
}

/** Both sides, with the patterns that recorded calls meet run as the daemon runs them: apart, under a deadline. */
async function arrival(opened: OpenedHome, prospect: Prospect, at: string): Promise<Arrival & { readonly left: number }> {
  const runner = createPatternRunner();
  const run: PatternRunner["run"] = (questions) => runner.run(questions);
  try {
    const started = await withPatterns(opened, run, at);
    const before = await withPatterns(everythingUp(started.world, prospect, at), run, at);
    const after = await withPatterns(arrive(before.world, prospect, at), run, at);
    return { before: before.world, after: after.world, left: after.left };
  } finally {
    await runner.stop();
  }
}

function unasked(left: number): Problem[] {
  const text = `${left} patterns were not run on recorded calls; what rests on them stays undecided, as it would in a daemon.`;
  return left === 0 ? [] : [{ code: "patterns-left", where: "", text }];
}

/** The typed difference and the lineage between two sides, each a version of the home or a catalog file. */
export async function compareSides(around: RehearsalSurroundings, home: string, flags: CompareFlags): Promise<Comparison> {
  const needsHome = [flags.from, flags.to].some((ref) => ref === undefined || isVersion(ref));
  const problems: Problem[] = [];
  const opened = await openHome(around, home).catch((error: unknown) => {
    if (needsHome) throw error;
    // Two files need no home: only one that was named, or that is there, was to tell of its skills.
    if (flags.home !== undefined || isHome(home)) problems.push(unread(home, error));
    return undefined;
  });
  const side = async (ref: string | undefined): Promise<Catalog> => {
    if (opened !== undefined && (ref === undefined || isVersion(ref)))
      return await versionOf(opened, ref === undefined ? undefined : Number(ref));
    const read = await readTools(around.cwd, ref ?? "", { home, label: flags.label, otherwise: onlyLabel(opened?.world) });
    problems.push(...read.problems);
    return catalogOf(read.tools);
  };
  const [from, to] = [await side(flags.from), await side(flags.to)];
  // What is known leads forward; going back, who would stand in is found by looking at the two alone.
  const isForward = isVersion(flags.from) && isVersion(flags.to ?? "0") && from.version <= to.version;
  const stored = isForward ? opened?.world.lineage : undefined;
  return {
    from: nameOf(flags.from, opened),
    to: nameOf(flags.to, opened),
    ...compareCatalogs(from, to, { ...(stored === undefined ? {} : { links: [...stored.values()] }), world: opened?.world }),
    problems,
  };
}

function unread(home: string, error: unknown): Problem {
  const why = error instanceof Error ? error.message : String(error);
  return { code: "home-unread", where: home, text: `The home is left out, and with it what its skills would say: ${why}` };
}

/** The present of a home that was never started has no number. */
function nameOf(ref: string | undefined, opened: OpenedHome | undefined): string {
  if (ref !== undefined) return isVersion(ref) ? `version ${Number(ref)}` : ref;
  const version = presentVersion(opened);
  return version === 0 ? "what the skills were verified against" : `version ${version}`;
}

function presentVersion(opened: OpenedHome | undefined): number {
  return opened?.peek.ground.manifest?.version ?? 0;
}

function isVersion(ref: string | undefined): boolean {
  return ref !== undefined && /^\d+$/.test(ref);
}

interface OpenedHome {
  readonly home: string;
  readonly peek: Peek;
  readonly config: Config;
  /** As a daemon would see it at its start, hand edits and shipped skills included. */
  readonly world: World;
  readonly questions: Played["questions"];
}

function isHome(home: string): boolean {
  return existsSync(join(home, "config")) || existsSync(join(home, "catalog"));
}

async function openHome(around: RehearsalSurroundings, home: string): Promise<OpenedHome> {
  if (!isHome(home)) throw new CliFault(`There is no home at ${home}: \`steward init --home ${home}\` prepares one.`, EXIT.usage);
  const log = around.log;
  const peek = await peekHome({ home, log });
  const config = await readConfig(home, { env: around.env, main: around.main });
  const at = systemClock().now();
  const world = rebuild(peek.ground, at);
  const events: Event[] = [keeping(world, configuredEvent(config, at, true))];
  const { written, missing, problems } = await peek.readHandEdits();
  for (const problem of [...peek.ground.problems, ...problems]) log.warn(`${problem.where}: ${problem.text}`);
  const lock = peek.ground.revision === undefined ? shippedLock(home) : undefined;
  const shipped = written.filter((skill) => lock?.has(skill.folder as SkillName) === true);
  if (lock !== undefined && shipped.length > 0) {
    const digests = [...lock.values()].flatMap((verified) => Object.values(verified).map((entry) => entry.document));
    const definitions = await definitionsIn(home, new Set(digests));
    events.push({ kind: "skills-written", at, by: "starter", written: shipped, missing: [], verified: lock, definitions });
  }
  const own = written.filter((skill) => !shipped.includes(skill));
  if (own.length + missing.length > 0) events.push({ kind: "skills-written", at, by: "human", written: own, missing });
  const started = play(world, events);
  const listed = started.world.catalog.version > 0 ? started : play(started.world, verifiedListings(started.world, at));
  return { home, peek, config, world: listed.world, questions: [...started.questions, ...listed.questions] };
}

/**
 * A home without a catalog of its own (a checkout that was never started): its tools are taken to be those that the skills were last
 * verified against, which the lock beside them names.
 */
function verifiedListings(world: World, at: string): Event[] {
  const tools = new Map<string, Tool>();
  for (const name of world.library.skills.keys()) {
    for (const key of Object.keys(world.library.lock.skills[name]?.verified ?? {})) {
      const tool = verifiedTool(world, name, key as ToolKey);
      if (tool !== undefined) tools.set(key, tool);
    }
  }
  const listings = [...byLabel([...tools.values()])];
  return listings.map(([label, listing]) => ({ kind: "listing", at, label, ...listing, cause: "start" }));
}

/** A checkout may have a catalog and no configuration: labels that are known stay. */
function keeping(world: World, event: Event): Event {
  if (event.kind !== "configured") return event;
  const upstreams = new Map(event.upstreams);
  for (const { label } of world.catalog.tools.values())
    if (!upstreams.has(label)) upstreams.set(label, { disabled: false, prefix: label });
  return { ...event, upstreams };
}

async function versionOf(opened: OpenedHome, version: number | undefined): Promise<Catalog> {
  const present = opened.world.catalog;
  const isPresent = version === undefined || (version === present.version && version === presentVersion(opened));
  if (isPresent) return present;
  try {
    return await readVersion(opened.peek, version);
  } catch (error) {
    // With the exit code that the same fault has where a daemon is asked.
    throw error instanceof Fault ? new CliFault(error.message, exitOf(error.code)) : error;
  }
}

/** A snapshot that has no number of its own. */
function catalogOf(tools: readonly Tool[]): Catalog {
  const map = new Map(tools.map((tool) => [tool.key, tool]));
  const manifest = nextManifest(emptyCatalog, map, "", "file");
  return manifest === undefined ? emptyCatalog : catalogFrom(manifest, map);
}

function onlyLabel(world: World | undefined): string | undefined {
  const labels = new Set([...(world?.catalog.tools.values() ?? [])].map((tool) => tool.label));
  return labels.size === 1 ? [...labels][0] : undefined;
}

interface FoundProspect {
  readonly prospect: Prospect;
  readonly problems: readonly Problem[];
  readonly unlisted: readonly { readonly label: string; readonly reason: string }[];
}

async function prospectOf(around: RehearsalSurroundings, opened: OpenedHome, flags: CheckFlags): Promise<FoundProspect> {
  const { home, world } = opened;
  if (isVersion(flags.against)) {
    const catalog = await versionOf(opened, Number(flags.against));
    return { prospect: { listings: byLabel([...catalog.tools.values()]), whole: true }, problems: [], unlisted: [] };
  }
  const read = readJson(around.cwd, flags.against);
  if (isServersFile(read.json)) return await listServers(around, opened, read, flags);
  const { tools, labels, problems, isManifest } = await readTools(around.cwd, flags.against, {
    read,
    home,
    label: flags.label,
    otherwise: onlyLabel(world),
  });
  const listings = byLabel(tools, labels);
  if (listings.size === 0 && !isManifest)
    throw new CliFault(
      `${flags.against} has no tool that could be read and names no upstream. For one that lists nothing give {"tools": []} and its --label.`,
      EXIT.usage,
    );
  const known = new Set([...world.catalog.tools.values()].map((tool) => tool.label as string));
  const strange = [...listings.keys()].filter((label) => !known.has(label) && !opened.config.upstreams.has(label));
  if (strange.length === listings.size && listings.size > 0 && known.size > 0)
    throw new CliFault(
      `No upstream of the home is called ${strange.join(" or ")} (there are ${[...known].sort().join(", ")}); --label says whose tools the file has, where it does not say so itself.`,
      EXIT.usage,
    );
  return { prospect: { listings, whole: isManifest && !flags.keepOthers }, problems, unlisted: [] };
}

/** `labels`: upstreams that have a listing whether it has a tool or not. */
function byLabel(
  tools: readonly Tool[],
  labels: readonly UpstreamLabel[] = [],
): Map<UpstreamLabel, { tools: Tool[]; problems: Problem[] }> {
  const listings = new Map<UpstreamLabel, { tools: Tool[]; problems: Problem[] }>();
  for (const label of labels) listings.set(label, { tools: [], problems: [] });
  for (const tool of tools) {
    const group = listings.get(tool.label);
    if (group === undefined) listings.set(tool.label, { tools: [tool], problems: [] });
    else group.tools.push(tool);
  }
  return listings;
}

/** Starts the servers of a configuration, lists them once and ends them. One that cannot be listed keeps what it has. */
async function listServers(
  around: RehearsalSurroundings,
  opened: OpenedHome,
  { json, problems: found }: ReadJson,
  flags: CheckFlags,
): Promise<FoundProspect> {
  const { env, log, version } = around;
  const written = isJsonObject(json) ? json : {};
  const config = interpret(written, [], opened.home, { env, main: around.main }, []);
  const listings = new Map<UpstreamLabel, { tools: readonly Tool[]; problems: readonly Problem[] }>();
  const unlisted: { label: UpstreamLabel; reason: string }[] = [];
  const upstreams = createUpstreams({
    configs: new Map([...config.upstreams].filter(([, one]) => !one.disabled)),
    policy: config.policy,
    post: (event) => {
      if (event.kind === "listing") listings.set(event.label, { tools: event.tools, problems: event.problems });
    },
    clock: systemClock(),
    log: (level, text, data) => log[level](text, data),
    baseEnv: baseEnv(env),
    version,
    secrets: config.secrets,
  });
  try {
    for (const row of await upstreams.sync())
      if (!row.ok) unlisted.push({ label: row.label, reason: row.reason ?? "not listed" });
  } finally {
    await upstreams.stop();
  }
  for (const [label, one] of config.upstreams) if (one.disabled) unlisted.push({ label, reason: disabledReason(config, label) });
  const problems = [...found, ...config.problems, ...[...listings.values()].flatMap((listing) => listing.problems)];
  return {
    prospect: { listings, whole: !flags.keepOthers, unlisted: unlisted.map(({ label }) => label) },
    problems,
    unlisted,
  };
}

function disabledReason(config: Config, label: UpstreamLabel): string {
  const path = new RegExp(`^(?:mcpServers|servers)\\.${label.replace(/[.\\]/g, "\\$&")}(?:\\.|$)`);
  const problem = config.problems.find(({ where }) => path.test(where));
  return problem === undefined ? "disabled in the file" : `${problem.where}: ${problem.text}`;
}
