/**
 * An agent's tool call: surface → upstream → surface, then handed to the call log (call-log.ts).
 *
 * Nothing of the call is altered on the way; what may stop it (an unknown, held or unoffered tool, arguments that cannot fit) stops it
 * before anything is sent. The call never waits behind the inbox.
 */
import { compareCodePoints } from "../catalog/canonical.js";
import { takeover } from "../catalog/lineage.js";
import { judgeOf, type Judge } from "../catalog/usage.js";
import type { CallAnswer, CallToolInput, Counted } from "../model/facade.js";
import { Fault, Refusal } from "../model/fault.js";
import { splitToolKey, type ExposedName, type ToolKey } from "../model/ids.js";
import type { JsonObject } from "../model/json.js";
import type { Caller } from "../model/operations.js";
import type { CallOptions } from "../model/ports.js";
import { reaches, reachesTool } from "../model/reach.js";
import type { Tool } from "../model/tool.js";
import { pageOf, pagesOf, printInParts } from "../provision/cuts.js";
import { excerptRefusal, excerptResult, refusalBytes, type Whole } from "../provision/excerpt.js";
import { searchTools } from "../retrieve/tools.js";
import { nameOf } from "../world/advance.js";
import { holdWithin } from "../world/reach.js";
import { isOffered, type World } from "../world/world.js";
import { readArguments, sentencesOf } from "./arguments.js";
import type { Answered } from "./call-log.js";
import { pinOf, type CallerPinned } from "./pins.js";
import { chooseEpisode, isOwn, RESULTS_MOST_BYTES, type Desk } from "./desk.js";

export async function callTool(
  desk: Desk,
  input: CallToolInput,
  caller: Caller,
  options: CallOptions & { readonly direct: boolean },
): Promise<Counted<CallAnswer>> {
  const world = desk.steward.world();
  const tool = findTool(world, input.tool, caller, pinOf(desk, world, caller));
  refuseHeld(world, tool, caller);
  const args = readArguments(input.arguments);
  if (!options.direct) refuseMisfits(tool, args, world.policy.resultBytes);
  const episode = chooseEpisode(desk, caller, input.episode);
  const views = world.episodes.get(episode.id)?.views;
  const began = desk.clock.elapsedMs();
  const answered = (how: Pick<Answered, "result" | "bytes" | "fault" | "refused">): void =>
    desk.calls.add({
      at,
      episode: episode.id,
      open: episode.open,
      view: views?.[views.length - 1],
      tool: tool.key,
      contract: tool.digests.contract,
      args,
      ms: desk.clock.elapsedMs() - began,
      ...how,
    });
  const at = desk.clock.now();
  try {
    const { direct: _direct, ...passed } = options;
    const repeatable = tool.annotations.readOnly || tool.annotations.idempotent;
    let bytes: number | undefined;
    const onBytes = (came: number): void => void (bytes = came);
    const result = await desk.upstreams.call({ ...passed, label: tool.label, name: tool.name, args, repeatable, onBytes });
    answered({ result, bytes });
    const cap = world.policy.resultBytes - bytesOfEpisode(episode.id);
    const answer = options.direct ? result : cut(desk, caller, { result, bytes }, cap);
    return { body: { result: answer, tool: tool.key }, episode: episode.id };
  } catch (error) {
    // An upstream that said no has answered: that is evidence of the call, not a fault of ours.
    if (!(error instanceof Refusal)) {
      answered({ fault: error instanceof Fault ? error.code : "bug" });
      throw error;
    }
    answered({ refused: true });
    throw options.direct ? error : cutRefusal(desk, caller, error, world.policy.resultBytes);
  }
}

