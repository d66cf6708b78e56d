/**
 * The embedder that is configured now: none, one, or another one after the configuration was read again.
 */
import type { Config } from "../model/config.js";
import type { Embedder } from "../model/vectors.js";
import type { Embeddings } from "./embeddings.js";

type Section = Config["embeddings"];
export type EmbeddingsConfig = Exclude<NonNullable<Section>, { readonly refused: string }>;

export interface EmbeddingsSwitch extends Embedder {
  /** Puts a configuration in force. The same one asks again at once what failed; a refused one leaves the last good one in force. */
  configure(config: Section): Promise<void>;
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
  let refused: string | undefined;

  async function change(config: EmbeddingsConfig | undefined): Promise<void> {
    const key = JSON.stringify(config);
    if (key === present?.key) return present?.embeddings.retry();
    const before = present;
    present = config === undefined ? undefined : { key, embeddings: options.open(config) };
    if (before !== undefined) {
      await before.embeddings.stop();
      await options.clear();
    }
    present?.embeddings.wake();
  }

  return {
    async configure(config) {
      refused = config !== undefined && "refused" in config ? config.refused : undefined;
      if (config === undefined || !("refused" in config)) await change(config);
    },
    embed: (need) =>
      present?.embeddings.embed(need) ??
      Promise.resolve(
        refused === undefined
          ? { kind: "off" }
          : { kind: "failed", why: `the configuration of embeddings is refused (${refused})` },
      ),
    status() {
      if (present === undefined)
        return refused === undefined
          ? "off: no embeddings endpoint is configured"
          : `by words alone: the configured section is refused (${refused})`;
      const told =
        refused === undefined ? "" : `; the section as saved is refused (${refused}), the last good one stays in force`;
      return `${present.embeddings.status()}${told}${options.note()}`;
    },
    isFine: () => refused === undefined && present?.embeddings.isFine() !== false,
    wake: () => present?.embeddings.wake(),
    retry: () => present?.embeddings.retry(),
    stop: async () => await present?.embeddings.stop(),
  };
}
