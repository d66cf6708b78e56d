/**
 * Documents of the sample ecosystem: which catalog version it shows, and what its upstreams keep.
 *
 * Owns: the switch file that a person moves and the upstreams watch; the state file of one upstream.
 * Speaks: version numbers and tables.
 * Never: the worlds themselves (lab/).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";

export const demoFormat = defineFormat({
  kind: "demo",
  version: 1,
  place: "state/demo.json",
  purpose: "Which catalog version the sample ecosystem shows; its upstreams watch this file.",
  shape: { version: z.int().min(1) },
});
export type Demo = z.infer<typeof demoFormat.schema>;

export const labStateFormat = defineFormat({
  kind: "lab-state",
  version: 1,
  place: "state/lab/<part>.json",
  purpose: "The tables of one upstream of a sample world, so that a restart keeps them.",
  shape: {
    world: z.string(),
    part: z.string(),
    /** table → id → row */
    tables: z.record(z.string(), z.record(z.string(), z.record(z.string(), z.json()))),
  },
});
export type LabState = z.infer<typeof labStateFormat.schema>;
