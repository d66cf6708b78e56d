/**
 * Skills taken into the library from upstreams that serve them.
 *
 * Owns: what is remembered of each upstream's skills beside their bytes, which are the library's.
 * Speaks: URIs as the upstream spells them, skill names as the library knows them, digests.
 * Never: standings; how a skill is read from an upstream.
 */
import { z } from "zod";
import { defineFormat } from "./format.js";
import type { Digest } from "./ids.js";
import type { WrittenSkill } from "./skill.js";

/** What becomes of the skills that an upstream serves: passed on under its label, taken into the library as well, or neither. */
export const SKILL_MODES = ["forward", "import", "off"] as const;
export type SkillMode = (typeof SKILL_MODES)[number];

const takenSkillSchema = z.object({
  /** As the upstream spells it. */
  uri: z.string(),
  /** False where the last complete list of the upstream did not have it. */
  served: z.boolean(),
  /** Digest over the files as they were served. */
  source: z.string(),
  /** Digest of the folder as it was put into the library; a skill of other bytes is not the upstream's any more. */
  digest: z.string(),
  /** What the scan found that a person must have looked at; empty where nothing. */
  findings: z.array(z.string()),
  /** `source` of the bytes that a person let pass all the same. */
  approved: z.string().optional(),
  /** A person took it out of the library: it is not taken in again. */
  removed: z.boolean().optional(),
});
export type TakenSkill = z.infer<typeof takenSkillSchema>;

const upstreamSkillsSchema = z.object({
  /** By name in the library. */
  skills: z.record(z.string(), takenSkillSchema),
  /** What was served last and could not be taken in, and why. */
  refused: z.array(z.object({ uri: z.string(), code: z.string(), text: z.string() })),
});
export type UpstreamSkills = z.infer<typeof upstreamSkillsSchema>;
export type RefusedSkill = UpstreamSkills["refused"][number];

export const upstreamSkillsFormat = defineFormat({
  kind: "upstream-skills",
  version: 1,
  place: "state/upstream-skills.json",
  purpose: "Skills taken in from upstreams: where each comes from, whether it is still served, what was refused.",
  shape: {
    /** By label. */
    upstreams: z.record(z.string(), upstreamSkillsSchema),
  },
});

/** One skill as an upstream serves it now. */
export interface ServedFolder {
  readonly uri: string;
  /** Digest over the files as served. */
  readonly source: Digest;
  /** Absent where `source` is what was taken last: its files need not be read again. */
  readonly written?: WrittenSkill | undefined;
  /** Oddities that did not keep it from being read. */
  readonly problems: readonly RefusedSkill[];
}
