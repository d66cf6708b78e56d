/**
 * Skills: procedural knowledge in Agent Skills folders, tied to tools by a contract.
 *
 * Owns: tiers, the contract and lock formats, the skill as written and as relied on, library revisions.
 * Speaks: names, digests, tool keys.
 * Never: SKILL.md syntax (skills/text.ts) or standings (standing.ts).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";
import type { Digest, LibraryRevision, SkillName, ToolKey } from "./ids.js";
import type { Problem } from "./problem.js";

export type Tier = "planning" | "atomic" | "tool";
export const tierSchema = z.enum(["planning", "atomic", "tool"]);

export const requirementSchema = z.object({
  tool: z.string(),
  /** Contract digest at authoring. */
  contractDigest: z.string(),
  /** Parameters the skill sets, dotted. */
  params: z.array(z.string()),
  /** Output fields the skill reads, dotted. */
  reads: z.array(z.string()),
  /** Members of one group are alternatives: the best one counts. */
  anyGroup: z.string().optional(),
  /** An optional requirement never rests the skill. */
  optional: z.boolean().optional(),
  /** True until a person or replay confirmed a dependency read out of prose. */
  inferred: z.boolean().optional(),
});
export type Requirement = z.infer<typeof requirementSchema>;

export const contractFormat = defineFormat({
  kind: "contract",
  version: 1,
  place: "skills/<name>/references/contract.json",
  purpose: "What a skill needs of tools and skills; written only by an accepted edit.",
  shape: {
    requires: z.array(requirementSchema),
    /** Skills this one builds on. */
    uses: z.array(z.string()),
    /** Names of values the skill yields, e.g. `order_id`. */
    produces: z.array(z.string()),
    evidence: z.array(z.object({ trajectory: z.string(), steps: z.array(z.int()), verifier: z.string() })),
  },
});
export type Contract = z.infer<typeof contractFormat.schema>;

export const lockFormat = defineFormat({
  kind: "steward-lock",
  version: 1,
  place: "skills/steward.lock.json",
  purpose: "Per skill: tier, revision, file digests and the tool digests it was verified against.",
  shape: {
    revision: z.int().min(0),
    skills: z.record(
      z.string(),
      z.object({
        tier: tierSchema,
        /** Library revision that wrote these bytes. */
        revision: z.int().min(0),
        provenance: z.enum(["starter", "rules", "llm", "human", "import"]),
        /** relative path → sha256 */
        files: z.record(z.string(), z.string()),
        /** tool key → digests of the definition the skill was last verified against */
        verified: z.record(z.string(), z.object({ contract: z.string(), text: z.string(), document: z.string() })),
        /** Folder digest that a person let pass though the scan found text that speaks to a model. */
        approved: z.string().optional(),
        /** A person reverted the skill: digests of the folders that were left, and whether the person's choice still stands. */
        reverted: z
          .object({
            left: z.array(z.string()),
            stands: z.boolean(),
            /** One of those that were left which the person's last word asks for again. */
            meant: z.string().optional(),
          })
          .optional(),
        /** A mapping that the skill was bound by was corrected: to be looked at as long as the folder has the digest `of`. */
        remapped: z
          .object({
            of: z.string(),
            /** The tool whose arguments it may set wrongly. */
            on: z.string(),
            text: z.string(),
            /** The library revision from which it is bound anew once it is unpinned. */
            back: z.int().optional(),
          })
          .optional(),
      }),
    ),
  },
});
export type Lock = z.infer<typeof lockFormat.schema>;
export type LockEntry = Lock["skills"][string];
export type Provenance = LockEntry["provenance"];
/** What a person said of a skill's bytes. */
export type SkillMarks = Pick<LockEntry, "approved" | "reverted" | "remapped">;

/** A skill folder as found: relative path → text. Always has `SKILL.md`. */
export interface WrittenSkill {
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
}

export interface SkillStep {
  /** 1-based. */
  readonly n: number;
  /** The step's sentence without code spans of tools and skills. */
  readonly goal: string;
  /** The step as written. */
  readonly text: string;
  readonly skills: readonly SkillName[];
  readonly tools: readonly ToolKey[];
}

/** A skill as the core relies on it. */
export interface Skill {
  readonly name: SkillName;
  readonly tier: Tier;
  readonly description: string;
  /** Markdown after the front matter. */
  readonly body: string;
  readonly steps: readonly SkillStep[];
  readonly contract: Contract;
  readonly provenance: Provenance;
  /** All metadata of the front matter, flat strings. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly license: string | undefined;
  readonly compatibility: string | undefined;
  readonly allowedTools: string | undefined;
  /** Every file of the folder, bytes as text. */
  readonly files: Readonly<Record<string, string>>;
  /** sha256 over sorted (path, sha256 of bytes). */
  readonly digest: Digest;
  readonly problems: readonly Problem[];
}

export const editSchema = z.object({
  /** add = new skill; modify = replacement of an existing one; keep = looked at, unchanged; skip = not worth an edit; remove only by a person. */
  kind: z.enum(["add", "modify", "keep", "skip", "remove"]),
  skill: z.string(),
  /** Why: tool, rule and digests, or the evidence. */
  cause: z.string(),
  /** Content signature by which a refused or skipped edit is remembered. */
  signature: z.string(),
  by: z.enum(["mechanical", "rules", "llm", "human", "import", "starter"]),
});
export type EditRecord = z.infer<typeof editSchema>;

export const libraryRevisionFormat = defineFormat({
  kind: "library-revision",
  version: 1,
  place: "state/library/revisions/NNNNNN.json",
  purpose: "One whole library revision: every skill's files by digest, and the edits that made it.",
  shape: {
    revision: z.int().min(1),
    time: z.string(),
    cause: z.string(),
    catalogVersion: z.int().min(0),
    edits: z.array(editSchema),
    /** skill → relative path → sha256 of an object in state/library/objects */
    skills: z.record(z.string(), z.record(z.string(), z.string())),
    lock: lockFormat.schema,
  },
});
export type LibraryRevisionRecord = z.infer<typeof libraryRevisionFormat.schema>;

/** The library in memory. */
export interface Library {
  readonly revision: LibraryRevision;
  readonly skills: ReadonlyMap<SkillName, Skill>;
  readonly lock: Lock;
}
