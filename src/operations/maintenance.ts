/** The maintenance run: what is due goes to the manager, what comes back is tried, and goes through the inbox. */
import { setImmediate } from "node:timers/promises";
import type { Evidence } from "../model/episode.js";
import type { ToolKey } from "../model/ids.js";
import { Fault } from "../model/fault.js";
import {
  EDIT_OUTCOMES,
  MAINTENANCE_MODES,
  type MaintenanceComparison,
  type MaintenanceOptions,
  type MaintenanceReport,
  type MaintenanceRun,
  type MaintenanceTally,
  type ModeOutcome,
  type ProposedEdit,
} from "../model/maintenance.js";
import { proposeByRules } from "../maintain/propose.js";
import type { Event } from "../model/event.js";
import type { Proof } from "../model/ports.js";
import { maintenanceInput } from "../world/due.js";
import { outlookOf } from "../world/outlook.js";
import { frozenQueries, openTrial, type FrozenQuery } from "../world/trial.js";
import type { World } from "../world/world.js";
import type { Desk } from "./desk.js";
import { lookAtLineage, probeEdits, type Looks } from "./lineage-looks.js";
import { follow, runUnderWay, runWatched, type Step, type Tell } from "./maintenance-runs.js";
import { openProber, type Prober } from "./probe.js";
import { readProofs } from "./proofs.js";

type Proposed = Extract<Event, { kind: "maintenance-proposed" }>;

export function maintain(desk: Desk, options: MaintenanceOptions, tell?: Tell): Promise<MaintenanceRun> {
  const isFrozen = options.mode === "frozen";
  if (isFrozen && (options.accept ?? []).length > 0)
    throw new Fault("input-invalid", "A frozen run changes nothing: `accept` goes with the mode incremental or rebuild.");
  const id = desk.chance.id("mt_");
  return runWatched(desk.memory.runs, { id, mode: options.mode, tell }, async (step) => {
    await desk.steward.settled();
    const world = desk.steward.world();
    const words = (options.accept ?? []).map(readWord);
    const accept = words.map(({ skill }) => skill);
    const { event } = await propose(desk, world, { id, options: { ...options, accept }, step, told: isFrozen });
    requireAccepted(world, event);
    requireSeen(words, event.edits);
    step("library", 0, 1);
    if (isFrozen) return { ...outlookOf(world, { ...event, dryRun: true }).report, mode: "frozen" };
    const answer = await desk.steward.post(event);
    const report = answer["report"] as unknown as MaintenanceReport;
    if (!options.dryRun) desk.memory.tally = counted(desk.memory.tally, report);
    return report;
  });
}

function counted(tally: MaintenanceTally, report: MaintenanceReport): MaintenanceTally {
  const sums = EDIT_OUTCOMES.map((outcome) => [outcome, tally[outcome] + (report[outcome] ?? []).length] as const);
  return { ...tally, ...Object.fromEntries(sums), runs: tally.runs + 1 };
}

/** A name that neither a skill nor a proposal has accepts nothing: it is told before anything is applied. */
function requireAccepted(world: World, { accept, edits }: Proposed): void {
  const known = new Set<string>([...world.library.skills.keys(), ...edits.map(({ skill }) => skill)]);
  const unknown = accept.filter((name) => name !== "*" && !known.has(name));
  if (unknown.length > 0)
    throw new Fault(
      "input-invalid",
      `\`accept\` names ${unknown.join(", ")}, which no skill of the library and no proposal is; a dry run shows what is proposed.`,
    );
}

/** A person's word on a skill; `seen`: on the edit alone whose signature begins so, as it was shown. */
interface Word {
  readonly skill: string;
  readonly seen: string | undefined;
}

/** `skill`, or `skill@signature` with at least so many characters of it. */
const SEEN_LEAST = 12;

