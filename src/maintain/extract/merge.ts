/**
 * Merging: the same ability seen in several trajectories becomes one candidate.
 *
 * Its signature is the sequence of tools; its slots are decided by what most trajectories did. Two runs of one task prove it once.
 * Where one tool is several steps, the modes that tell them apart are part of the ability.
 */
import { canonicalJson, sha256 } from "../../catalog/canonical.js";
import type { JsonValue } from "../../model/json.js";
import type { Tool } from "../../model/tool.js";
import { isOneOfFew, mayNotExist, propertiesOf, requiredOf } from "../fields.js";
import { isSameStep, modeOf, type Need } from "./needs.js";
import type { TracedCall } from "./trace.js";

export type Slot =
  | { readonly kind: "request" }
  | { readonly kind: "step"; readonly step: number; readonly field: string | undefined }
  | { readonly kind: "literal"; readonly value: JsonValue };

export interface CandidateStep {
  readonly tool: Tool;
  readonly slots: readonly { readonly param: string; readonly slot: Slot; readonly optional: boolean }[];
}

export interface Candidate {
  readonly steps: readonly CandidateStep[];
  /** Tool keys in order. */
  readonly signature: string;
  readonly needs: readonly Need[];
  /** Different things it was done to, by verified trajectories and by claims alone. */
  readonly support: number;
  readonly claims: number;
  /** Who claimed, where nobody verified. */
  readonly claimants: number;
}

/** A parameter that fewer runs set than this share is not part of the ability. */
const PARAM_SHARE = 0.5;
/** An argument that was the same this often, and may only be one of a few, is fixed. */
const LITERAL_LEAST = 3;

export function signatureOf(keys: readonly string[]): string {
  return keys.join(" → ");
}

export function mergeNeeds(needs: readonly Need[]): Candidate[] {
  const groups = new Map<string, Need[]>();
  for (const need of needs) {
    const way = canonicalJson(need.calls.map((call) => [call.tool.key, isSeveralSteps(need, call) ? modeOf(call) : {}]));
    groups.set(way, [...(groups.get(way) ?? []), need]);
  }
  return [...groups.values()].map(candidateOf);
}

/** Is the call's tool another step of the need as well? */
function isSeveralSteps(need: Need, call: TracedCall): boolean {
  return need.calls.some((other) => other !== call && other.tool.key === call.tool.key);
}

function candidateOf(needs: readonly Need[]): Candidate {
  const verified = needs.filter((need) => need.trace.proof.weight === "verified");
  const claimed = needs.filter((need) => need.trace.proof.weight === "claim");
  const first = needs[0]?.calls ?? [];
  return {
    signature: signatureOf(first.map((call) => call.tool.key)),
    needs,
    steps: first.map((call, n) => ({ tool: call.tool, slots: slotsOf(call.tool, n, verified.length > 0 ? verified : needs) })),
    support: differentRuns(verified),
    claims: differentRuns(claimed),
    claimants: new Set(claimed.map((need) => need.trace.proof.claimant ?? "")).size,
  };
}

/** Different things it was done to, each in an episode of its own: one run that does it twice proves it once. */
function differentRuns(needs: readonly Need[]): number {
  return Math.min(new Set(needs.map(doneTo)).size, new Set(needs.map((need) => need.trace.proof.evidence.episode)).size);
}

/** What it was done to: the task and the arguments of the last call. Trials of one task are one. */
function doneTo(need: Need): string {
  return sha256(`${need.trace.proof.evidence.task}\n${canonicalJson(need.ending.args)}`);
}

function slotsOf(tool: Tool, step: number, needs: readonly Need[]): CandidateStep["slots"] {
  const calls = needs.flatMap((need) => {
    const call = need.calls[step];
    return call === undefined ? [] : [{ need, call }];
  });
  const required = new Set(requiredOf(tool.inputSchema));
  const properties = propertiesOf(tool.inputSchema);
  const named = [...required, ...Object.keys(properties).filter((param) => !required.has(param))];
  const setBy = (param: string): { need: Need; call: TracedCall }[] =>
    calls.filter(({ call }) => Object.hasOwn(call.args, param));
  return named
    .filter((param) => required.has(param) || setBy(param).length >= PARAM_SHARE * calls.length)
    .filter((param) => /^[A-Za-z_][\w.-]*$/.test(param))
    .map((param) => ({
      param,
      slot: slotOf(param, step, setBy(param), properties[param]),
      optional: !required.has(param) && setBy(param).length < calls.length,
    }));
}

function slotOf(
  param: string,
  step: number,
  calls: readonly { need: Need; call: TracedCall }[],
  property: JsonValue | undefined,
): Slot {
  const votes = new Map<string, { slot: Slot; count: number }>();
  for (const { need, call } of calls) {
    const slot = sourceIn(need, call, param, step);
    const id = JSON.stringify(slot);
    votes.set(id, { slot, count: (votes.get(id)?.count ?? 0) + 1 });
  }
  const best = [...votes.values()].sort((a, b) => b.count - a.count)[0]?.slot ?? { kind: "request" };
  if (best.kind !== "request") return best;
  const values = new Set(calls.map(({ call }) => JSON.stringify(call.args[param])));
  const [value] = values;
  const isTold = (need: Need, call: TracedCall): boolean => isSeveralSteps(need, call) && Object.hasOwn(modeOf(call), param);
  const isSet = calls.length > 0 && calls.every(({ need, call }) => call.fixed.has(param) || isTold(need, call));
  const isFixed = values.size === 1 && (isSet || (calls.length >= LITERAL_LEAST && isOneOfFew(property)));
  return isFixed && value !== undefined ? { kind: "literal", value: JSON.parse(value) as JsonValue } : best;
}

/** The step of this need that the value came from: the very call, or the one that stands for its tool. */
function sourceIn(need: Need, call: TracedCall, param: string, step: number): Slot {
  const source = call.from.get(param);
  if (source === undefined) return { kind: "request" };
  const made = need.trace.calls.find((one) => one.seq === source.seq);
  const at = made === undefined ? -1 : need.calls.findIndex((one) => isSameStep(one, made));
  if (at < 0 || at >= step) return { kind: "request" };
  return { kind: "step", step: at + 1, field: fieldOf(need.calls[at]?.tool, source.field) };
}

/**
 * The field as the tool's output schema has it. Some servers put every result below one member of the schema (`result`) and send it bare.
 * Undefined where the schema rules it out, or a step could not say it: then only the step is named.
 */
function fieldOf(tool: Tool | undefined, field: string): string | undefined {
  if (!/^[A-Za-z_][\w.[\]-]*$/.test(field)) return undefined;
  const schema = tool?.outputSchema;
  if (schema === undefined || !mayNotExist(schema, field)) return field;
  const [only, ...others] = Object.keys(propertiesOf(schema));
  const below = only === undefined || others.length > 0 ? undefined : `${only}.${field}`;
  return below === undefined || mayNotExist(schema, below) ? undefined : below;
}
