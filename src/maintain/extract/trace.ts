/**
 * Traces: recorded trajectories as they would be called today.
 *
 * A tool that left is read as its successor where lineage is certain; failed calls, repeats and calls of tools that are no more are left
 * out. What a call took from an earlier one is kept by its number, so that leaving a call out never points at a wrong one.
 */
import { canonicalJson } from "../../catalog/canonical.js";
import { verbOf, verbRole, words } from "../../catalog/lineage/words.js";
import { isJsonObject, type JsonValue } from "../../model/json.js";
import type { MaintenanceInput, Proof } from "../../model/ports.js";
import type { Tool } from "../../model/tool.js";
import { presentCall, type PresentCall } from "../present-call.js";

export interface TracedCall extends PresentCall {
  /** Number in its episode: what a contract cites. */
  readonly seq: number;
  /** The tool that was called then. Two tools that one took over from are two steps of an ability, as they were before. */
  readonly calledAs: string;
  readonly isRead: boolean;
  /** Made of a call of another tool that could do less. */
  readonly isWidened: boolean;
}

export interface Trace {
  readonly proof: Proof;
  readonly calls: readonly TracedCall[];
}

export function traceOf(
  proof: Proof,
  around: Pick<MaintenanceInput, "tools" | "departed" | "links" | "held" | "widened">,
): Trace {
  const calls: TracedCall[] = [];
  const seen = new Set<string>();
  for (const line of proof.evidence.calls) {
    const mapped = line.isError ? undefined : presentCall(line, around);
    if (mapped === undefined) continue;
    const same = `${mapped.tool.key} ${canonicalJson(mapped.args)}`;
    if (seen.has(same)) continue;
    seen.add(same);
    const isWidened = mapped.tool.key !== line.tool && around.widened?.has(mapped.tool.key) === true;
    calls.push({ seq: line.seq, calledAs: line.tool, ...mapped, isRead: looksOnly(mapped.tool), isWidened });
  }
  return { proof, calls };
}

/** Verbs of working something out: they leave no trace in the world, whatever a server forgot to say. */
const THOUGHT = new Set(["calculate", "compute", "think", "reason", "validate", "verify", "check", "estimate", "convert"]);

/** Does it only look? What its annotations say counts; where they say nothing, its verb. */
export function looksOnly(tool: Tool): boolean {
  const annotations = tool.document["annotations"];
  const said: JsonValue | undefined = isJsonObject(annotations) ? annotations["readOnlyHint"] : undefined;
  if (typeof said === "boolean") return said;
  const parts = words(tool.name);
  const verb = verbOf(parts, true) ?? parts[0] ?? "";
  return THOUGHT.has(verb) || verbRole(verb) === "read";
}
