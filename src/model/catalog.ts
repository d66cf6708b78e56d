/**
 * The catalog: all tools known at one moment, as an immutable numbered snapshot.
 *
 * Owns: the manifest format, the snapshot in memory, presence and exposure marks.
 * Speaks: tool keys and digests.
 * Never: upstream connections, standings, search.
 */
import { z } from "zod";
import { defineFormat } from "./format.js";
import type { CatalogVersion, Digest, Instant, ToolKey, UpstreamLabel } from "./ids.js";
import type { Tool } from "./tool.js";

const digestsShape = z.object({ contract: z.string(), text: z.string(), document: z.string() });

export const catalogManifestFormat = defineFormat({
  kind: "catalog-manifest",
  version: 1,
  place: "catalog/versions/NNNNNN.json",
  purpose: "One immutable catalog version: what every tool was, by digest.",
  shape: {
    version: z.int().min(1),
    time: z.string(),
    /** Why there is a new version, e.g. `listing of shop (list_changed)`. */
    cause: z.string(),
    /** `catalog/1` digest over sorted (tool key, document, contract, text). */
    digest: z.string(),
    /** tool key → digests */
    tools: z.record(z.string(), digestsShape),
    /** Tools that left: tool key → last digests and the last version that had them. Carried forward. */
    departed: z.record(z.string(), digestsShape.extend({ lastVersion: z.int().min(1) })),
  },
});
export type CatalogManifest = z.infer<typeof catalogManifestFormat.schema>;

/** Which versions are on disc, ascending, but for 0, the empty catalog that every history begins with: it needs no manifest. */
export interface KeptVersions {
  readonly kept: readonly CatalogVersion[];
  readonly damaged: readonly DamagedVersion[];
}
/** A version whose manifest cannot be read. */
export interface DamagedVersion {
  readonly version: CatalogVersion;
  /** Where the damaged file lies, relative to the home. */
  readonly file: string;
  /** Where a good one would lie. */
  readonly place: string;
  readonly why: string;
}

/** The catalog in memory. `tools` is sorted by key (code point order). */
export interface Catalog {
  readonly version: CatalogVersion;
  readonly digest: Digest;
  readonly time: Instant;
  readonly tools: ReadonlyMap<ToolKey, Tool>;
  readonly departed: ReadonlyMap<ToolKey, DepartedTool>;
}
export interface DepartedTool {
  readonly contract: Digest;
  readonly text: Digest;
  readonly document: Digest;
  readonly lastVersion: CatalogVersion;
}

/** Presence of an upstream: CONTRACTS.md "Presence". */
export type PresenceState = "connecting" | "up" | "idle" | "away" | "parked" | "disabled";
export interface Presence {
  readonly state: PresenceState;
  /** When this state began: what waits on it (the grace period) counts from here. */
  readonly since: Instant;
  readonly reason: string | undefined;
}
export type PresenceMap = ReadonlyMap<UpstreamLabel, Presence>;

export const presenceFormat = defineFormat({
  kind: "presence",
  version: 1,
  place: "state/presence.json",
  purpose: "Presence of each upstream with the time it began.",
  shape: {
    upstreams: z.record(
      z.string(),
      z.object({
        state: z.enum(["connecting", "up", "idle", "away", "parked", "disabled"]),
        since: z.string(),
        reason: z.string().optional(),
      }),
    ),
  },
});

export const catalogPinSchema = z.object({
  version: z.int().min(1),
  at: z.string(),
  by: z.string(),
  /** What that version had: tool key → contract digest. Kept here, so that a pin outlives what retention takes away. */
  tools: z.record(z.string(), z.string()),
});
export type CatalogPin = z.infer<typeof catalogPinSchema>;

export const catalogPinsFormat = defineFormat({
  kind: "catalog-pins",
  version: 1,
  place: "state/catalog-pins.json",
  purpose: "Tokens whose views and calls stay with what still exists of one catalog version.",
  shape: {
    /** token name (`mcp` and `local` for callers without one) → its pin */
    tokens: z.record(z.string(), catalogPinSchema),
  },
});

/** How far a definition went that needed nobody's approval: its effect, and what the scan found in it. */
const measureShape = z.object({ readOnly: z.boolean(), destructive: z.boolean(), findings: z.array(z.string()) });

/** A tool that waits for a person's approval after a safety change. */
export const holdsFormat = defineFormat({
  kind: "holds",
  version: 1,
  place: "state/holds.json",
  purpose: "Tools held after a safety change, and the approvals people gave, each bound to digests.",
  shape: {
    held: z.record(
      z.string(),
      z.object({
        since: z.string(),
        /** The digests last accepted, that the change is measured from. */
        from: digestsShape,
        /** The digests that wait for approval. */
        to: digestsShape,
        reasons: z.array(z.object({ rule: z.string(), text: z.string() })),
        /** What a change is measured by, of the definition last accepted: it may be gone when the tool moves again. */
        accepted: measureShape.optional(),
        /** The tool that it took over from, where it is measured from that one's definition. */
        predecessor: z.string().optional(),
      }),
    ),
    approved: z.record(
      z.string(),
      z.object({
        contract: z.string(),
        text: z.string(),
        document: z.string(),
        at: z.string(),
        by: z.string(),
        /** What the scan found grave in it when it was approved. */
        findings: z.array(z.string()).optional(),
        /** Of the hold that the approval ended: what the tool is measured from again once contract or text move. */
        measure: z.object({ from: digestsShape, accepted: measureShape, predecessor: z.string().optional() }).optional(),
      }),
    ),
    /** Tools whose texts changed and were not looked at yet: served, and marked `review`. */
    review: z.record(z.string(), z.object({ since: z.string(), from: digestsShape, to: digestsShape })),
    /** Of tools that are worse than what they were accepted for: that. All others are their own measure. */
    own: z.record(z.string(), z.object({ from: digestsShape, accepted: measureShape })).optional(),
    /** Of tools that took over from narrower ones: the measures of those, each with the takeovers by which it came. */
    heirs: z
      .record(
        z.string(),
        z.array(
          z.object({
            /** Whose measure it is. */
            of: z.string(),
            /** From that tool to this one; it counts while all of them are in force. `came`: the later tool came with the takeover. */
            via: z.array(z.object({ from: z.string(), to: z.string(), came: z.boolean() })),
            from: digestsShape,
            accepted: measureShape,
          }),
        ),
      )
      .optional(),
  },
});
export type Holds = z.infer<typeof holdsFormat.schema>;
export type Hold = Holds["held"][string];
