/**
 * Needs: what a trajectory was made for, one by one.
 *
 * A need ends in a call that changes something (or, where nothing was changed, in the last look) and reaches back over value flow: the
 * calls whose results its arguments came from, their own sources, and looks at the very things it names. Never through another need's
 * change: what one need wrote is not a source of the next.
 */
import { canonicalJson } from "../../catalog/canonical.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import { isOneOfFew, propertiesOf, requiredOf } from "../fields.js";
import type { Trace, TracedCall } from "./trace.js";

export interface Need {
  readonly trace: Trace;
  /** In the order of the calls, one a tool and mode; the last is what the need was for. */
  readonly calls: readonly TracedCall[];
  readonly ending: TracedCall;
}

/** Calls of one need: longer ones are no single ability. */
const CALLS_MOST = 6;
/** Shorter texts meet by accident: `economy` is no name of a thing, `EHGLP3` is. */
const NAME_CHARS = 5;

export function needsOf(trace: Trace): Need[] {
  const changes = trace.calls.filter((call) => !call.isRead);
  const last = trace.calls.at(-1);
  const endings = changes.length > 0 ? changes : last === undefined ? [] : [last];
  return endings.map((ending) => ({ trace, ending, calls: sliceOf(trace, ending) }));
}

function sliceOf(trace: Trace, ending: TracedCall): TracedCall[] {
  const before = trace.calls.filter((call) => call.seq < ending.seq && call.isRead);
  const bySeq = new Map(before.map((call) => [call.seq, call]));
  const taken = new Set<TracedCall>([ending]);
  const waiting = [ending];
  for (let call = waiting.pop(); call !== undefined; call = waiting.pop()) {
    for (const { seq } of call.from.values()) {
      const source = bySeq.get(seq);
      if (source === undefined || taken.has(source)) continue;
      taken.add(source);
      waiting.push(source);
    }
  }
  const names = namesIn(ending.args);
  for (const call of before) if (namesIn(call.args).some((name) => names.includes(name))) taken.add(call);
  return oneATool([...taken].sort((a, b) => a.seq - b.seq)).slice(-CALLS_MOST);
}

/**
 * Of several calls of a tool the last: the earlier ones were the search for it. One in another mode stays where something was taken
 * from it: what another mode gives the last call cannot give.
 */
function oneATool(calls: readonly TracedCall[]): TracedCall[] {
  const taken = new Set(calls.flatMap((call) => [...call.from.values()].map(({ seq }) => seq)));
  return calls.filter(
    (call, n) =>
      !calls.slice(n + 1).some((later) => isSameStep(call, later) || (isSameTool(call, later) && !taken.has(call.seq))),
  );
}

/** The same tool, called as the same and in the same mode. */
export function isSameStep(a: TracedCall, b: TracedCall): boolean {
  return isSameTool(a, b) && canonicalJson(modeOf(a)) === canonicalJson(modeOf(b));
}

function isSameTool(a: TracedCall, b: TracedCall): boolean {
  return a.tool.key === b.tool.key && a.calledAs === b.calledAs;
}

/** What tells the ways apart in which one tool is called: its required arguments that may only be one of a few. */
export function modeOf({ tool, args }: Pick<TracedCall, "tool" | "args">): JsonObject {
  const properties = propertiesOf(tool.inputSchema);
  const chosen = requiredOf(tool.inputSchema).filter((param) => Object.hasOwn(args, param) && isOneOfFew(properties[param]));
  return Object.fromEntries(chosen.map((param) => [param, args[param] ?? null]));
}

/** Texts among arguments that name a thing: they have a digit. */
function namesIn(value: JsonValue): string[] {
  if (typeof value === "string")
    return value.length >= NAME_CHARS && /\d/.test(value) && !/^\d{4}-\d\d-\d\d/.test(value) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(namesIn);
}