/** Finds a tool by key or exposed name among what this caller may use. */
export function findTool(world: World, asked: string, caller: Caller, pinned?: CallerPinned): Tool {
  const key = world.catalog.tools.has(asked as ToolKey) ? (asked as ToolKey) : world.exposed.get(asked as ExposedName);
  const tool = key === undefined ? undefined : world.catalog.tools.get(key);
  if (tool === undefined || !reaches(caller.upstreams, tool.label)) throw unknownTool(world, asked, caller, pinned);
  if (pinned?.has(tool.key) === false) {
    throw new Fault("tool-not-offered", outsidePin(tool.key, pinned));
  }
  const presence = world.presence.get(tool.label);
  if (!isOffered(presence)) {
    throw new Fault(
      "tool-not-offered",
      `${tool.key}: its upstream ${tool.label} is ${presence?.state ?? "gone"}${presence?.reason === undefined ? "" : ` (${presence.reason})`}.`,
    );
  }
  return tool;
}

/** Tools that are gone by this key or exposed name; else by this bare name, where no tool that is there has it. */
function goneAs(world: World, asked: string, caller: Caller): ToolKey[] {
  const departed = [...world.catalog.departed.keys()].filter((key) => reachesTool(caller.upstreams, key));
  const named = departed.filter((key) => key === asked || nameOf(world, key) === asked);
  if (named.length > 0) return named;
  for (const tool of world.catalog.tools.values()) if (tool.name === asked) return [];
  return departed.filter((key) => splitToolKey(key).name === asked).sort(compareCodePoints);
}

function outsidePin(what: string, { version, ends }: CallerPinned): string {
  return `${what} is not of catalog version ${version}, to which you are pinned; ${ends}.`;
}

function unknownTool(world: World, asked: string, caller: Caller, pinned: CallerPinned | undefined): Fault {
  const within = (key: string): boolean => reachesTool(caller.upstreams, key);
  const gone = goneAs(world, asked, caller);
  const successors = gone.flatMap((key) => takeover(world.catalog, key, world.lineage) ?? []);
  if (gone.length > 0 && successors.length === gone.length && successors.every(({ to }) => to.every(within))) {
    const told = successors.map(
      ({ to, level }, n) => `${gone[n] ?? asked} left the catalog; ${to.join(" and ")} took over (${level}).`,
    );
    const heirs = [...new Set(successors.flatMap(({ to }) => to))];
    const instead = heirs.filter((key) => pinned?.has(key) !== false);
    // What the pin keeps from this caller is named, since it explains, and not recommended, since it would be refused.
    for (const key of heirs) if (pinned?.has(key) === false) told.push(outsidePin(key, pinned));
    return new Fault("tool-unknown", told.join(" "), {
      asked,
      instead,
      certain: successors.every((one) => one.level === "certain"),
    });
  }
  const offered = (key: ToolKey): boolean => {
    const tool = world.catalog.tools.get(key);
    return tool !== undefined && within(key) && pinned?.has(key) !== false && isOffered(world.presence.get(tool.label));
  };
  const near = searchTools(world.toolIndex, asked.replace(/[/_.-]+/g, " "), { limit: 3, offered }).hits.map((hit) => hit.key);
  const waiting = [...world.presence]
    .filter(([label, presence]) => presence.state === "connecting" && reaches(caller.upstreams, label))
    .map(([label]) => label);
  const parts = [
    near.length > 0 ? `Did you mean ${near.join(", ")}?` : "retrieve_tools finds tools by what they do.",
    waiting.length > 0 ? `Still connecting: ${waiting.join(", ")}.` : "",
  ];
  const what = gone.length === 0 ? `${asked} is not known.` : `${gone.join(" and ")} left the catalog.`;
  return new Fault("tool-unknown", `${what} ${parts.join(" ")}`.trim(), { asked, suggestions: near });
}

function refuseHeld(world: World, tool: Tool, caller: Caller): void {
  const hold = world.holds.held[tool.key];
  const told = holdWithin(world, tool.key, caller.upstreams);
  if (hold === undefined || told === undefined) return;
  const why = told.reasons.map((reason) => reason.text).join(" ");
  throw new Fault("tool-held", `${tool.key}: ${why} Approve it with \`steward catalog approve ${tool.key}\`.`, {
    tool: tool.key,
    reasons: told.reasons.map(({ rule, text }) => ({ rule, text })),
    ...(told.from === undefined ? {} : { from: { ...told.from } }),
    to: { ...hold.to },
  });
}

