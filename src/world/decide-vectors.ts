/**
 * What an embedder made of texts: taken where the text is still the one that was embedded.
 */
import { sha256 } from "../catalog/canonical.js";
import type { Event } from "../model/event.js";
import { NO_EMBEDDER } from "../model/vectors.js";
import { put, type Draft } from "./draft.js";
import { presentText } from "./vectors.js";

type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

export function decideTextsEmbedded(draft: Draft, event: Of<"texts-embedded">): void {
  const { embedder, dimension } = event;
  const rows = event.rows.filter(({ of, id, text, vector }) => {
    const present = presentText(draft.known, of, id);
    return vector.length === dimension && present !== undefined && sha256(present) === text;
  });
  const isOther = embedder !== draft.world.vectors.embedder;
  if (rows.length === 0 && !isOther) return;
  put(draft, { kind: "vectors", embedder, dimension: embedder === NO_EMBEDDER ? 1 : dimension, rows });
  draft.answer = { taken: rows.length };
}
