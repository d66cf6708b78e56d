/** A recorded call as it would be made today. */
import { takeover } from "../catalog/lineage.js";
import type { ToolKey } from "../model/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { CallLine } from "../model/episode.js";
import type { MaintenanceInput } from "../model/ports.js";
import type { Tool } from "../model/tool.js";

export interface PresentCall {
  readonly tool: Tool;
  readonly args: JsonObject;
  /** Parameters that the takeover sets to a constant: no run chose them. */
  readonly fixed: ReadonlySet<string>;
  /** Top-level parameter → the earlier call it was taken from, and the field there (dotted, `[]` for items). */
  readonly from: ReadonlyMap<string, { readonly seq: number; readonly field: string }>;
}

type Surroundings = Pick<MaintenanceInput, "departed" | "links" | "held"> & { readonly tools: ReadonlyMap<ToolKey, Tool> };

/**
 * The tool itself, or the one that took over from it, with parameters renamed and fixed arguments added. Undefined where nothing did, or
 * several tools, or one that is held; and, unless `any` is asked for, where lineage is not certain.
 */
export function presentCall(
  line: Pick<CallLine, "tool" | "args" | "flows">,
  around: Surroundings,
  level: "certain" | "any" = "certain",
): PresentCall | undefined {
  const key = line.tool as ToolKey;
  const args = isJsonObject(line.args) ? line.args : {};
  const present = around.tools.get(key);
  if (present !== undefined) return { tool: present, args, fixed: new Set(), from: sourcesOf(line, args, {}) };
  const next = takeover(around, key, around.links);
  const [only, ...more] = next?.to ?? [];
  const tool = only === undefined || more.length > 0 ? undefined : around.tools.get(only);
  if (tool !== undefined && around.held?.has(tool.key) === true) return undefined;
  if (next === undefined || tool === undefined || (level === "certain" && next.level !== "certain")) return undefined;
  const renamed = Object.fromEntries(Object.entries(args).map(([name, value]) => [next.params[name] ?? name, value]));
  const fixed = new Set(Object.keys(next.fixedArguments));
  return { tool, args: { ...renamed, ...next.fixedArguments }, fixed, from: sourcesOf(line, args, next.params) };
}

/**
 * Where each parameter came from. A list or an object came from a call where at least half of what is in it did; the field is then the
 * list, not one thing of one of its items.
 */
function sourcesOf(
  line: Pick<CallLine, "flows">,
  args: JsonObject,
  renamed: Readonly<Record<string, string>>,
): Map<string, { seq: number; field: string }> {
  const found = new Map<string, { seq: number; field: string; leaves: number }>();
  for (const { to, from } of line.flows) {
    const param = unescaped(to.replace(/^\/args/, "").split("/")[1] ?? "");
    const before = found.get(param);
    if (before === undefined) found.set(param, { seq: from.seq, field: dotted(from.path), leaves: 1 });
    else if (before.seq === from.seq) before.leaves += 1;
  }
  const sources = new Map<string, { seq: number; field: string }>();
  for (const [param, { seq, field, leaves }] of found) {
    const value = args[param];
    const isWhole = typeof value === "object" && value !== null;
    if (isWhole && leaves * 2 < leavesIn(value)) continue;
    sources.set(renamed[param] ?? param, { seq, field: isWhole ? field.replace(/(\[\])?(\.[^.]*)?$/, "") : field });
  }
  return sources;
}

function leavesIn(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + leavesIn(item), 0);
}

/** `/orders/0/id` → `orders[].id`. Keys that are themselves ids (`/methods/card_4421/id`) are items too: no other episode has them. */
function dotted(pointer: string): string {
  let field = "";
  for (const part of pointer.split("/").slice(1)) {
    const name = unescaped(part);
    if (/\d/.test(name)) field += "[]";
    else field += field === "" ? name : `.${name}`;
  }
  return field;
}

function unescaped(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
