/**
 * The embedder that is configured now: none, one, or another one after the configuration was read again.
 */
import type { Config } from "../model/config.js";
import type { Embedder } from "../model/vectors.js";
import type { Embeddings } from "./embeddings.js";

export type EmbeddingsConfig = NonNullable<Config["embeddings"]>;

export interface EmbeddingsSwitch extends Embedder {
  /** Puts a configuration in force; the same one changes nothing. */
  configure(config: EmbeddingsConfig | undefined): Promise<void>;
  wake(): void;
  stop(): Promise<void>;
}

export function createEmbeddingsSwitch(options: {
  readonly open: (config: EmbeddingsConfig) => Embeddings;
  /** Ends the vectors in force. */
  readonly clear: () => Promise<void>;
  /** What else there is to say of searching vectors. */
  readonly note: () => string;
}): EmbeddingsSwitch {
  let present: { readonly key: string; readonly embeddings: Embeddings } | undefined;
  return {
    async configure(config) {
      const key = JSON.stringify(config);
      if (key === present?.key) return;
      const before = present;
      present = config === undefined || key === undefined ? undefined : { key, embeddings: options.open(config) };
      if (before !== undefined) {
        await before.embeddings.stop();
        await options.clear();
      }
      present?.embeddings.wake();
    },
    embed: (need) => present?.embeddings.embed(need) ?? Promise.resolve({ kind: "off" }),
    status: () =>
      present === undefined ? "off: no embeddings endpoint is configured" : `${present.embeddings.status()}${options.note()}`,
    wake: () => present?.embeddings.wake(),
    stop: async () => await present?.embeddings.stop(),
  };
}
