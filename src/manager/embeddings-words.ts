/** How an embedder stands, in words for people. */
import { waitInWords, type Pause, type RefusedTexts } from "./embeddings-pause.js";
import type { Standing } from "./embeddings-standing.js";
import { UNSTEADY } from "./embeddings-whose.js";

/** Why needs go by words, and when the endpoint is asked again. */
export function awayInWords(
  standing: Pick<Standing, "away" | "isQuoted">,
  { isAsked, pause }: { readonly isAsked: boolean; readonly pause: Pause },
): string {
  const by = pause.isOn() ? `by itself in ${waitInWords(pause.leftMs())}, or with a need before` : "with the next need";
  const quoted = standing.isQuoted ? " (its own words are in the log)" : "";
  return `by words alone: ${standing.away ?? ""}${quoted}; ${isAsked ? "being asked again" : `asked again ${by}`}`;
}

/** What an embedder in force has embedded, and what somebody should know of. */
export function spaceInWords(of: {
  readonly left: number;
  readonly refused: RefusedTexts;
  readonly needs: string | undefined;
  readonly isUnsteady: boolean;
}): string {
  const { count } = of.refused;
  const again = of.refused.leftMs() === 0 ? "now" : `in ${waitInWords(of.refused.leftMs())}`;
  return [
    of.left === 0 ? "all embedded" : `${of.left} texts to go`,
    ...(count === 0 ? [] : [`, ${count} text${count === 1 ? "" : "s"} it does not take (asked again ${again})`]),
    ...(of.needs === undefined ? [] : [`; ${of.needs}`]),
    ...(of.isUnsteady ? [`; within the last hour, ${UNSTEADY}`] : []),
  ].join("");
}
