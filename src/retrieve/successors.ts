/** Successors: tools that are answered in the place of others, with a pointer to those. */
import type { ToolKey } from "../model/ids.js";
import type { Bm25fIndex } from "./bm25f.js";
import { idOf, slotOf } from "./bm25f.js";
import { byRank, Ranked } from "./ranked.js";

/** The slots of tools that stand in for gone ones; `instead`, slot → the gone tool, takes them in. */
export function standIn(
  text: Bm25fIndex<unknown>,
  standIns: ReadonlyMap<ToolKey, ToolKey>,
  accept: (slot: number) => boolean,
  instead: Map<number, ToolKey>,
): number[] {
  return [...standIns].flatMap(([key, gone]) => {
    const slot = slotOf(text, key);
    if (slot === undefined || !accept(slot)) return [];
    instead.set(slot, gone);
    return [slot];
  });
}

/** A superseded tool leaves the candidates, and its offered successors inherit its score; slot of successor → key it stands in for. */
export function giveWay(
  text: Bm25fIndex<unknown>,
  ranked: Ranked[],
  successors: ((key: ToolKey) => readonly ToolKey[] | undefined) | undefined,
  accept: (slot: number) => boolean,
): Map<number, ToolKey> {
  const instead = new Map<number, ToolKey>();
  if (successors === undefined) return instead;
  const giving = ranked.flatMap((one) => {
    const slots = (successors(idOf(text, one.slot) as ToolKey) ?? [])
      .flatMap((to) => slotOf(text, to) ?? [])
      .filter((slot) => slot !== one.slot && accept(slot));
    return slots.length === 0 ? [] : [{ one, slots }];
  });
  if (giving.length === 0) return instead;
  giving.sort((a, b) => byRank(text, a.one, b.one));
  const known = new Map(ranked.map((one) => [one.slot, one]));
  for (const { one, slots } of giving) {
    ranked.splice(ranked.indexOf(one), 1);
    for (const slot of slots) {
      const successor = known.get(slot) ?? new Ranked(slot, 0, 0);
      if (!known.has(slot)) ranked.push(successor);
      known.set(slot, successor);
      if (one.score >= successor.score) instead.set(slot, idOf(text, one.slot) as ToolKey);
      successor.score = Math.max(successor.score, one.score);
      successor.raw = Math.max(successor.raw, one.raw);
    }
  }
  return instead;
}