function readWord(text: string): Word {
  const at = text.indexOf("@");
  if (at < 0) return { skill: text, seen: undefined };
  const word = { skill: text.slice(0, at), seen: text.slice(at + 1) };
  if (word.seen.length >= SEEN_LEAST) return word;
  const why = `\`accept\` names ${text}: after the @ come at least ${SEEN_LEAST} characters of the proposal's signature, as it is shown with it.`;
  throw new Fault("input-invalid", why);
}

/** Who accepts what was shown accepts nothing else: the catalog or the evidence may have moved since. */
function requireSeen(words: readonly Word[], edits: Proposed["edits"]): void {
  for (const { skill, seen } of words) {
    if (seen === undefined) continue;
    const now = edits.filter((edit) => edit.skill === skill && edit.files !== undefined).map(({ signature }) => signature);
    if (now.length > 0 && now.every((signature) => signature.startsWith(seen))) continue;
    const is = now.length === 0 ? "nothing is proposed for it now" : `${now.join(", ")} is proposed now`;
    throw new Fault(
      "approval-stale",
      `What was shown for ${skill} (${seen}) is not what is proposed: ${is}. Nothing was changed; \`steward maintain --dry-run\` shows it.`,
      { skill, seen, now },
    );
  }
}

/** Every mode on the same moment, as it would be decided; nothing is posted, so nothing is applied or kept. */
export async function compareModes(desk: Desk, tell?: Tell): Promise<MaintenanceComparison> {
  await desk.steward.settled();
  const world = desk.steward.world();
  const modes: ModeOutcome[] = [];
  for (const mode of MAINTENANCE_MODES) {
    const id = desk.chance.id("mt_");
    const began = desk.clock.elapsedMs();
    const step: Step = (phase, done, of, skill) =>
      tell?.({ run: id, mode, phase, done, of, ...(skill === undefined ? {} : { skill }) });
    const { event, proofs } = await propose(desk, world, { id, options: { mode, dryRun: false }, step, told: true });
    const ms = Math.round(desk.clock.elapsedMs() - began);
    const { report, after } = outlookOf(world, event);
    const isFrozen = mode === "frozen";
    modes.push({
      mode,
      edits: isFrozen ? [] : report.applied.map(({ kind, skill, cause }) => ({ kind, skill, cause })),
      skipped: isFrozen ? 0 : (report.skipped ?? []).length,
      proposed: isFrozen ? 0 : report.proposed.length,
      refused: isFrozen ? 0 : report.refused.length,
      tokens: report.tokens,
      ms,
      effect: await effectOn(isFrozen ? world : after, frozenQueries(world, proofs)),
    });
  }
  return { basis: { catalog: world.catalog.version, library: world.library.revision }, modes };
}

async function effectOn(world: World, queries: readonly FrozenQuery[]): Promise<ModeOutcome["effect"]> {
  const standings = [...world.standings.values()];
  const trial = openTrial(world, queries);
  const tasks = { asked: queries.length, whole: 0, tools: 0, shown: 0 };
  for (const query of queries) {
    const shown = trial.served(query).size;
    tasks.tools += query.needs.size;
    tasks.shown += shown;
    if (shown === query.needs.size) tasks.whole += 1;
    await setImmediate();
  }
  const active = standings.filter((standing) => standing.standing === "active");
  return {
    active: active.length,
    resting: standings.length - active.length,
    needsReview: active.filter((standing) => standing.needsReview).length,
    tasks,
  };
}

/**
 * What is due goes to the manager, what comes back is tried: the event that would apply it. In a frozen run rules alone are asked; no
 * upstream is called where it is only `told`.
 */
