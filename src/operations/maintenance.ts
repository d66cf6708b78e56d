/** The maintenance run: what is due goes to the manager, what comes back is tried, and goes through the inbox. */
import { setImmediate } from "node:timers/promises";
import type { Evidence } from "../model/episode.js";
import type { ToolKey } from "../model/ids.js";
import { Fault } from "../model/fault.js";
import type { MaintenanceReport, ProposedEdit } from "../model/maintenance.js";
import type { Proof } from "../model/ports.js";
import { maintenanceInput } from "../world/due.js";
import { frozenQueries, openTrial, type FrozenQuery } from "../world/trial.js";
import type { World } from "../world/world.js";
import type { Desk } from "./desk.js";
import { lookAtLineage, probeEdits } from "./lineage-looks.js";
import { openProber, type Prober } from "./probe.js";
import { readProofs } from "./proofs.js";

export async function maintain(
  desk: Desk,
  options: { mode: "incremental" | "rebuild"; dryRun: boolean; accept?: readonly string[] },
): Promise<MaintenanceReport> {
  await desk.steward.settled();
  const world = desk.steward.world();
  const basis = { catalog: world.catalog.version, library: world.library.revision };
  const at = desk.clock.now();
  const proofs = await readProofs(desk, world);
  const begunMs = desk.clock.elapsedMs();
  // A dry run shows what would be done; calling upstreams would be doing it.
  const prober = options.dryRun || world.policy.probeCalls === 0 ? undefined : openProber(desk, world);
  const looks = await lookAtLineage(desk, world, proofs, at, prober);
  const judged = { ...world, lineage: looks.lineage };
  const spent = { tokens: looks.tokens, ms: desk.clock.elapsedMs() - begunMs };
  const input = { ...maintenanceInput(judged, options.mode, at, proofs), spent };
  const { edits: proposed, tokens } = await desk.manager.proposeEdits(input);
  const edits = prober === undefined ? proposed : await probeEdits(prober, world, looks.lineage, proposed, proofs);
  const findings = await tryEdits(judged, edits, proofs, options.accept ?? []);
  const answer = await desk.steward.post({
    kind: "maintenance-proposed",
    at,
    id: desk.chance.id("mt_"),
    mode: options.mode,
    dryRun: options.dryRun,
    basis,
    edits,
    accept: options.accept ?? [],
    recorded: citedBy(edits, proofs),
    findings,
    lineage: looks.verdicts,
    unjudged: looks.unjudged,
    notes: [...notesOn(proofs), ...notesOnProbes(prober)],
    tokens,
  });
  return answer["report"] as unknown as MaintenanceReport;
}

/** Frozen queries, edit by edit, with a turn of the event loop between: agents are answered meanwhile. */
async function tryEdits(
  world: World,
  edits: readonly ProposedEdit[],
  proofs: readonly Proof[],
  accept: readonly string[],
): Promise<Map<string, readonly string[]>> {
  const findings = new Map<string, readonly string[]>();
  const queries = frozenQueries(world, proofs);
  if (queries.length === 0) return findings;
  // What is only shown to a person is tried when the person takes it.
  const wanted = edits.filter(
    (edit) => edit.files !== undefined && (edit.certain || accept.includes("*") || accept.includes(edit.skill)),
  );
  if (await standTogether(world, wanted, queries)) return findings;
  const trial = openTrial(world, queries);
  for (const edit of wanted) {
    const found = trial.judge(edit);
    if (found.length > 0) findings.set(edit.signature, found);
    await setImmediate();
  }
  return findings;
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

function notesOnProbes(prober: Prober | undefined): string[] {
  const calls = prober?.calls() ?? 0;
  return calls === 0 ? [] : [`${calls} recorded ${calls === 1 ? "call was" : "calls were"} tried again on tools that only read.`];
}

/**
 * Edits of one run belong together: a plan makes up for what one of its skills alone would narrow. Only where all of them together cost
 * a task something is each judged by itself.
 */
async function standTogether(world: World, edits: readonly ProposedEdit[], queries: readonly FrozenQuery[]): Promise<boolean> {
  const trial = openTrial(world, queries);
  const before = new Map<FrozenQuery, ReadonlySet<ToolKey>>();
  for (const query of queries) {
    before.set(query, trial.served(query));
    await setImmediate();
  }
  for (const edit of edits) trial.apply(edit);
  for (const [query, had] of before) {
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
  return [...(await desk.store.listReports())].sort((a, b) => (a.at < b.at ? 1 : -1));
}

export async function readReport(desk: Desk, id: string): Promise<MaintenanceReport> {
  const report = await desk.store.readReport(id);
  if (report === undefined) throw new Fault("report-unknown", `There is no maintenance run ${id}.`);
  return report;
}
