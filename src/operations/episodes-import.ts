/**
 * Episodes of other programs, taken in: names become tool keys, secrets go, flows are traced, and a trusted outcome becomes evidence.
 *
 * The id of an imported episode is a function of what it says: the same log read twice is taken once.
 */
import { canonicalJson, sha256 } from "../catalog/canonical.js";
import { nameCall, unknownNames, type NameSpace } from "../evidence/names.js";
import type { CallLine, Episode, Outcome } from "../model/episode.js";
import { callLineFormat, episodeFormat, isVerified } from "../model/episode.js";
import { Fault } from "../model/fault.js";
import type { ExposedName, ToolKey } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import type { Caller } from "../model/operations.js";
import type { ImportAnswer, ImportRequest, RecordedCall, RecordedEpisode } from "../model/recorded.js";
import { flowsInto, remember, shapeOf, type FlowMemory } from "../world/flows.js";
import type { World } from "../world/world.js";
import type { Desk } from "./desk.js";
import { hearVerdict, verdictAgain, type Again } from "./episodes-again.js";

/** The memory of an import's values ends with it: nobody can lay anything beside its hashes. */
const HASH_KEY = "import";

/** Episodes written with one decision: a log of any size is never one batch. */
const AT_ONCE = 32;

export async function importEpisodes(desk: Desk, request: ImportRequest, caller: Caller): Promise<ImportAnswer> {
  const world = desk.steward.world();
  const space = nameSpace(world, request);
  refuseUnknownLabel(world, request.server);
  const unknown = new Map<string, number>();
  const answer = {
    imported: [] as string[],
    known: 0,
    verdicts: { taken: [] as string[], left: [] as ImportAnswer["verdicts"]["left"] },
    skipped: [] as ImportAnswer["skipped"],
    calls: { taken: 0, left: 0 },
    verified: 0,
  };
  const taken: { episode: Episode; calls: CallLine[] }[] = [];
  const heard: Extract<Again, { kind: "taken" }>[] = [];
  const seen = new Set<string>();
  for (const recorded of request.episodes) {
    const made = takeEpisode(desk, world, recorded, space, unknown, caller);
    answer.calls.taken += made.calls.length;
    answer.calls.left += made.left;
    if (made.calls.length === 0) {
      answer.skipped.push({ source: recorded.source, why: "none of its calls is of a tool of the catalog" });
    } else if (world.episodes.has(made.episode.episode) || seen.has(made.episode.episode)) {
      answer.known += 1;
      const again = seen.has(made.episode.episode) ? undefined : await verdictAgain(desk, world, made);
      if (again?.kind === "left") answer.verdicts.left.push({ episode: again.episode, why: again.why });
      else if (again !== undefined) {
        answer.verdicts.taken.push(again.episode);
        heard.push(again);
      }
      seen.add(made.episode.episode);
    } else {
      seen.add(made.episode.episode);
      taken.push(made);
      answer.imported.push(made.episode.episode);
      if (isVerified(made.episode.outcome)) answer.verified += 1;
    }
  }
  if (request.dryRun !== true) {
    for (const again of heard) await hearVerdict(desk, again);
    for (let at = 0; at < taken.length; at += AT_ONCE)
      await desk.steward.post({ kind: "episodes-imported", at: desk.clock.now(), episodes: taken.slice(at, at + AT_ONCE) });
  }
  return { ...answer, unknown: unknownNames(unknown, space) };
}

function nameSpace(world: World, request: ImportRequest): NameSpace {
  const { tools, departed } = world.catalog;
  return {
    has: (key) => tools.has(key) || departed.has(key),
    exposed: (name) => world.exposed.get(name as ExposedName),
    labelsWith: (name) => [...tools.values()].filter((tool) => tool.name === name).map((tool) => tool.label),
    server: request.server,
    map: request.map ?? {},
  };
}

function refuseUnknownLabel(world: World, server: string | undefined): void {
  if (server === undefined) return;
  const labels = new Set([...world.catalog.tools.values()].map((tool) => tool.label as string));
  for (const key of world.catalog.departed.keys()) labels.add(key.slice(0, key.indexOf("/")));
  if (labels.has(server)) return;
  const known = [...labels].sort().join(", ") || "none: no upstream has been listed yet";
  throw new Fault("input-invalid", `No tool of the catalog has the label ${server}; there are ${known}.`, { server });
}