async function propose(
  desk: Desk,
  world: World,
  {
    id,
    options,
    step,
    told,
  }: { readonly id: string; readonly options: MaintenanceOptions; readonly step: Step; readonly told: boolean },
): Promise<{ event: Proposed; proofs: readonly Proof[] }> {
  const at = desk.clock.now();
  const accept = options.accept ?? [];
  const mode = options.mode === "frozen" ? "incremental" : options.mode;
  const proofs = await readProofs(desk, world);
  const begunMs = desk.clock.elapsedMs();
  // What is only told shows what would be done; calling upstreams would be doing it.
  const prober = told || options.dryRun || world.policy.probeCalls === 0 ? undefined : openProber(desk, world);
  const isFrozen = options.mode === "frozen";
  step("lineage", 0, 0);
  const looks: Looks = isFrozen
    ? { verdicts: [], unjudged: [], tokens: 0, lineage: world.lineage }
    : await lookAtLineage(desk, world, proofs, at, prober);
  const judged = { ...world, lineage: looks.lineage };
  const spent = { tokens: looks.tokens, ms: desk.clock.elapsedMs() - begunMs };
  const input = { ...maintenanceInput(judged, mode, at, proofs, accept), spent };
  step("edits", 0, input.due.length);
  const { edits: proposed, tokens } = isFrozen
    ? { edits: proposeByRules(input), tokens: { used: 0, rebuildEstimate: 0 } }
    : await desk.manager.proposeEdits(input, (done, of, skill) => step("edits", done, of, skill));
  const edits = prober === undefined ? proposed : await probeEdits(prober, world, judged.lineage, proposed, proofs);
  const findings = await tryEdits(judged, edits, proofs, accept, step);
  const event: Proposed = {
    kind: "maintenance-proposed",
    at,
    id,
    mode,
    dryRun: options.dryRun,
    basis: { catalog: world.catalog.version, library: world.library.revision },
    edits,
    accept,
    recorded: citedBy(edits, proofs),
    findings,
    lineage: looks.verdicts,
    unjudged: looks.unjudged,
    notes: [
      ...notesOnAccepted(accept, edits),
      ...notesOn(proofs),
      ...notesOnProbes(prober),
      ...(isFrozen ? [] : notesOnManager(desk)),
    ],
    tokens,
  };
  return { event, proofs };
}

/** What rules would do on a world that is nobody's, by the same gate and trial; nothing is written. */
export async function rehearseMaintenance(world: World, proofs: readonly Proof[], at: string): Promise<MaintenanceReport> {
  const edits = editsByRules(world, proofs, at);
  return outlookOf(world, {
    kind: "maintenance-proposed",
    at,
    id: "mt_foreseen",
    mode: "incremental",
    dryRun: true,
    basis: { catalog: world.catalog.version, library: world.library.revision },
    edits,
    accept: [],
    recorded: citedBy(edits, proofs),
    findings: await tryEdits(world, edits, proofs, [], () => undefined),
    tokens: { used: 0, rebuildEstimate: 0 },
  }).report;
}

export function editsByRules(world: World, proofs: readonly Proof[], at: string): readonly ProposedEdit[] {
  return proposeByRules(maintenanceInput(world, "incremental", at, proofs));
}

/** Frozen queries, edit by edit, with a turn of the event loop between: agents are answered meanwhile. */
async function tryEdits(
  world: World,
  edits: readonly ProposedEdit[],
  proofs: readonly Proof[],
  accept: readonly string[],
  step: Step,
): Promise<Map<string, readonly string[]>> {
  const findings = new Map<string, readonly string[]>();
  // What is only shown to a person is tried when the person takes it.
  const wanted = edits.filter(
    (edit) => edit.files !== undefined && (edit.certain || accept.includes("*") || accept.includes(edit.skill)),
  );
  const queries = wanted.length === 0 ? [] : frozenQueries(world, proofs);
  if (queries.length === 0) return findings;
  if (await standTogether(world, wanted, queries, (done) => step("trial", done, queries.length))) return findings;
  const trial = openTrial(world, queries);
  for (const [n, edit] of wanted.entries()) {
    step("trial", n, wanted.length, edit.skill);
    const found = trial.judge(edit);
    if (found.length > 0) findings.set(edit.signature, found);
    await setImmediate();
  }
  return findings;
}

