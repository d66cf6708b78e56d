/**
 * What a view leaves out, said in as few tokens as there are: nothing is dropped in silence, and the list never eats the budget.
 *
 * Five forms, each shorter than the one before:
 *   0  an entry for each thing
 *   1  one entry for all things of a kind with the same reason
 *   2  the same, of long rows the first names and the number of the others
 *   3  one entry for a kind with their number
 *   4  one number for everything
 */
import type { View } from "../model/view.js";

export type LeftOut = NonNullable<View["left_out"]>[number];
export const LEFT_OUT_FORMS = 5;

const KINDS: readonly LeftOut["kind"][] = ["plan", "skill", "tool"];
const NAMES_SHOWN = 3;

export function sayLeftOut(left: readonly LeftOut[], form: number): LeftOut[] {
  if (form === 0 || left.length === 0) return [...left];
  if (form === 1) return byReason(left, Number.POSITIVE_INFINITY);
  if (form === 2) return byReason(left, NAMES_SHOWN);
  if (form === 3) return byKind(left);
  return [{ kind: "tool", id: `${left.length} more`, why: "budget" }];
}

/** How what a cut view leaves out is said, and which names that gives. */
export interface SaidLeftOut {
  readonly entries: LeftOut[];
  readonly names: ReadonlySet<string>;
}

/**
 * The same forms for a cut view, whose plan goes by the names that are told: those it must have come first in `left`, and each of them
 * is named in every form.
 */
export function sayCut(left: readonly LeftOut[], must: ReadonlySet<string>, form: number): SaidLeftOut {
  const isMust = ({ kind, id }: LeftOut): boolean => kind === "tool" && must.has(id);
  if (form <= 1) return { entries: sayLeftOut(left, form), names: new Set(left.map(({ id }) => id)) };
  const first = left.filter(isMust);
  const rest = left.filter((one) => !isMust(one));
  const names = new Set(first.map(({ id }) => id));
  return { entries: [...byReason(first, Number.POSITIVE_INFINITY), ...sayLeftOut(rest, form)], names };
}

function byReason(left: readonly LeftOut[], most: number): LeftOut[] {
  const groups = new Map<string, { kind: LeftOut["kind"]; ids: string[]; why: string }>();
  for (const { kind, id, why } of left) {
    const key = `${kind} ${why}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { kind, ids: [id], why });
    else group.ids.push(id);
  }
  return [...groups.values()].map(({ kind, ids, why }) => {
    const shown = ids.length > most + 1 ? [...ids.slice(0, most), `${ids.length - most} more`] : ids;
    return { kind, id: shown.join(", "), why };
  });
}

function byKind(left: readonly LeftOut[]): LeftOut[] {
  return KINDS.flatMap((kind) => {
    const count = left.filter((one) => one.kind === kind).length;
    return count === 0 ? [] : [{ kind, id: `${count} more`, why: "budget or a lesser fit" }];
  });
}