/** Reading a schema costs more than using it: once per definition of a tool. */
const judges = new WeakMap<Tool, Judge>();

function judgeFor(tool: Tool): Judge {
  const known = judges.get(tool);
  if (known !== undefined) return known;
  const judge = judgeOf(tool.inputSchema);
  judges.set(tool, judge);
  return judge;
}

/** `capBytes`: what the answer may take. It says data twice and once more as text, so a large schema is not in it. */
function refuseMisfits(tool: Tool, args: JsonObject, capBytes: number): void {
  const judge = judgeFor(tool);
  if (judge.accepts(args) !== false) return;
  const wrong = sentencesOf(judge.misfits(args));
  const isSmall = Buffer.byteLength(JSON.stringify(tool.inputSchema)) <= capBytes / 8;
  const where = isSmall ? "The input schema is in the data." : "describe_tools shows the input schema.";
  throw new Fault("arguments-invalid", `${tool.key}: ${wrong.join(" ")} Nothing was called. ${where}`, {
    tool: tool.key,
    wrong,
    ...(isSmall ? { inputSchema: tool.inputSchema } : {}),
  });
}

/** Bytes that a surface adds when it names the call's episode in `_meta`. */
function bytesOfEpisode(id: string): number {
  return 40 + Buffer.byteLength(JSON.stringify(id));
}

/** A result that came in more than this is printed in parts, which are weighed as they are printed. */
const LARGE_BYTES = 1024 * 1024;

/** `bytes`: what the result came in, where that is known. */
function cut(
  desk: Desk,
  caller: Caller,
  { result, bytes: came = 0 }: { readonly result: JsonObject; readonly bytes: number | undefined },
  capBytes: number,
): JsonObject {
  if (came > LARGE_BYTES) {
    const whole = printInParts(result);
    return whole.bytes <= capBytes ? result : excerptResult(result, { ...whole, ...keep(desk, caller, whole.text) }, capBytes);
  }
  const text = JSON.stringify(result);
  // No character takes more than three bytes.
  if (text.length * 3 <= capBytes || Buffer.byteLength(text) <= capBytes) return result;
  return excerptResult(result, keep(desk, caller, text), capBytes);
}

function cutRefusal(desk: Desk, caller: Caller, refusal: Refusal, capBytes: number): Refusal {
  if (refusalBytes(refusal) <= capBytes) return refusal;
  const { code, message, data } = refusal;
  const whole = keep(desk, caller, JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) }));
  return excerptRefusal(refusal, whole, capBytes);
}

function keep(desk: Desk, caller: Caller, text: string): Whole {
  const id = desk.chance.id("");
  desk.memory.results.set(id, { text, of: caller.principal });
  let total = 0;
  for (const kept of desk.memory.results.values()) total += kept.text.length;
  for (const [oldest, kept] of desk.memory.results) {
    if (total <= RESULTS_MOST_BYTES || desk.memory.results.size === 1) break;
    desk.memory.results.delete(oldest);
    total -= kept.text.length;
  }
  return { text, handle: `steward://results/${id}` };
}

/** `id` or `id/<page>`, the page in plain digits from 1; what another token's call made is not there for this caller. */
export function keptResult(desk: Desk, id: string, caller: Caller): { readonly mimeType: string; readonly text: string } {
  const slash = id.indexOf("/");
  const [name, page] = slash < 0 ? [id, undefined] : [id.slice(0, slash), id.slice(slash + 1)];
  const kept = desk.memory.results.get(name);
  if (kept === undefined || !isOwn(caller, kept.of))
    throw new Fault("result-unknown", `${name} is not kept (any longer); call the tool again with a narrower request.`);
  const { text } = kept;
  if (page === undefined) return { mimeType: "application/json", text };
  const part = /^[1-9]\d*$/.test(page) ? pageOf(text, Number(page)) : undefined;
  if (part === undefined)
    throw new Fault("result-unknown", `${id} is no page of it: its pages are ${name}/1 to ${name}/${pagesOf(text)}.`);
  return { mimeType: "text/plain", text: part };
}
