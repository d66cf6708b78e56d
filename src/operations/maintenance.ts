/** The maintenance run: what is due goes to the manager, what comes back goes through the inbox. */
import { Fault } from "../model/fault.js";
import type { MaintenanceReport } from "../model/maintenance.js";
import { maintenanceInput } from "../world/due.js";
import type { Desk } from "./desk.js";

export async function maintain(
  desk: Desk,
  options: { mode: "incremental" | "rebuild"; dryRun: boolean; accept?: readonly string[] },
): Promise<MaintenanceReport> {
  await desk.steward.settled();
  const world = desk.steward.world();
  const basis = { catalog: world.catalog.version, library: world.library.revision };
  const at = desk.clock.now();
  const { edits, tokens } = await desk.manager.proposeEdits(maintenanceInput(world, options.mode, at));
  const answer = await desk.steward.post({
    kind: "maintenance-proposed",
    at,
    id: desk.chance.id("mt_"),
    mode: options.mode,
    dryRun: options.dryRun,
    basis,
    edits,
    accept: options.accept ?? [],
    tokens,
  });
  return answer["report"] as unknown as MaintenanceReport;
}

export async function listReports(desk: Desk): Promise<MaintenanceReport[]> {
  return [...(await desk.store.listReports())].sort((a, b) => (a.at < b.at ? 1 : -1));
}

export async function readReport(desk: Desk, id: string): Promise<MaintenanceReport> {
  const report = await desk.store.readReport(id);
  if (report === undefined) throw new Fault("report-unknown", `There is no maintenance run ${id}.`);
  return report;
}
