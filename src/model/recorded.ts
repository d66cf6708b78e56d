/**
 * Recorded episodes: what a log of another program says happened, before it is an episode of ours.
 *
 * Owns: the neutral form every foreign log is brought to, and the answer to an import.
 * Speaks: names as the log has them; data of results, not wire forms.
 * Never: which tool a name means (evidence/names.ts) or how a log is read (evidence/).
 */
import { z } from "zod";
import { callLineFormat, episodeFormat } from "./episode.js";
import { defineFormat } from "./format.js";

/** An episode as `steward episodes export` writes it, one a line; read back by an import. */
export const episodeExportFormat = defineFormat({
  kind: "episode-export",
  version: 1,
  place: "wherever `steward episodes export` is told to write (one line an episode)",
  purpose: "One episode with its calls, to be taken to another home.",
  shape: { episode: episodeFormat.schema, calls: z.array(callLineFormat.schema) },
});

export const recordedCallSchema = z.strictObject({
  /** The tool's name as the log has it. */
  name: z.string().min(1).max(1_000),
  /** The server the log names beside it. */
  server: z.string().max(1_000).optional(),
  args: z.record(z.string(), z.json()),
  /** Data of the result; absent where the log does not have it. */
  result: z.json().optional(),
  isError: z.boolean().optional(),
  at: z.string().max(100).optional(),
  /** Known already where the log is ours: then the result itself need not be there. */
  shape: callLineFormat.schema.shape.shape.optional(),
  flows: callLineFormat.schema.shape.flows.optional(),
  redacted: z.array(z.string()).optional(),
});
export type RecordedCall = z.infer<typeof recordedCallSchema>;

export const recordedEpisodeSchema = z.strictObject({
  /** Its id here, where the log is ours: taken again it is the same episode. */
  id: z
    .string()
    .regex(/^ep_[a-z0-9]{4,60}$/)
    .optional(),
  /** Where it stands in its log, for messages: `run 3`, `session x, prompt 2`. */
  source: z.string().min(1).max(1_000),
  task: z.string().max(100_000),
  at: z.string().max(100).optional(),
  calls: z.array(recordedCallSchema).max(10_000),
  outcome: z
    .strictObject({
      outcome: z.enum(["success", "failure", "abandoned"]),
      trust: z.enum(["claim", "state", "replay", "human"]),
      note: z.string().max(4_000).optional(),
    })
    .optional(),
});
export type RecordedEpisode = z.infer<typeof recordedEpisodeSchema>;

export interface ImportRequest {
  readonly episodes: readonly RecordedEpisode[];
  /** Upstream label for names that are not told apart otherwise. */
  readonly server?: string | undefined;
  /** Name in the log → tool key here; an empty text leaves its calls out without a word. */
  readonly map?: Readonly<Record<string, string>> | undefined;
  readonly dryRun?: boolean | undefined;
}

export const importAnswerSchema = z.object({
  imported: z.array(z.string()),
  /** Episodes that were here before. */
  known: z.int(),
  /** What the log says became of episodes that were here before: heard where nothing as trusted was said yet, else left and named. */
  verdicts: z.object({
    taken: z.array(z.string()),
    left: z.array(z.object({ episode: z.string(), why: z.string() })),
  }),
  skipped: z.array(z.object({ source: z.string(), why: z.string() })),
  calls: z.object({ taken: z.int(), left: z.int() }),
  verified: z.int(),
  /** Names that belong to no tool of the catalog, and how to say whose they are. */
  unknown: z.array(z.object({ name: z.string(), calls: z.int(), way: z.string() })),
});
export type ImportAnswer = z.infer<typeof importAnswerSchema>;
