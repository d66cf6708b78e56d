/**
 * Observed flows: which output of one tool was seen to become which argument of another.
 *
 * The call log says for each argument from which earlier result it came; here that is lifted from calls to tools.
 */
import type { CallLine } from "../model/episode.js";
import type { ToolKey } from "../model/ids.js";

export interface ObservedFlow {
  readonly from: ToolKey;
  /** Output field, dotted, `[]` for items. */
  readonly field: string;
  readonly to: ToolKey;
  /** Top-level parameter. */
  readonly param: string;
}

/** Distinct flows into one call from other tools, sorted. A failed call teaches nothing. */
export function flowsOf(call: Pick<CallLine, "tool" | "isError" | "flows">): ObservedFlow[] {
  if (call.isError) return [];
  const flows = new Map<string, ObservedFlow>();
  for (const { to, from } of call.flows) {
    const param = paramOf(to);
    if (from.tool === undefined || param === undefined || from.tool === call.tool) continue;
    const flow: ObservedFlow = {
      from: from.tool as ToolKey,
      field: toDotted(from.path),
      to: call.tool as ToolKey,
      param: unescape(param),
    };
    flows.set(flowId(flow), flow);
  }
  return [...flows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, flow]) => flow);
}

/** One id a flow, whatever order its parts were found in. */
export function flowId({ from, to, param, field }: ObservedFlow): string {
  return JSON.stringify([from, to, param, field]);
}

/** The parameter a pointer names, written from the call (`/args/order_id`) or from its arguments (`/order_id`). */
function paramOf(pointer: string): string | undefined {
  const parts = pointer.split("/");
  return parts[1] === "args" && parts.length > 2 ? parts[2] : parts[1];
}

function unescape(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** `/orders/0/id` → `orders[].id` */
function toDotted(pointer: string): string {
  let dotted = "";
  for (const part of pointer.split("/").slice(1)) {
    if (/^\d+$/.test(part)) dotted += "[]";
    else dotted += dotted === "" ? unescape(part) : `.${unescape(part)}`;
  }
  return dotted;
}
