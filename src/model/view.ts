/**
 * The provisioned view: what one turn of an agent is answered with.
 *
 * Owns: the View contract (CONTRACTS.md "View"), the requests it answers, the decisions a replay needs.
 * Speaks: names, scores, budgets.
 * Never: how candidates are found (retrieve/) or cut (provision/).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";
import { tierSchema } from "./skill.js";

export const basisSchema = z.object({
  /** `<version>:<first 12 of digest>`; `0:` without a catalog. */
  catalog: z.string(),
  library: z.int(),
  /** Count of kept evidence records and of observed flows that count. */
  evidence: z.int(),
  /** Digest of presence, standings and holds as they bear on the answer. */
  presence: z.string(),
  policy: z.string(),
  embedder: z.string(),
});
export type Basis = z.infer<typeof basisSchema>;

export const viewSchema = z.object({
  view: z.string(),
  episode: z.string().optional(),
  turn: z.int().optional(),
  basis: basisSchema,
  plan: z
    .object({
      source: z.enum(["skill", "merged", "derived"]),
      from: z.array(z.string()),
      steps: z.array(z.object({ n: z.int(), goal: z.string(), skills: z.array(z.string()), tools: z.array(z.string()) })),
    })
    .optional(),
  skills: z.array(z.object({ name: z.string(), tier: tierSchema, text: z.string(), form: z.enum(["full", "brief"]) })).optional(),
  tools: z.array(
    z.object({
      tool: z.string(),
      /** exposed name */
      name: z.string(),
      signature: z.string(),
      /** Full definition with `detail: "full"`. */
      definition: z.json().optional(),
      reason: z.string(),
      score: z.number(),
      marks: z.array(z.string()),
    }),
  ),
  alternatives: z.array(z.object({ tool: z.string(), instead_of: z.string(), why: z.string() })).optional(),
  notices: z.array(z.object({ code: z.string(), text: z.string() })).optional(),
  substitutions: z
    .array(z.object({ asked: z.string(), given: z.array(z.string()), why: z.string(), certain: z.boolean() }))
    .optional(),
  left_out: z.array(z.object({ kind: z.enum(["skill", "tool", "plan"]), id: z.string(), why: z.string() })).optional(),
  unmatched: z.array(z.string()).optional(),
  budgets: z.object({
    tokens: z.object({ used: z.int(), limit: z.int() }),
    explore: z.object({ used: z.int(), limit: z.int() }),
    skill_chars: z.object({ used: z.int(), limit: z.int() }),
  }),
  manager: z.object({ by: z.enum(["rules", "llm"]), fellBack: z.string().optional() }),
});
export type View = z.infer<typeof viewSchema>;
export type ViewTool = View["tools"][number];
export type ViewStep = NonNullable<View["plan"]>["steps"][number];

/** Tokens that a request may set as its budget: the least has room for the smallest view of an ordinary episode. */
export const BUDGET_LEAST = 200;
export const BUDGET_MOST = 32_000;

/** A request for a view; what the three endpoints have in common, already validated. */
export const viewRequestSchema = z.object({
  kind: z.enum(["start", "retrieve", "explore"]),
  /** task, query or need */
  text: z.string(),
  hints: z.array(z.string()).optional(),
  limit: z.int().optional(),
  detail: z.enum(["compact", "full"]).optional(),
  budgetTokens: z.int().optional(),
});
export type ViewRequest = z.infer<typeof viewRequestSchema>;

/** What the manager decided for one view: enough to assemble it again without asking anybody. */
export const viewDecisionsSchema = z.object({
  by: z.enum(["rules", "llm"]),
  fellBack: z.string().optional(),
  plan: z
    .object({
      source: z.enum(["skill", "merged", "derived"]),
      from: z.array(z.string()),
      steps: z.array(z.object({ goal: z.string(), skills: z.array(z.string()), tools: z.array(z.string()) })),
    })
    .optional(),
  /** Skills in the order they should be kept under a budget. */
  skills: z.array(z.string()),
  /** Tools in the order they should be kept, with the reason shown. */
  tools: z.array(z.object({ tool: z.string(), reason: z.string(), score: z.number(), step: z.int().optional() })),
  /** What a model's part in it cost, whether it was used or not; `dropped` = things it named that were no candidates. */
  spent: z.object({ calls: z.int(), promptTokens: z.int(), answerTokens: z.int(), dropped: z.int() }).optional(),
});
export type ViewDecisions = z.infer<typeof viewDecisionsSchema>;
/** One tool chosen for a view. */
export type ToolChoice = ViewDecisions["tools"][number];
/** One step of a drafted plan. */
export type PlanStep = NonNullable<ViewDecisions["plan"]>["steps"][number];

export const viewRecordFormat = defineFormat({
  kind: "view",
  version: 1,
  place: "state/views/<view>.json",
  purpose: "A view as answered, its request, its decisions and the basis it replays on.",
  shape: {
    at: z.string(),
    request: viewRequestSchema,
    /** Episode counters before this view, which the budgets depend on. */
    before: z.object({ turn: z.int(), explored: z.int(), skillChars: z.int() }),
    /** The episode was named by the caller: it shows in the body. */
    named: z.boolean(),
    episode: z.string(),
    /** What the world contributed: enough to assemble the view again from catalog and library alone. */
    found: z.object({
      catalogVersion: z.int(),
      libraryRevision: z.int(),
      /** tool → marks, for the tools of the decisions that carry any */
      marks: z.record(z.string(), z.array(z.string())),
      /** tool → exposed name, for the tools of the decisions */
      names: z.record(z.string(), z.string()),
      substitutions: z.array(z.object({ asked: z.string(), given: z.array(z.string()), why: z.string(), certain: z.boolean() })),
      alternatives: z.array(z.object({ tool: z.string(), instead_of: z.string(), why: z.string() })),
      unmatched: z.array(z.string()),
      notices: z.array(z.object({ code: z.string(), text: z.string() })),
      /** Held, not offered, resting: left out before any budget was looked at. */
      leftOut: z.array(z.object({ kind: z.enum(["skill", "tool", "plan"]), id: z.string(), why: z.string() })),
      /** The limits in force that shape the view. */
      limits: z.record(z.string(), z.number()),
    }),
    decisions: viewDecisionsSchema,
    view: viewSchema,
  },
});
export type ViewRecord = z.infer<typeof viewRecordFormat.schema>;
