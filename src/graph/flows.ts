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

/** Distinct flows between different tools in the calls of any number of episodes, sorted. Failed calls teach nothing. */
export function flowsOf(calls: Iterable<Pick<CallLine, "episode" | "seq" | "tool" | "isError" | "flows">>): ObservedFlow[] {
  const lines = [...calls];
  const toolAt = new Map<string, string>();
  for (const line of lines) if (!line.isError) toolAt.set(`${line.episode} ${line.seq}`, line.tool);
  const flows = new Map<string, ObservedFlow>();
  for (const line of lines) {
    if (line.isError) continue;
    for (const flow of line.flows) {
      const from = toolAt.get(`${line.episode} ${flow.from.seq}`);
      const param = paramOf(flow.to);
      if (from === undefined || param === undefined || from === line.tool) continue;
      const observed: ObservedFlow = {
        from: from as ToolKey,
        field: toDotted(flow.from.path),
        to: line.tool as ToolKey,
        param: unescape(param),
      };
      flows.set(JSON.stringify([observed.from, observed.to, observed.param, observed.field]), observed);
    }
  }
  return [...flows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, flow]) => flow);
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
