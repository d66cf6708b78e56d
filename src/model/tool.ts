/**
 * A tool, as an upstream lists it and as the core relies on it.
 *
 * Owns: `ListedTool` (as written), `Tool` (as relied on), the three digests, effective annotations.
 * Speaks: JSON Schema as opaque JSON.
 * Never: how digests are computed (catalog/digest.ts) or how a listing is read (catalog/intake.ts).
 */
import type { Digest, ToolKey, UpstreamLabel } from "./ids.js";
import type { JsonObject } from "./json.js";
import type { Problem } from "./problem.js";

/** One member of an upstream's `tools/list`, untouched: unknown fields survive. */
export type ListedTool = JsonObject & { name: string };

/** Annotations with the protocol's defaults filled in; read-only hides destructive. */
export interface EffectiveAnnotations {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
}

export interface ToolDigests {
  /** Input and output schema and effective annotations, normalised. */
  readonly contract: Digest;
  /** Title and all descriptions, without the name. */
  readonly text: Digest;
  /** The whole listed tool. */
  readonly document: Digest;
}

export interface Tool {
  readonly key: ToolKey;
  readonly label: UpstreamLabel;
  readonly name: string;
  /** The listed tool, lossless. */
  readonly document: ListedTool;
  /** Cleaned of invisible and control characters: what agents and managers are shown. */
  readonly title: string | undefined;
  readonly description: string;
  /** As listed, or `{type:"object"}` where it was missing or empty. */
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | undefined;
  readonly annotations: EffectiveAnnotations;
  readonly digests: ToolDigests;
  /** What the lenient reader repaired or dropped (the tool stays callable). */
  readonly problems: readonly Problem[];
}
