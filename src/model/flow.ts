/**
 * Observed flows: which output field of one tool was seen to become which parameter of another.
 *
 * Owns: the stored flow and how often it must be seen before it counts.
 * Speaks: tool keys, dotted fields, parameter names.
 * Never: values.
 */
import { z } from "zod";
import { defineFormat } from "./format.js";

export const seenFlowSchema = z.object({
  from: z.string(),
  /** Output field, dotted, `[]` for items. */
  field: z.string(),
  to: z.string(),
  /** Top-level parameter. */
  param: z.string(),
  /** The first episodes it was seen in, as many as it takes to count. */
  episodes: z.array(z.string()),
});
export type SeenFlow = z.infer<typeof seenFlowSchema>;

export const flowsFormat = defineFormat({
  kind: "observed-flows",
  version: 1,
  place: "state/flows.json",
  purpose: "Output fields that became arguments of other tools in calls that worked; they join tools in the dependency graph.",
  shape: { flows: z.record(z.string(), seenFlowSchema) },
});

/** Two values meet by accident once (`limit: 10`, `count: 10`); a flow counts from this many episodes on. */
export const FLOW_EPISODES = 2;

/** Flows kept; what is seen beyond them is not learnt, and said in the log. */
export const FLOWS_KEPT = 20_000;
