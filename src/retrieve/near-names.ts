/** Names that somebody may have meant who wrote one that nothing has: slips of typing, parts, and other spellings of the same. */
import { bitsIn, lettersOf, slipsBetween } from "./unmatched.js";

const NAMED_MOST = 3;
/** One slip in this many letters still reads as the name. */
const LETTERS_A_SLIP = 4;

/** At most three, the nearest first; a name without a label is held against names without theirs. Cost grows with the names, not with their square. */
export function nearNames(asked: string, names: Iterable<string>): string[] {
  const wanted = plain(asked);
  const most = Math.max(1, Math.floor(wanted.length / LETTERS_A_SLIP));
  const letters = lettersOf(wanted);
  const found: { name: string; slips: number }[] = [];
  for (const name of names) {
    const other = plain(asked.includes("/") ? name : name.slice(name.indexOf("/") + 1));
    const within = wanted.length > 2 && (other.includes(wanted) || wanted.includes(other));
    // Letters that only one of them has are slips already.
    const far = Math.abs(other.length - wanted.length) > most || bitsIn(letters ^ lettersOf(other)) > 2 * most;
    const slips = within ? 1 : far ? most + 1 : slipsBetween(wanted, other, most);
    if (slips <= most || within) found.push({ name, slips });
  }
  return found
    .sort((a, b) => a.slips - b.slips || (a.name < b.name ? -1 : 1))
    .slice(0, NAMED_MOST)
    .map(({ name }) => name);
}

/** ` Did you mean a or b?`; empty where nothing is near. */
export function didYouMean(asked: string, names: Iterable<string>): string {
  const near = nearNames(asked, names);
  return near.length === 0 ? "" : ` Did you mean ${near.join(" or ")}?`;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}/]+/gu, "");
}
