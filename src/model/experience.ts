/**
 * Experience: how far what served verified tasks is trusted to serve similar ones.
 *
 * Owns: the stored calibration. The memories themselves are the verified episodes.
 * Speaks: weights and gates as retrieval found them, and what they were found on.
 * Never: finding them (retrieve/calibrate.ts).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";

export const calibrationSchema = z.object({
  /** What a full vote of similar tasks is worth, in parts of the best text score; 0 = nothing. */
  weight: z.number(),
  /** Similarity below which a tool's most similar task says nothing, and from which on it says all. */
  from: z.number(),
  to: z.number(),
  /** Memories and catalog version it was found on. */
  memories: z.int(),
  catalog: z.int(),
});
export type Calibration = z.infer<typeof calibrationSchema>;

export const NO_CALIBRATION: Calibration = Object.freeze({ weight: 0, from: 0, to: 1, memories: 0, catalog: 0 });

export const experienceFormat = defineFormat({
  kind: "experience",
  version: 1,
  place: "state/experience.json",
  purpose: "How far verified experience is trusted in retrieval, so that a start need not find it again.",
  shape: { calibration: calibrationSchema },
});
