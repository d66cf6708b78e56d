/** Operations on the catalog: the present and past versions, drift, lineage, approvals, sync. */
import { causes, diffCatalogs } from "../catalog/drift.js";
import { stateOfLink } from "../catalog/lineage.js";
import type { Catalog } from "../model/catalog.js";
import { skillsReaching } from "../graph/reach.js";
import { Fault } from "../model/fault.js";
import { splitToolKey, type ToolKey, type UpstreamLabel } from "../model/ids.js";
import type { JsonObject } from "../model/json.js";
import type { LineageLink } from "../model/lineage.js";
import type {
  Caller,
  CatalogAnswer,
  CatalogTool,
  DriftAnswer,
  JudgedLink,
  ShownLink,
  StatedTakeover,
  TakenBack,
  TakeoverInput,
} from "../model/operations.js";
import { reaches, type Reach } from "../model/reach.js";
import type { Tool } from "../model/tool.js";
import { compactSignature } from "../provision/signature.js";
import { nameOf } from "../world/advance.js";
import { heldBetween } from "../world/compare.js";
import { marksOf } from "../world/turn.js";
import { neighboursIn, releasedBy } from "../world/weigh-holds.js";
import { problemsWithin } from "../world/reach.js";
import type { World } from "../world/world.js";
import type { Desk } from "./desk.js";
import { catalogAt } from "./versions.js";

export async function readCatalog(desk: Desk, at: number | undefined, reach?: Reach): Promise<CatalogAnswer> {
  const world = desk.steward.world();
  const catalog = at === undefined || at === world.catalog.version ? world.catalog : await catalogAt(desk, at);
  const present = catalog === world.catalog;
  return {
    version: catalog.version,
    digest: catalog.digest,
    time: catalog.time,
    tools: [...catalog.tools.values()]
      .filter((tool) => reaches(reach, tool.label))
      .map((tool) => shownTool(world, tool, present)),
    problems: present ? problemsWithin(world, [...world.intake.values()].flat(), reach) : [],
  };
}

function shownTool(world: World, tool: Tool, present: boolean): CatalogTool {
  return {
    tool: tool.key,
    name: nameOf(world, tool.key),
    title: tool.title,
    description: tool.description,
    signature: compactSignature(tool),
    annotations: tool.annotations,
    digests: tool.digests,
    marks: present ? marksOf(world, tool.key) : [],
  };
}

/** The drift between two versions; by default between the last two that there are. */
export async function readDrift(desk: Desk, options: { from?: number; to?: number }): Promise<DriftAnswer> {
  const world = desk.steward.world();
  const to = options.to ?? world.catalog.version;
  const from = options.from ?? (await desk.store.keptVersions()).kept.findLast((version) => version < to) ?? 0;
  const [before, after] = [await catalogAt(desk, from), await catalogAt(desk, to)];
  const drift = diffCatalogs(before, after);
  const moved = new Set<ToolKey>([...drift.added, ...drift.removed, ...drift.changed]);
  // Going back nobody took over: links lead forward.
  const links = [...world.lineage.values()].filter((link) => link.atVersion > from && link.atVersion <= to);
  const skills = skillsReaching(world.graph, moved).sort();
  return {
    ...drift,
    lineage: links,
    causes: causes(drift),
    held: heldRows(world, { before, after, moved, links }),
    skills: skills.flatMap((skill) => {
      const standing = world.standings.get(skill);
      return standing === undefined ? [] : [{ skill, standing }];
    }),
  };
}

interface Between {
  readonly before: Catalog;
  readonly after: Catalog;
  readonly moved: ReadonlySet<ToolKey>;
  readonly links: readonly LineageLink[];
}

/** What the change between the two held, and what became of that since; and what of it is held now, measured from an earlier version. */
function heldRows(world: World, { before, after, moved, links }: Between): DriftAnswer["held"] {
  const known = (key: ToolKey): Tool | undefined => before.tools.get(key);
  const steps = links.filter(({ from }) => known(from as ToolKey) !== undefined);
  const lineage = steps.map(({ from, to, level, confirmed }) => ({
    tool: from,
    to,
    level: confirmed === undefined ? level : "certain",
  }));
  const policy = { holdOnTextChange: world.policy.holdOnTextChange, neighbours: neighboursIn(world) };
  const then = heldBetween(before, after, lineage, policy);
  const now = Object.keys(world.holds.held).filter((key) => moved.has(key as ToolKey) && world.catalog.tools.has(key as ToolKey));
  return [...new Set([...Object.keys(then), ...now])].sort().map((tool) => {
    const { reasons, predecessor } = then[tool] ?? world.holds.held[tool] ?? { reasons: [], predecessor: undefined };
    return { tool, reasons, now: stateOf(world, tool as ToolKey, predecessor) };
  });
}

function stateOf(world: World, tool: ToolKey, predecessor: string | undefined): DriftAnswer["held"][number]["now"] {
  if (!world.catalog.tools.has(tool)) return "gone";
  if (world.holds.held[tool] !== undefined) return "held";
  if (world.holds.approved[tool] !== undefined) return "approved";
  const isRejected = [...world.lineage.values()].some(
    (link) => link.from === predecessor && link.to.includes(tool) && link.rejected !== undefined,
  );
  return isRejected ? "rejected" : "released";
}

