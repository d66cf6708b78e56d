/** The native graph of vectors, where npm could build it. Everything works without: every vector is then looked at. */
import { createRequire } from "node:module";
import type { GraphAddon } from "../retrieve/nominate.js";

/** Loaded when first asked for; undefined where it is not there or does not fit this machine. */
export function loadGraphAddon(): GraphAddon | undefined {
  try {
    return createRequire(import.meta.url)("hnswlib-node") as GraphAddon;
  } catch {
    return undefined;
  }
}
