/**
 * Opinions on links: what a manager or a replay found, and when their word counts.
 *
 * Owns: the ranks of words, the memory of looks, what a look was made on.
 * Speaks: LineageLink, LineageVerdict.
 * Never: asking anybody (manager/), calling anything (operations/).
 *
 *   a person ► a replay ► a manager: a word stands until one of at least its own rank is spoken
 */
import type { LineageLink, LineageOpinion, LineageVerdict, LineageWord } from "../../model/lineage.js";
import type { Tool } from "../../model/tool.js";
import { canonicalJson, sha256 } from "../canonical.js";

export type Speaker = NonNullable<LineageWord["how"]>;

const RANKS: Readonly<Record<Speaker, number>> = { manager: 1, replay: 2, person: 3 };

/** Whose word it is. Words from before there was a difference are a person's. */
export function speakerOf(word: LineageWord): Speaker {
  return word.how ?? "person";
}

/** What a look rests on: the definitions of both sides, and whatever else was laid beside them. */
export function lookBasis(from: Tool, to: readonly Tool[], more: readonly string[] = []): string {
  return sha256(canonicalJson([from.digests.document, to.map((tool) => tool.digests.document), [...more]]));
}

export function opinionOf(link: LineageLink, how: LineageOpinion["how"]): LineageOpinion | undefined {
  return link.opinions?.find((opinion) => opinion.how === how);
}

/** Somebody's word against the link that stands, where it is not one of a machine. */
export function isRejectedByPerson(link: LineageLink): boolean {
  return link.rejected !== undefined && speakerOf(link.rejected) === "person";
}

/**
 * The link with the opinion remembered; where it `counts` and no word of a higher rank stands, also with its word in force. An opinion
 * that leaves a link open takes back what the same speaker said of earlier definitions.
 */
export function withOpinion(link: LineageLink, { opinion, params }: LineageVerdict, counts: boolean): LineageLink {
  const opinions = [...(link.opinions ?? []).filter((other) => other.how !== opinion.how), opinion];
  const heard: LineageLink = { ...link, opinions };
  const standing = link.confirmed ?? link.rejected;
  if (!counts || (standing !== undefined && RANKS[speakerOf(standing)] > RANKS[opinion.how])) return heard;
  const { confirmed: _confirmed, rejected: _rejected, ...open } = heard;
  const word: LineageWord = { by: opinion.by, at: opinion.at, how: opinion.how };
  if (opinion.verdict === "reject") return { ...open, rejected: word };
  if (opinion.verdict === "leave") return standing !== undefined && speakerOf(standing) === opinion.how ? open : heard;
  const corrected =
    params === undefined ? {} : { params: { ...params }, proposedParams: link.proposedParams ?? { ...link.params } };
  return { ...open, ...corrected, confirmed: word };
}

/** Is this opinion the word in force on the link? */
export function isInForce(link: LineageLink, opinion: LineageOpinion): boolean {
  const word = opinion.verdict === "reject" ? link.rejected : link.confirmed;
  return word !== undefined && opinion.verdict !== "leave" && speakerOf(word) === opinion.how && word.at === opinion.at;
}
