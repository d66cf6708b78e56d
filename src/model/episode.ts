/**
 * Episodes: one task of one agent, its calls and its outcome.
 *
 * Owns: the stored episode, the call line, evidence and trust.
 * Speaks: ids, paths, counters.
 * Never: whole results (only their shape, unless the policy keeps them).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";

export type Trust = "claim" | "state" | "replay" | "human";

export const outcomeSchema = z.object({
  outcome: z.enum(["success", "failure", "abandoned"]),
  trust: z.enum(["claim", "state", "replay", "human"]),
  by: z.string(),
  note: z.string().optional(),
  at: z.string(),
});
export type Outcome = z.infer<typeof outcomeSchema>;

/** How far an outcome is trusted; a weaker word never replaces a stronger one. */
export const TRUST_RANK: Readonly<Record<Outcome["trust"], number>> = { claim: 0, replay: 1, state: 2, human: 3 };

/** Told by more than the agent itself: what becomes evidence. */
export function isVerified(outcome: Outcome | undefined): outcome is Outcome {
  return outcome !== undefined && outcome.trust !== "claim";
}

export const episodeFormat = defineFormat({
  kind: "episode",
  version: 1,
  place: "state/episodes/NNNNNN.jsonl (one line each time the episode moves; the last line of an id counts)",
  purpose: "One task: who asked, its turns and budgets, its outcome and how far it is trusted.",
  shape: {
    episode: z.string(),
    opened: z.string(),
    /** Last time anything happened in it. */
    moved: z.string(),
    task: z.string(),
    /** Opened by start_task; an implicit one comes into being with a call. */
    explicit: z.boolean(),
    /** Token name, `local` or `mcp`. */
    principal: z.string(),
    session: z.string().optional(),
    turn: z.int(),
    explored: z.int(),
    skillChars: z.int(),
    views: z.array(z.string()),
    calls: z.int(),
    /** Tools called, in order of first call. */
    tools: z.array(z.string()),
    outcome: outcomeSchema.optional(),
    /** Past its time: its views and calls go, and this line with the next compaction. */
    retired: z.literal(true).optional(),
  },
});
export type Episode = z.infer<typeof episodeFormat.schema>;

/** Nothing but searches outside a task: nobody began anything, called anything or said how it ended. */
export function isEmptyEpisode(episode: Episode): boolean {
  return !episode.explicit && episode.task === "" && episode.calls === 0 && episode.outcome === undefined;
}

/** Which episodes are asked for; `some`, the default, are all that are not empty. */
export const EPISODE_STATES = ["some", "running", "finished", "verified", "empty", "all"] as const;
export type EpisodeState = (typeof EPISODE_STATES)[number];

export const callLineFormat = defineFormat({
  kind: "call",
  version: 1,
  place: "state/calls/NNNNNN.jsonl (append-only, checksummed lines)",
  purpose: "One tool call: arguments (redacted), shape of the result, where each argument came from.",
  shape: {
    at: z.string(),
    episode: z.string(),
    seq: z.int(),
    view: z.string().optional(),
    tool: z.string(),
    /** Contract digest the call was made under. */
    contract: z.string(),
    args: z.json(),
    /** JSON pointers of redacted leaves; left out when arguments are validated. */
    redacted: z.array(z.string()),
    isError: z.boolean(),
    /** Fault code where the call never reached or never returned from the upstream. */
    fault: z.string().optional(),
    bytes: z.int(),
    /** Result paths with types, e.g. `/orders/0/id: string`. */
    shape: z.array(z.object({ path: z.string(), type: z.string() })),
    flows: z.array(z.object({ to: z.string(), from: z.object({ seq: z.int(), path: z.string(), tool: z.string().optional() }) })),
    ms: z.number(),
    /** Only with `evidence.keep: "full"`. */
    result: z.json().optional(),
  },
});
export type CallLine = z.infer<typeof callLineFormat.schema>;

export const evidenceFormat = defineFormat({
  kind: "evidence",
  version: 1,
  place: "state/evidence/<digest>.json",
  purpose: "A trajectory a skill cites, kept as long as it is cited.",
  shape: {
    episode: z.string(),
    task: z.string(),
    calls: z.array(callLineFormat.schema),
    outcome: outcomeSchema,
  },
});
export type Evidence = z.infer<typeof evidenceFormat.schema>;
