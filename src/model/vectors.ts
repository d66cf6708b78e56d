/**
 * Vectors: what an embedder made of texts, and the port to it.
 *
 * Owns: the stored formats of the cache, rows as events carry them, the embedder's port.
 * Speaks: unit vectors, digests of texts, identities of embedders.
 * Never: searching (retrieve/), asking an endpoint (manager/).
 */
import { z } from "zod";
import { defineFormat } from "./format.js";
import type { Digest } from "./ids.js";

/** Base64 of 32-bit floats, little-endian. */
const packed = z.string();

export const vectorsFormat = defineFormat({
  kind: "vectors",
  version: 1,
  place: "state/vectors/<identity>.jsonl (first line)",
  purpose: "Derived: whose vectors follow, one `vector` a line. May be deleted: texts are then embedded again.",
  shape: {
    /** Names the embedder in the basis of an answer. */
    identity: z.string(),
    url: z.string(),
    model: z.string(),
    dimension: z.int().min(1),
    /** What it made of a fixed text: another model behind the same address gives itself away by it. */
    probe: packed,
  },
});
export type VectorsHead = z.infer<typeof vectorsFormat.schema>;

export const vectorFormat = defineFormat({
  kind: "vector",
  version: 1,
  place: "state/vectors/<identity>.jsonl (further lines; a line that is torn or no unit vector is passed over)",
  purpose: "Derived: the vector of one text.",
  shape: {
    /** sha256 of the text. */
    text: z.string(),
    vector: packed,
  },
});

/** A text that stands for something in the embedder's space. */
export interface DueText {
  readonly of: "tool" | "skill";
  /** Tool key or skill name. */
  readonly id: string;
  /** sha256 of the text. */
  readonly digest: Digest;
  readonly text: () => string;
}

/** What an embedder made of a due text. */
export interface EmbeddedText {
  readonly of: "tool" | "skill";
  readonly id: string;
  /** sha256 of the text that was embedded: void where the present text is another one. */
  readonly text: Digest;
  /** Length 1. */
  readonly vector: Float32Array;
}

/** The embedder behind a need: asked with a short deadline, never waited for beyond it. */
export interface Embedder {
  /**
   * The need's unit vector and whose it is; `why` in words where there is none this time; `off` where none is configured or nothing is
   * embedded yet.
   */
  embed(need: string): Promise<NeedVector>;
  /** How it stands, in words for people. */
  status(): string;
  /** False where somebody should look: needs go by words, or some texts are not found by meaning. */
  isFine(): boolean;
  /** Asks again at once what is waited with: somebody changed something, or wants to know. */
  retry(): void;
}

export type NeedVector =
  | { readonly kind: "vector"; readonly embedder: string; readonly vector: Float32Array }
  | { readonly kind: "failed"; readonly why: string }
  | { readonly kind: "off" };

/** The basis's word for no vectors at all. */
export const NO_EMBEDDER = "none";
