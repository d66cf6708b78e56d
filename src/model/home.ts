/**
 * Documents about the home itself.
 *
 * Owns: daemon.json and tokens.json.
 * Speaks: pids, urls, hashes.
 * Never: tokens in clear.
 */
import { z } from "zod";
import { defineFormat } from "./format.js";

export const daemonFormat = defineFormat({
  kind: "daemon",
  version: 1,
  place: "state/daemon.json",
  purpose: "The running daemon of this home: who to talk to.",
  shape: {
    pid: z.int(),
    /** Process start time, to tell a reused pid. */
    startTime: z.string(),
    url: z.string(),
    /** File with the local operator token (mode 0600), relative to the home. */
    tokenFile: z.string(),
    version: z.string(),
  },
});
export type DaemonRecord = z.infer<typeof daemonFormat.schema>;

export const rightSchema = z.enum(["agent", "operate", "verify", "approve"]);
export type Right = z.infer<typeof rightSchema>;

export const tokensFormat = defineFormat({
  kind: "tokens",
  version: 1,
  place: "state/tokens.json",
  purpose: "Access tokens: sha256 only, with the upstreams and rights each one carries.",
  shape: {
    tokens: z.array(
      z.object({
        name: z.string(),
        sha256: z.string(),
        /** Labels it may use; `*` = all. */
        upstreams: z.array(z.string()),
        rights: z.array(rightSchema),
        /** Its views and calls stay with what still exists of this catalog version. */
        catalog: z.int().min(1).optional(),
        created: z.string(),
      }),
    ),
  },
});
export type Tokens = z.infer<typeof tokensFormat.schema>;

export const processesFormat = defineFormat({
  kind: "processes",
  version: 1,
  place: "state/processes.json",
  purpose: "Processes of upstreams that live now, so that the next daemon can end what a crash left behind.",
  shape: {
    processes: z.array(
      z.object({
        label: z.string(),
        pid: z.int(),
        startTime: z.string().optional(),
        /** Stands in the environment of the process and of all it started. */
        mark: z.string(),
        command: z.string(),
      }),
    ),
  },
});
