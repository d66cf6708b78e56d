/** What an embedder is given, and what it is to the house. */
import type { EMBEDDING_LIMITS } from "../model/endpoint-limits.js";
import type { Clock } from "../model/ports.js";
import type { DueText, EmbeddedText, Embedder } from "../model/vectors.js";
import type { VectorCache } from "./embeddings-cache.js";

export type EmbeddingLimits = { readonly [Name in keyof typeof EMBEDDING_LIMITS]: number };

export interface EmbeddingsOptions {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly dimensions: number | undefined;
  readonly cache: VectorCache;
  /** Texts without a vector of this embedder, as of now. */
  readonly due: (embedder: string) => readonly DueText[];
  /** Puts rows in force; another embedder's replace all there are. */
  readonly deliver: (embedder: string, dimension: number, rows: readonly EmbeddedText[]) => Promise<void>;
  /** Called when everything due is delivered: there may be an index to grow. */
  readonly onSettled?: (() => void) | undefined;
  readonly clock: Clock;
  readonly secrets: () => readonly string[];
  readonly log: (level: "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void;
  readonly limits?: Partial<EmbeddingLimits> | undefined;
}

export interface Embeddings extends Embedder {
  /** There may be something due. */
  wake(): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}
