/**
 * Samples: arguments that calls of a tool really had, in episodes that were verified as successes.
 *
 * Owns: the stored samples of a tool, and what is known of patterns that were run on their texts.
 * Speaks: argument objects without their redacted leaves, digests of evidence.
 * Never: which skill a sample speaks for (world/samples.ts), running a pattern (host/patterns.ts).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";

export const sampleSchema = z.object({
  /** sha256 over the canonical (args, redacted). */
  digest: z.string(),
  /** The argument object; what was redacted is taken out. */
  args: z.record(z.string(), z.json()),
  /** Dotted paths of what was taken out: they count as given. */
  redacted: z.array(z.string()),
  /** Calls that had exactly these arguments, newest first. */
  calls: z.array(
    z.object({
      /** Digest of the evidence that has the call. */
      evidence: z.string(),
      episode: z.string(),
      seq: z.int(),
      /** Contract digest the call was made under. */
      contract: z.string(),
    }),
  ),
});
export type Sample = z.infer<typeof sampleSchema>;

export const samplesFormat = defineFormat({
  kind: "samples",
  version: 1,
  place: "state/samples/<sha256 of the tool key>.json",
  purpose: "Arguments that verified calls of one tool had: what a moved schema is tried on before a skill is put to rest.",
  shape: { tool: z.string(), samples: z.array(sampleSchema) },
});

export const patternAnswersFormat = defineFormat({
  kind: "pattern-answers",
  version: 1,
  place: "state/patterns.json",
  purpose: "What upstreams' patterns said of recorded texts: they are run beside the daemon, under a deadline, once.",
  shape: {
    /** sha256 of the canonical [pattern, text] → does it match; null where it is no pattern or did not end in time. */
    answers: z.record(z.string(), z.boolean().nullable()),
  },
});
export type PatternAnswer = boolean | null;

/** A pattern of an upstream's schema and a recorded text that it bears on. */
export interface PatternQuestion {
  readonly pattern: string;
  readonly text: string;
}
