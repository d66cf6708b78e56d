/**
 * Maintenance: the run that takes library r at catalog v−1 to library r′ at catalog v.
 *
 * Owns: proposed edits, gate findings, the report, remembered refusals.
 * Speaks: skills, rules, digests.
 * Never: who proposes (manager/) or applies (world/).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";
import { editSchema, type Contract } from "./skill.js";
import type { SkillName } from "./ids.js";

/** An edit before the gate: the whole new bytes of the skill where it writes. */
export interface ProposedEdit {
  readonly kind: "add" | "modify" | "keep" | "skip";
  readonly skill: SkillName;
  /** relative path → text; absent for keep and skip. */
  readonly files?: Readonly<Record<string, string>>;
  readonly contract?: Contract;
  readonly cause: string;
  readonly signature: string;
  readonly by: "mechanical" | "rules" | "llm";
  /** False: shown in the report as a proposal for people, never applied by the run. */
  readonly certain: boolean;
  /** Tool, rule, digests, links: what the report shows. */
  readonly evidence: readonly string[];
}

const lineageLookSchema = z.object({
  link: z.string(),
  from: z.string(),
  to: z.array(z.string()),
  how: z.enum(["manager", "replay"]),
  /** `failed`: no verdict came; the link stays proposed and is looked at again. */
  verdict: z.enum(["confirm", "reject", "leave", "failed"]),
  /** The verdict is in force: not a mere advice, not of a dry run, and nobody's word of more weight stands against it. */
  counts: z.boolean(),
  why: z.string(),
  evidence: z.array(z.string()),
  tokens: z.int().optional(),
});
/** One look at a proposed takeover, as a report tells it. */
export type LineageLook = z.infer<typeof lineageLookSchema>;

export const reportFormat = defineFormat({
  kind: "maintenance-report",
  version: 1,
  place: "state/maintenance/<id>.json",
  purpose: "What one maintenance run saw, did, refused and left for people.",
  shape: {
    id: z.string(),
    at: z.string(),
    mode: z.enum(["incremental", "rebuild"]),
    dryRun: z.boolean(),
    basis: z.object({ catalog: z.int(), library: z.int() }),
    /** Library revision after the run (equal to basis.library where nothing was applied). */
    library: z.int(),
    applied: z.array(editSchema.extend({ evidence: z.array(z.string()), difference: z.string().optional() })),
    /** Looked at and left as it is (`keep`), or not worth an edit (`skip`, remembered). */
    skipped: z.array(editSchema.extend({ evidence: z.array(z.string()) })).optional(),
    proposed: z.array(editSchema.extend({ evidence: z.array(z.string()), difference: z.string().optional() })),
    refused: z.array(editSchema.extend({ findings: z.array(z.string()) })),
    revived: z.array(z.string()),
    /** Skills that a changed schema would have put to rest or under review, and whose recorded calls fit it. */
    safeByUsage: z.array(z.string()).optional(),
    /** Every skill that rests after the run: why, what the run tried, and what a person can do about it. */
    stillInactive: z.array(
      z.object({ skill: z.string(), reason: z.string(), tried: z.string().optional(), way: z.string().optional() }),
    ),
    /** Proposed takeovers that were looked at in this run. */
    lineage: z.array(lineageLookSchema).optional(),
    /** What was looked at and not acted on, in words. */
    notes: z.array(z.string()).optional(),
    tokens: z.object({ used: z.int(), rebuildEstimate: z.int() }),
    /** Skills looked at, out of all. */
    looked: z.object({ due: z.int(), all: z.int() }),
  },
});
export type MaintenanceReport = z.infer<typeof reportFormat.schema>;
/** What became of the edits of a run, each in one list. */
export type MaintenanceOutcomes = Pick<MaintenanceReport, "applied" | "proposed" | "refused"> & {
  readonly skipped: NonNullable<MaintenanceReport["skipped"]>;
};

/** Edits of runs by what became of them. */
export const maintenanceTallySchema = z.object({
  runs: z.int(),
  applied: z.int(),
  skipped: z.int(),
  proposed: z.int(),
  refused: z.int(),
});
export type MaintenanceTally = z.infer<typeof maintenanceTallySchema>;
/** Every outcome of an edit; each is counted by itself. */
export const EDIT_OUTCOMES = ["applied", "skipped", "proposed", "refused"] as const;

/** `frozen` changes nothing and says what rules would do: no model is asked, no report is kept. */
export const MAINTENANCE_MODES = ["incremental", "rebuild", "frozen"] as const;
export type MaintenanceMode = (typeof MAINTENANCE_MODES)[number];

export const maintenanceRunSchema = reportFormat.schema.extend({ mode: z.enum(MAINTENANCE_MODES) });
/** What a run answers with. */
export type MaintenanceRun = z.infer<typeof maintenanceRunSchema>;

export interface MaintenanceOptions {
  readonly mode: MaintenanceMode;
  readonly dryRun: boolean;
  /** Skills whose proposals a person takes; `*` for all, `skill@signature` for what was shown alone. */
  readonly accept?: readonly string[];
}

/** How far a run is: phases in this order, `done` of `of` pieces of the phase's work. */
export const maintenanceProgressSchema = z.object({
  run: z.string(),
  mode: z.enum(MAINTENANCE_MODES),
  /** Evidence is read, proposed takeovers are looked at, edits are proposed skill by skill, tried on verified tasks, and written. */
  phase: z.enum(["evidence", "lineage", "edits", "trial", "library"]),
  done: z.int(),
  of: z.int(),
  /** What was looked at last. */
  skill: z.string().optional(),
});
export type MaintenanceProgress = z.infer<typeof maintenanceProgressSchema>;

/** The three modes on one moment, side by side; nothing of it was applied. */
export const maintenanceComparisonSchema = z.object({
  basis: z.object({ catalog: z.int(), library: z.int() }),
  modes: z.array(
    z.object({
      mode: z.enum(MAINTENANCE_MODES),
      edits: z.array(editSchema.pick({ kind: true, skill: true, cause: true })),
      /** Looked at and left. */
      skipped: z.int(),
      proposed: z.int(),
      refused: z.int(),
      /** `used`: what the run spent; questions that were answered before cost nothing again. */
      tokens: z.object({ used: z.int(), rebuildEstimate: z.int() }),
      ms: z.int(),
      /** How the library would stand, and what verified tasks would be shown of the tools they need. */
      effect: z.object({
        active: z.int(),
        resting: z.int(),
        needsReview: z.int(),
        tasks: z.object({ asked: z.int(), whole: z.int(), tools: z.int(), shown: z.int() }),
      }),
    }),
  ),
});
export type MaintenanceComparison = z.infer<typeof maintenanceComparisonSchema>;
export type ModeOutcome = MaintenanceComparison["modes"][number];

export const rejectedFormat = defineFormat({
  kind: "rejected-edits",
  version: 1,
  place: "state/rejected.json",
  purpose: "Signatures of edits that failed the gate or were skipped: not proposed again.",
  shape: { edits: z.record(z.string(), z.object({ skill: z.string(), why: z.string(), at: z.string() })) },
});
