/** Routes of maintenance, episodes, views and the daemon itself. */
import { z } from "zod";
import { EPISODE_STATES } from "../../model/episode.js";
import { recordedEpisodeSchema } from "../../model/recorded.js";
import { MAINTENANCE_MODES } from "../../model/maintenance.js";
import { reaches } from "../../model/reach.js";
import * as answers from "./answers.js";
import { digits, name, noBody, PEOPLE, route, wholeNumber } from "./route.js";
import type { Route } from "./route.js";

export const workRoutes: readonly Route[] = [
  route({
    method: "post",
    path: "/maintenance",
    tag: "maintenance",
    rights: ["operate"],
    summary: "Runs maintenance and answers with its report; as an event stream with progress.",
    body: z
      .strictObject({
        mode: z
          .enum(MAINTENANCE_MODES)
          .optional()
          .describe("incremental: what drifted; rebuild: everything, from the evidence anew; frozen: nothing, only told."),
        dryRun: z.boolean().optional(),
        accept: z
          .array(name)
          .max(1_000)
          .optional()
          .describe(
            "Skills whose proposals are taken; `*` for all; `skill@signature` (12 characters or more): only what was shown.",
          ),
      })
      .optional(),
    answer: answers.report,
    event: "report",
    run: (operations, { body, caller, tell }) =>
      operations.maintain(
        { mode: body?.mode ?? "incremental", dryRun: body?.dryRun ?? false, accept: body?.accept ?? [] },
        caller,
        tell,
      ),
  }),
  route({
    method: "post",
    path: "/maintenance/compare",
    tag: "maintenance",
    rights: ["operate"],
    summary: "What each mode would do now, side by side: edits, tokens, time, effect. Nothing is applied.",
    body: noBody,
    answer: answers.comparison,
    event: "comparison",
    run: (operations, { tell }) => operations.compareModes(tell),
  }),
  route({
    method: "get",
    path: "/maintenance",
    tag: "maintenance",
    rights: [],
    summary: "Reports of maintenance runs, newest first.",
    answer: answers.reports,
    run: (operations) => operations.reports(),
  }),
  route({
    method: "get",
    path: "/maintenance/:id",
    tag: "maintenance",
    rights: [],
    summary: "One maintenance report; of a run under way (`current`: the newest) once it ends, as an event stream with progress.",
    answer: answers.report,
    event: "report",
    run: (operations, { params, tell }) => operations.report(params["id"] ?? "", tell),
  }),
  route({
    method: "get",
    path: "/episodes",
    tag: "episodes",
    rights: PEOPLE,
    summary: "Episodes, newest first.",
    query: z.object({
      state: z
        .enum(EPISODE_STATES)
        .optional()
        .describe(
          "some (default): all that are not empty; empty: nothing but searches outside a task; finished: with an outcome.",
        ),
      limit: digits(wholeNumber.min(1)).optional().describe("At most this many, the newest."),
    }),
    answer: answers.episodes,
    run: (operations, { query }) =>
      operations.episodes({
        ...(query.state === undefined ? {} : { state: query.state }),
        ...(query.limit === undefined ? {} : { limit: query.limit }),
      }),
  }),
  route({
    method: "post",
    path: "/episodes/import",
    tag: "episodes",
    rights: ["verify"],
    summary: "Takes in what logs of other programs say happened; a trusted outcome becomes evidence.",
    body: z.strictObject({
      episodes: z.array(recordedEpisodeSchema).max(10_000),
      server: name.optional().describe("Upstream label for names that are not told apart otherwise."),
      map: z
        .record(z.string(), z.string().max(300))
        .optional()
        .describe("Name in the log → tool key; an empty text leaves it out."),
      dryRun: z.boolean().optional(),
    }),
    answer: answers.imported,
    run: (operations, { body, caller }) => operations.importEpisodes(body, caller),
  }),
  route({
    method: "get",
    path: "/episodes/:id",
    tag: "episodes",
    rights: PEOPLE,
    summary: "One episode with its calls.",
    answer: answers.episodeDetail,
    run: (operations, { params }) => operations.episode(params["id"] ?? ""),
  }),
  route({
    method: "post",
    path: "/episodes/:id/verify",
    tag: "episodes",
    rights: ["verify"],
    summary: "Records a verified outcome: it becomes evidence.",
    body: z.strictObject({
      outcome: z.enum(["success", "failure", "abandoned"]),
      trust: z.enum(["state", "replay", "human"]),
      note: z.string().max(4_000).optional(),
    }),
    answer: answers.episode,
    run: (operations, { params, body, caller }) =>
      operations.verifyEpisode(
        params["id"] ?? "",
        { outcome: body.outcome, trust: body.trust, ...(body.note === undefined ? {} : { note: body.note }) },
        caller,
      ),
  }),
  route({
    method: "get",
    path: "/views/:id",
    tag: "episodes",
    rights: PEOPLE,
    summary: "A view as it was answered, with its decisions and basis.",
    answer: answers.viewRecord,
    run: (operations, { params }) => operations.viewRecord(params["id"] ?? ""),
  }),
  route({
    method: "post",
    path: "/views/:id/replay",
    tag: "episodes",
    rights: PEOPLE,
    summary: "Makes a view again from its record and compares.",
    body: noBody,
    answer: answers.replayed,
    run: (operations, { params }) => operations.replay(params["id"] ?? ""),
  }),
  route({
    method: "get",
    path: "/upstreams",
    tag: "daemon",
    rights: PEOPLE,
    withinReach: true,
    summary: "Upstreams with presence, era, capabilities and the tail of their stderr.",
    answer: answers.upstreams,
    run: (operations, { caller }) => operations.upstreams().filter(({ label }) => reaches(caller.upstreams, label)),
  }),
  route({
    method: "get",
    path: "/health",
    tag: "daemon",
    rights: [],
    withinReach: true,
    summary: "What runs here, on which home, with which problems.",
    answer: answers.health,
    run: (operations, { caller }) => operations.health(caller),
  }),
];