interface Taken {
  readonly episode: Episode;
  readonly calls: CallLine[];
  readonly left: number;
}

function takeEpisode(
  desk: Desk,
  world: World,
  recorded: RecordedEpisode,
  space: NameSpace,
  unknown: Map<string, number>,
  caller: Caller,
): Taken {
  const named: { key: ToolKey; call: RecordedCall; index: number }[] = [];
  let left = 0;
  recorded.calls.forEach((call, index) => {
    const found = nameCall(call, space);
    if (found.kind === "tool") named.push({ key: found.key, call: found.call, index });
    else if (found.kind === "unknown") {
      left += 1;
      unknown.set(found.name, (unknown.get(found.name) ?? 0) + 1);
    }
  });
  const at = instantOf(recorded.at) ?? desk.clock.now();
  const task = String(desk.redact(recorded.task).value);
  const id = recorded.id ?? idOf(task, recorded, named);
  const calls = linesOf(desk, world, id, at, named);
  const outcome: Outcome | undefined =
    recorded.outcome === undefined ? undefined : { ...recorded.outcome, by: `import by ${caller.principal}`, at };
  const episode: Episode = {
    format: episodeFormat.id,
    episode: id,
    opened: at,
    moved: at,
    task,
    explicit: true,
    principal: "import",
    session: recorded.source,
    turn: 0,
    explored: 0,
    skillChars: 0,
    views: [],
    calls: calls.length,
    tools: [...new Set(calls.map((call) => call.tool))],
    ...(outcome === undefined ? {} : { outcome }),
  };
  return { episode, calls, left };
}

function idOf(task: string, recorded: RecordedEpisode, named: readonly { key: ToolKey; call: RecordedCall }[]): string {
  const said = { task, source: recorded.source, calls: named.map(({ key, call }) => [key, call.args, call.result ?? null]) };
  return `ep_${sha256(canonicalJson(said as unknown as JsonValue)).slice(0, 26)}`;
}

function linesOf(
  desk: Desk,
  world: World,
  episode: string,
  at: string,
  named: readonly { key: ToolKey; call: RecordedCall; index: number }[],
): CallLine[] {
  // Calls that are left out leave a hole in the numbers of a log of ours: its flows speak of the old ones.
  const seqOf = new Map(named.map(({ index }, n) => [index + 1, n + 1]));
  const memory: FlowMemory = new Map();
  return named.map(({ key, call }, n): CallLine => {
    const redacted = desk.redact(call.args);
    const data = call.result ?? null;
    const flows = call.flows === undefined ? flowsInto(call.args, memory, HASH_KEY) : renumbered(call.flows, seqOf);
    if (call.result !== undefined && call.isError !== true) remember(memory, { seq: n + 1, tool: key }, data, HASH_KEY);
    return {
      format: callLineFormat.id,
      at: instantOf(call.at) ?? at,
      episode,
      seq: n + 1,
      tool: key,
      contract: world.catalog.tools.get(key)?.digests.contract ?? world.catalog.departed.get(key)?.contract ?? "",
      args: redacted.value,
      redacted: [...new Set([...(call.redacted ?? []), ...redacted.paths])],
      isError: call.isError === true,
      bytes: call.result === undefined ? 0 : Buffer.byteLength(JSON.stringify(data)),
      shape: call.shape ?? (call.result === undefined ? [] : shapeOf(data)),
      flows,
      ms: 0,
      ...(call.result !== undefined && world.policy.evidenceKeep === "full" ? { result: desk.redact(data).value } : {}),
    };
  });
}

function renumbered(flows: CallLine["flows"], seqOf: ReadonlyMap<number, number>): CallLine["flows"] {
  return flows.flatMap(({ to, from }) => {
    const seq = seqOf.get(from.seq);
    return seq === undefined ? [] : [{ to, from: { ...from, seq } }];
  });
}

/** Foreign clocks: what is no time is not taken for one. */
function instantOf(text: string | undefined): string | undefined {
  const at = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
