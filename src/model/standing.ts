/**
 * Standing of a skill: active or inactive, with reasons.
 *
 * Owns: the stored standings and their reasons.
 * Speaks: rules, levels, tool keys.
 * Never: computing a standing (world/standings.ts joins the nouns).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";

export const reasonSchema = z.object({
  /** The tool, the skill (`skill:<name>`) or the serving upstream (`upstream:<label>`) that causes it. */
  on: z.string(),
  rule: z.string(),
  level: z.enum(["compatible", "review", "dangerous", "unknown", "breaking", "safety"]),
  text: z.string(),
  /** What a person can do about it, in a sentence that names the command; absent where only the upstream can. */
  way: z.string().optional(),
});
export type StandingReason = z.infer<typeof reasonSchema>;

export const standingSchema = z.object({
  standing: z.enum(["active", "inactive"]),
  /** Short word for the table when inactive: `broken`, `held`, `unreachable`, `dependency`, `missing`, `unserved`. */
  because: z.string().optional(),
  needsReview: z.boolean(),
  /** True where recorded arguments were validated and nothing else fired. */
  safeByUsage: z.boolean().optional(),
  /** Of a resting skill first what it rests for and a person can do something about, then what else it rests for, then the rest. */
  reasons: z.array(reasonSchema),
  /** When this standing (the active/inactive word) began. */
  since: z.string(),
});
export type Standing = z.infer<typeof standingSchema>;

/** A skill on which nothing was decided yet. */
export const UNSETTLED: Standing = Object.freeze({
  standing: "inactive",
  because: "missing",
  needsReview: false,
  reasons: [],
  since: "",
});

export const standingsFormat = defineFormat({
  kind: "standings",
  version: 1,
  place: "state/standings.json",
  purpose: "Standing of every skill with reasons.",
  shape: {
    skills: z.record(z.string(), standingSchema),
    pinned: z.record(z.string(), z.object({ at: z.string(), by: z.string() })),
  },
});
