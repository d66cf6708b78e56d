/**
 * Whose tool is it? The names of foreign logs against the keys of the catalog.
 *
 * A bare name is never taken for a tool by itself: real catalogs share names. What belongs to no key is told, with how to map it.
 */
import { foreignLabel, labelProblem } from "../catalog/name.js";
import { isJsonObject } from "../model/json.js";
import { toolKey, type ToolKey } from "../model/ids.js";
import type { RecordedCall } from "../model/recorded.js";
import { argumentsOf } from "./fields.js";

export interface NameSpace {
  /** Is it a tool of the catalog, now or earlier? */
  readonly has: (key: ToolKey) => boolean;
  /** The key behind an exposed name. */
  readonly exposed: (name: string) => ToolKey | undefined;
  /** Labels that have a tool of this name. */
  readonly labelsWith: (name: string) => readonly string[];
  readonly server: string | undefined;
  readonly map: Readonly<Record<string, string>>;
}

/** What an agent asks of STEWARD itself; only `call_tool` is a call of a tool. */
const FACADE = new Set(["start_task", "retrieve_tools", "explore_capabilities", "describe_tools", "call_tool", "finish_task"]);

export type Named =
  | { readonly kind: "tool"; readonly key: ToolKey; readonly call: RecordedCall }
  /** Left out without a word: asked of STEWARD itself, or mapped to nothing. */
  | { readonly kind: "aside" }
  | { readonly kind: "unknown"; readonly name: string };

export function nameCall(call: RecordedCall, space: NameSpace): Named {
  const mapped = space.map[call.server === undefined ? call.name : `${call.server}/${call.name}`] ?? space.map[call.name];
  if (mapped === "") return { kind: "aside" };
  if (mapped !== undefined) return space.has(mapped as ToolKey) ? { kind: "tool", key: mapped as ToolKey, call } : unknown(call);
  const through = throughFacade(call);
  if (through !== undefined) return through === "aside" ? { kind: "aside" } : nameCall(through, space);
  for (const key of readings(call, space)) if (space.has(key)) return { kind: "tool", key, call };
  const exposed = space.exposed(call.name);
  return exposed === undefined ? unknown(call) : { kind: "tool", key: exposed, call };
}

function unknown(call: RecordedCall): Named {
  return { kind: "unknown", name: call.server === undefined ? call.name : `${call.server}/${call.name}` };
}

/** Agents behind STEWARD call tools through `call_tool`: what it was asked to call is what counts. */
function throughFacade(call: RecordedCall): RecordedCall | "aside" | undefined {
  const name = /^(?:mcp__[^_]+(?:_[^_]+)*__)?([a-z_]+)$/.exec(call.name)?.[1] ?? "";
  const isOwn = FACADE.has(name) && (call.name !== name || call.server === undefined || call.server === "steward");
  if (!isOwn) return undefined;
  const tool = call.args["tool"];
  if (name !== "call_tool") return "aside";
  const args = argumentsOf(call.args["arguments"]);
  if (typeof tool !== "string" || !isJsonObject(args)) return undefined;
  const { server: _server, ...rest } = call;
  return { ...rest, name: tool, args };
}

function readings(call: RecordedCall, space: NameSpace): ToolKey[] {
  const keys: string[] = [];
  if (call.server !== undefined) keys.push(toolKey(asLabel(call.server), call.name));
  keys.push(call.name);
  const client = /^mcp__(.+?)__(.+)$/.exec(call.name) ?? /^([^/]+?)__(.+)$/.exec(call.name);
  if (client !== null) keys.push(toolKey(asLabel(client[1] ?? ""), client[2] ?? ""));
  const double = /^([^:/]+):{1,2}([^:/].*)$/.exec(call.name);
  if (double !== null) keys.push(toolKey(asLabel(double[1] ?? ""), double[2] ?? ""));
  if (space.server !== undefined) keys.push(toolKey(space.server, client?.[2] ?? call.name));
  return keys as ToolKey[];
}

function asLabel(server: string): string {
  return server === "" || labelProblem(server) === undefined ? server : foreignLabel(server, new Set());
}

/** What belongs to no tool, the commonest first, each with how to map it. */
export function unknownNames(
  counts: ReadonlyMap<string, number>,
  space: NameSpace,
): { name: string; calls: number; way: string }[] {
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([name, calls]) => {
      const bare = name.slice(name.indexOf("/") + 1);
      const labels = space.labelsWith(bare);
      const [first] = labels;
      const way =
        first === undefined
          ? `map it to a tool of the catalog (--map ${name}=<label>/<tool>), or leave it out knowingly (--map ${name}=)`
          : `${labels.map((label) => `--server ${label}`).join(" or ")} would mean ${labels.map((label) => toolKey(label, bare)).join(" or ")}; or map it: --map ${name}=${toolKey(first, bare)}`;
      return { name, calls, way };
    });
}
