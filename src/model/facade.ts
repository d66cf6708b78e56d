/**
 * The six facade operations: what an agent may ask, in one shape for MCP, REST and CLI.
 *
 * Owns: input schemas (bodies are the same everywhere) and the answers that are not Views.
 * Speaks: zod; field names as agents see them (snake_case).
 * Never: wire envelopes (surfaces/*\/translate.ts).
 */
import { z } from "zod";
import type { JsonObject, JsonValue } from "./json.js";
import { BUDGET_LEAST, BUDGET_MOST, type View } from "./view.js";

const episode = z.string().min(1).max(100).optional().describe("Episode id from start_task; omit to continue the running one.");

export const startTaskInput = z.strictObject({
  task: z.string().min(1).max(20_000).describe("What is to be done, in the user's words."),
  episode: episode.describe("Give it to get the next turn of a running episode."),
  hints: z.array(z.string().min(1).max(500)).max(20).optional().describe("Names of systems, objects or tools that matter."),
  budget_tokens: z.int().min(BUDGET_LEAST).max(BUDGET_MOST).optional().describe("Token budget of the view (default 4000)."),
});
export type StartTaskInput = z.infer<typeof startTaskInput>;

export const retrieveToolsInput = z.strictObject({
  query: z.string().min(1).max(4_000).describe("One need, in plain words, or the exact name of a tool."),
  episode,
  limit: z.int().min(1).optional().describe("5 at most are given; more is cut to that and said."),
  detail: z.enum(["compact", "full"]).optional().describe("full adds the complete definitions."),
});
export type RetrieveToolsInput = z.infer<typeof retrieveToolsInput>;

export const exploreCapabilitiesInput = z.strictObject({
  need: z.string().min(1).max(4_000).describe("What you would like to be able to do."),
  episode,
});
export type ExploreCapabilitiesInput = z.infer<typeof exploreCapabilitiesInput>;

export const describeToolsInput = z.strictObject({
  tools: z.array(z.string().trim().min(1).max(300)).min(1).max(5).describe("Tool keys (label/name) or exposed names."),
  episode,
});
export type DescribeToolsInput = z.infer<typeof describeToolsInput>;

export const callToolInput = z.strictObject({
  tool: z.string().trim().min(1).max(300).describe("Tool key (label/name) or exposed name."),
  arguments: z
    .union([z.record(z.string(), z.json()), z.string(), z.null()])
    .optional()
    .describe('Arguments of the tool as an object, e.g. {"order_id": "O-1001"}.'),
  episode,
});
export type CallToolInput = z.infer<typeof callToolInput>;

export const finishTaskInput = z.strictObject({
  episode: z.string().min(1).max(100).describe("Episode id from start_task."),
  outcome: z.enum(["success", "failure", "abandoned"]),
  note: z.string().max(4_000).optional(),
});
export type FinishTaskInput = z.infer<typeof finishTaskInput>;

/** An answer with the episode it was counted in (shown in `_meta["steward/episode"]`, not in the body). */
export interface Counted<Body> {
  readonly body: Body;
  readonly episode: string;
}

export interface DescribedTool {
  readonly tool: string;
  readonly name: string;
  readonly definition: JsonObject;
  readonly marks: readonly string[];
  readonly notes: readonly string[];
}
export interface DescribeAnswer {
  readonly tools: readonly DescribedTool[];
  /** Asked for and not given, with the reason and what to use instead. */
  readonly missing: readonly { readonly asked: string; readonly why: string; readonly instead: readonly string[] }[];
}
export interface FinishAnswer {
  readonly episode: string;
  readonly outcome: string;
  readonly trust: "claim";
  readonly recorded: { readonly calls: number; readonly tools: readonly string[]; readonly views: number };
  readonly note: string;
}
/** `result` is the upstream's own (`content`, `structuredContent`, `isError`, `_meta`), untouched. */
export interface CallAnswer {
  readonly result: JsonObject;
  readonly tool: string;
}
export type { View, JsonValue };
