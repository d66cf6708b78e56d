/**
 * What an agent is told at the start about how to use what is here.
 *
 * Owns: the instructions of direct exposure: those of the upstreams, under their labels. The facade's own stand in facade-list.ts.
 * Speaks: statuses of upstreams; text, cleaned of what cannot be seen.
 * Never: takes what an upstream says for more than a text about its own tools.
 */
import { cleanText } from "../../catalog/clean.js";
import type { Caller, Operations } from "../../model/operations.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { UpstreamStatus } from "../../model/ports.js";

/** Undefined where no upstream that this caller may use says anything. An upstream alone under its own names speaks for itself. */
export function directInstructions(operations: Pick<Operations, "upstreams">, caller: Caller): string | undefined {
  const usable = operations
    .upstreams()
    .filter(({ label }) => caller.upstreams === undefined || caller.upstreams.has(label))
    .filter(({ presence }) => presence.state !== "parked" && presence.state !== "disabled")
    .sort((a, b) => (a.label < b.label ? -1 : 1));
  const told = usable.flatMap((status) => {
    const text = bounded(cleanText(status.instructions ?? "").text.trim());
    return text === "" ? [] : [{ status, text }];
  });
  const [first] = told;
  if (first === undefined) return undefined;
  if (usable.length === 1 && first.status.prefix === "") return first.text;
  return ["The tools here belong to several servers. What each server says of its own tools:"]
    .concat(told.map(({ status, text }) => `## ${status.label} (${namesOf(status)})\n\n${text}`))
    .join("\n\n");
}

function namesOf({ label, prefix }: UpstreamStatus): string {
  return prefix === "" ? "names as they are" : `names begin with ${prefix ?? label}__`;
}

/** Cut at a code point, and said so. */
function bounded(text: string): string {
  const characters = Array.from(text);
  const most = SURFACE_LIMITS.instructionsChars;
  return characters.length <= most
    ? text
    : `${characters.slice(0, most).join("")} [cut here: ${characters.length - most} more characters]`;
}
