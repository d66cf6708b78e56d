/**
 * Lineage: which tool or tools took over from which.
 *
 * Owns: the stored links with their evidence, level and who confirmed them; hints of takeovers to come.
 * Speaks: tool keys and parameter names.
 * Never: finding links (catalog/lineage) or applying them to skills (maintain/).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";

/** What a machine found when it looked at a link, and on which definitions. */
export const lineageOpinionSchema = z.object({
  how: z.enum(["manager", "replay"]),
  verdict: z.enum(["confirm", "reject", "leave"]),
  /** The model that was asked, or what was called again. */
  by: z.string(),
  at: z.string(),
  /** Digest of all it was told by: while that stays, the link is not looked at again in this way. */
  basis: z.string(),
  why: z.string(),
  evidence: z.array(z.string()),
  /** What asking cost. */
  tokens: z.int().optional(),
});
export type LineageOpinion = z.infer<typeof lineageOpinionSchema>;

/** Whose word stands. Without `how`: a person's. */
const wordSchema = z.object({ by: z.string(), at: z.string(), how: z.enum(["person", "manager", "replay"]).optional() });
export type LineageWord = z.infer<typeof wordSchema>;

export const lineageLinkSchema = z.object({
  /** Stable: digest of (atVersion, from, to). */
  id: z.string(),
  kind: z.enum(["renamed", "split", "merged", "superseded"]),
  /** The tool that left (one link per tool that left). */
  from: z.string(),
  /** What took over, in order of use: one for renamed and merged, several for split. */
  to: z.array(z.string()).min(1),
  /** The catalog version in which `from` was missing first. */
  atVersion: z.int().min(1),
  level: z.enum(["certain", "proposed"]),
  /** old parameter → new parameter (of the first target that has it). */
  params: z.record(z.string(), z.string()),
  /** Arguments of the target that are fixed when it stands in for `from` (a merged tool's mode). */
  fixedArguments: z.record(z.string(), z.json()),
  /** 0…1 */
  score: z.number(),
  evidence: z.array(z.string()),
  /** A person said so, or corrected what it maps and fixes; whether that word is in force is told by `confirmed`. */
  stated: z.object({ by: z.string(), at: z.string() }).optional(),
  confirmed: wordSchema.optional(),
  rejected: wordSchema.optional(),
  /** The newest of each way of looking. */
  opinions: z.array(lineageOpinionSchema).optional(),
  /** `params` as they were proposed, where a confirmation corrected them. */
  proposedParams: z.record(z.string(), z.string()).optional(),
});
export type LineageLink = z.infer<typeof lineageLinkSchema>;

export const LINK_STATES = ["followed", "followed-on", "passed-over", "returned", "earlier", "ended", "rejected"] as const;
/** What is of a link in the present catalog (catalog/lineage/chain.ts). */
export type LinkState = (typeof LINK_STATES)[number];

/** An opinion on its way to its link. */
export interface LineageVerdict {
  readonly link: string;
  readonly opinion: LineageOpinion;
  /** The parameters it confirms, where they are not those proposed. */
  readonly params?: Readonly<Record<string, string>> | undefined;
}

export const supersedeHintSchema = z.object({
  /** Key of the tool that was there. */
  from: z.string(),
  /** Key of the tool that looks, or is said to be, its successor. */
  to: z.string(),
  /** The catalog version in which that was seen. */
  atVersion: z.int().min(1),
  /** 0…1; 1 where the text of `from` names `to`. */
  score: z.number(),
  /** The text of `from` says that it is deprecated and names `to`. */
  told: z.boolean().optional(),
});
/** A tool seen beside the one it stands for, while that one was still there. Used when that one leaves. */
export type SupersedeHint = z.infer<typeof supersedeHintSchema>;

export const lineageFormat = defineFormat({
  kind: "lineage",
  version: 1,
  place: "catalog/lineage.json",
  purpose: "Replacements of tools with their evidence and who confirmed them.",
  shape: {
    links: z.array(lineageLinkSchema),
    /** Sorted by (from, to); only of tools that may still leave. */
    hints: z.array(supersedeHintSchema).optional(),
  },
});
