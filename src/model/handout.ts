/** What was handed out to a client's skill folder: how our copies are told from what is somebody else's. */
import { z } from "zod";
import { defineFormat } from "./format.js";

export const handoutFormat = defineFormat({
  kind: "skill-handout",
  version: 1,
  place: "<client's skill folder>/.steward-handout.json",
  purpose: "Skills that `steward skills export` wrote into a client's folder, by file digest, so that it touches no others.",
  shape: {
    /** skill → relative path → sha256 */
    skills: z.record(z.string(), z.record(z.string(), z.string())),
  },
});
export type Handout = z.infer<typeof handoutFormat.schema>;