/** A person who accepts has seen something: where there is nothing of it any more, silence would read as done. */
function notesOnAccepted(accept: readonly string[], edits: readonly ProposedEdit[]): string[] {
  const named = new Set<string>(edits.map(({ skill }) => skill));
  const idle = accept.filter((name) => name !== "*" && !named.has(name));
  return idle.length === 0 ? [] : [`Nothing is proposed now for ${idle.join(", ")}: there was nothing to accept.`];
}

/** What agents say of themselves is told, and that it was not taken for more. */
function notesOn(proofs: readonly Proof[]): string[] {
  const claims = proofs.filter((proof) => proof.weight === "claim");
  if (claims.length === 0) return [];
  const agents = new Set(claims.map((proof) => proof.claimant ?? "")).size;
  return [
    `${claims.length} episodes end in an agent's own claim of success (${agents === 1 ? "one agent" : `${agents} agents`}) and were not verified: nothing is applied on their word. \`steward episodes verify\` makes one evidence.`,
  ];
}

/** A run whose configured model did not answer was a run by rules: whoever reads its report has to know. */
function notesOnManager(desk: Desk): string[] {
  const { kind, model, state, why, againAt } = desk.manager.status();
  if (kind === "rules" || state === "reachable" || state === "not asked") return [];
  const again = againAt === undefined ? "" : ` It is asked again from ${againAt}.`;
  return [`Rules decided where the model ${model ?? ""} should have: ${why ?? state}.${again}`];
}

function notesOnProbes(prober: Prober | undefined): string[] {
  const calls = prober?.calls() ?? 0;
  return calls === 0 ? [] : [`${calls} recorded ${calls === 1 ? "call was" : "calls were"} tried again on tools that only read.`];
}

/**
 * Edits of one run belong together: a plan makes up for what one of its skills alone would narrow. Only where all of them together cost
 * a task something is each judged by itself.
 */
async function standTogether(
  world: World,
  edits: readonly ProposedEdit[],
  queries: readonly FrozenQuery[],
  tell: (done: number) => void,
): Promise<boolean> {
  const trial = openTrial(world, queries);
  const before = new Map<FrozenQuery, ReadonlySet<ToolKey>>();
  for (const query of queries) {
    before.set(query, trial.served(query));
    await setImmediate();
  }
  for (const edit of edits) trial.apply(edit);
  let done = 0;
  for (const [query, had] of before) {
    tell(done++);
    const now = trial.served(query);
    if ([...had].some((key) => !now.has(key))) return false;
    await setImmediate();
  }
  return true;
}

function citedBy(edits: readonly ProposedEdit[], proofs: readonly Proof[]): Map<string, Evidence> {
  const cited = new Set(edits.flatMap((edit) => edit.contract?.evidence.map(({ trajectory }) => trajectory) ?? []));
  return new Map(proofs.filter((proof) => cited.has(proof.digest)).map((proof) => [proof.digest, proof.evidence]));
}

export async function listReports(desk: Desk): Promise<MaintenanceReport[]> {
  return [...(await desk.store.listReports())].map(skipsApart).sort((a, b) => (a.at < b.at ? 1 : -1));
}

export async function readReport(desk: Desk, id: string, tell?: Tell): Promise<MaintenanceRun> {
  const running = runUnderWay(desk.memory.runs, id);
  if (running !== undefined) return follow(running, tell);
  const report = await desk.store.readReport(id);
  if (report === undefined) throw new Fault("report-unknown", `There is no maintenance run ${id}.`);
  return skipsApart(report);
}

/** Reports written before looks without an edit were told apart have them among what was applied. */
function skipsApart(report: MaintenanceReport): MaintenanceReport {
  if (report.skipped !== undefined) return report;
  const isLook = ({ kind }: { readonly kind: string }): boolean => kind === "skip" || kind === "keep";
  return {
    ...report,
    applied: report.applied.filter((edit) => !isLook(edit)),
    skipped: report.applied.filter(isLook),
  };
}