export async function judgeLineage(
  desk: Desk,
  asked: string,
  verdict: "confirm" | "reject",
  caller: Caller,
): Promise<JudgedLink> {
  const world = desk.steward.world();
  const { id } = findLink(world, asked);
  if (verdict === "reject") refuseRelease(world, id, caller);
  const answer = await desk.steward.post({
    kind: "lineage-judged",
    at: desk.clock.now(),
    by: caller.principal,
    link: id,
    verdict,
  });
  return { ...findLink(desk.steward.world(), id), ...weighedBy(answer), skills: takenBack(answer) };
}

/** All links with what is of each now, in the order of versions. */
export function listLinks(desk: Desk): ShownLink[] {
  const { lineage } = desk.steward.world();
  return [...lineage.values()]
    .sort((a, b) => a.atVersion - b.atVersion || (a.from < b.from ? -1 : 1))
    .map((link) => shownLink(desk, link));
}

export function shownLink(desk: Desk, link: LineageLink): ShownLink {
  const { catalog, lineage } = desk.steward.world();
  return { ...link, now: stateOfLink(link, catalog, lineage) };
}

/** A person says what took over from tools that left, or corrects what a known takeover maps and fixes. */
export async function stateTakeover(desk: Desk, input: TakeoverInput, caller: Caller): Promise<StatedTakeover> {
  const stood = await toolsBeside(desk, input.from);
  const answer = await desk.steward.post({
    kind: "takeover-stated",
    at: desk.clock.now(),
    by: caller.principal,
    ...input,
    stood,
  });
  const { links, remarks, marked } = answer as unknown as { links: string[]; remarks: string[]; marked: string[] };
  const world = desk.steward.world();
  return {
    links: links.map((id) => findLink(world, id)),
    remarks,
    ...weighedBy(answer),
    skills: { ...takenBack(answer), marked },
  };
}

/** Of each version that was the last to have one of these tools, the tools it had; one that is not kept or is damaged tells nothing. */
async function toolsBeside(desk: Desk, asked: readonly string[]): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const named = [...desk.steward.world().catalog.departed].filter(
    ([key]) => asked.includes(key) || asked.includes(splitToolKey(key).name),
  );
  const last = new Set(named.map(([, { lastVersion }]) => lastVersion));
  const stood = new Map<number, ReadonlySet<string>>();
  for (const version of last) {
    const manifest = await desk.store.readManifest(version);
    if (manifest !== undefined) stood.set(version, new Set(Object.keys(manifest.tools)));
  }
  return stood;
}

/** A takeover that holds a tool keeps it from agents until somebody with the right to approve says otherwise, in whatever words. */
function refuseRelease(world: World, id: string, caller: Caller): void {
  if (caller.rights.has("approve")) return;
  const freed = releasedBy(world, id, caller.principal);
  if (freed.length > 0)
    throw new Fault("forbidden", `Rejecting ${id} would release ${freed.join(", ")}, which takes the right approve.`, {
      rights: ["approve"],
    });
}

/** Tools whose hold began or ended, as a decision answered it. */
function weighedBy(answer: JsonObject): Pick<JudgedLink, "held" | "released"> {
  const { held = [], released = [] } = answer as unknown as Partial<JudgedLink>;
  return { held, released };
}

/** As a decision answered it. */
export function takenBack(answer: JsonObject): TakenBack {
  const { changed = [], resting = [] } = answer as unknown as Partial<TakenBack>;
  return { changed, resting };
}

/** A link by its id, or by the beginning of one that no other has. */
export function findLink(world: World, asked: string): LineageLink {
  const exact = world.lineage.get(asked);
  if (exact !== undefined) return exact;
  const like = asked.length < 4 ? [] : [...world.lineage.values()].filter((link) => link.id.startsWith(asked));
  const [only, ...more] = like;
  if (only !== undefined && more.length === 0) return only;
  const why = only === undefined ? "" : ` Several begin so: ${like.map((link) => link.id).join(", ")}.`;
  throw new Fault("lineage-unknown", `There is no link ${asked}.${why} \`steward catalog lineage\` lists them.`);
}

export async function syncCatalog(
  desk: Desk,
  label: string | undefined,
  reach?: Reach,
): Promise<{ version: number; results: { label: string; ok: boolean; reason?: string }[] }> {
  const labels = desk.upstreams
    .status()
    .map((status) => status.label)
    .filter((one) => reaches(reach, one));
  if (label !== undefined && !labels.some((one) => one === label))
    throw new Fault("input-invalid", `There is no upstream ${label}; configured: ${labels.join(", ") || "none"}.`);
  // Who may list everything has changed something, or wants to know: embeddings that failed are asked for again as well.
  if (reach === undefined) desk.embedder.retry();
  const asked = label === undefined && reach !== undefined ? labels : [label as UpstreamLabel | undefined];
  const results = (await Promise.all(asked.map((one) => desk.upstreams.sync(one)))).flat();
  await desk.steward.settled();
  return { version: desk.steward.world().catalog.version, results: results.map((result) => ({ ...result })) };
}
