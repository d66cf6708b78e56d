/** What a tool cannot do without, said beside it: parameters that the request leaves open, and which tool finds each. */
import type { Tool } from "../model/tool.js";
import type { ViewCandidates } from "../model/ports.js";
import { openReferences, type Spoken } from "./spoken.js";

/** Advice for one tool after the other; `shown` are preferred as suppliers. Nobody is sent from one tool to another and back. */
export function createAdvice(
  candidates: Pick<ViewCandidates, "lookup">,
  spoken: Spoken,
  shown: ReadonlySet<string>,
): (tool: Tool) => string[] {
  const advised = new Map<string, Set<string>>();
  return (tool) => {
    const open = openReferences(tool, spoken);
    const suppliers = candidates.lookup?.suppliers(tool.key, (param) => !open.includes(param)) ?? [];
    return open.map((param) => {
      const able = suppliers.filter((one) => one.supplies === param && !leadsTo(advised, one.tool, tool.key));
      const supplier = able.find((one) => shown.has(one.tool)) ?? able[0];
      if (supplier === undefined) return param;
      advised.set(tool.key, (advised.get(tool.key) ?? new Set()).add(supplier.tool));
      return `${param} (from ${supplier.tool})`;
    });
  };
}

/** Whether the advice given so far leads from one tool to another. */
function leadsTo(advised: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === to) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(advised.get(next) ?? []));
  }
  return false;
}
