/**
 * A tool whose takeover a person stated came back and leaves again: their word holds for the names, as one against a takeover does.
 *
 * What was found is found anew each time; a word is not, and nobody says a thing twice. It is taken as it was said, on the definitions that
 * there are now: where it cannot be meant of them any more, what is found stands alone.
 */
import { isPersonsStatement } from "../catalog/lineage/chain.js";
import { parametersOf } from "../catalog/lineage/profile.js";
import { statedLink } from "../catalog/lineage/stated.js";
import { Fault } from "../model/fault.js";
import type { CatalogVersion, ToolKey } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import type { Tool } from "../model/tool.js";
import type { Known } from "./world.js";

/** Links for those of `gone` of which somebody said before what stands in for them, and that is there. */
export function statedAgain(known: Known, gone: readonly Tool[], atVersion: CatalogVersion): LineageLink[] {
  const words = [...known.lineage.values()].filter((link) => link.stated !== undefined && link.atVersion < atVersion);
  return gone.flatMap((tool) => {
    // The last one that was said, and not one that was taken back since.
    const word = words
      .filter(({ from }) => from === tool.key)
      .sort((a, b) => a.atVersion - b.atVersion || whenOf(a).localeCompare(whenOf(b)))
      .at(-1);
    const again = word === undefined || !isPersonsStatement(word) ? undefined : saidOf(known, tool, word, atVersion);
    return again === undefined ? [] : [again];
  });
}

function whenOf({ confirmed, rejected, stated }: LineageLink): string {
  return (rejected ?? confirmed ?? stated)?.at ?? "";
}

function saidOf(known: Known, from: Tool, word: LineageLink, atVersion: CatalogVersion): LineageLink | undefined {
  const to = word.to.map((key) => known.catalog.tools.get(key as ToolKey)).filter((tool) => tool !== undefined);
  const { stated, confirmed } = word;
  if (to.length < word.to.length || stated === undefined || confirmed === undefined) return undefined;
  const params = Object.fromEntries(parametersOf(from.inputSchema).map(({ name }) => [name, word.params[name] ?? null]));
  try {
    const statement = { from, to, atVersion, ...stated, kind: word.kind, params: { ...word.params, ...params } };
    const { link } = statedLink({ ...statement, fixed: word.fixedArguments, known: undefined });
    const evidence = [`${stated.by} stated it when ${from.key} left before (link ${word.id})`];
    return { ...link, evidence, stated, confirmed };
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
