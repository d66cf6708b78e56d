/** The difference of two texts, line by line, for people: unchanged lines are left out but for one around each change. */

/** Lines compared at most; longer texts are shown as replaced whole. */
const LINES_MOST = 400;

export function differenceOf(before: string, after: string): string {
  const old = before === "" ? [] : before.split("\n");
  const now = after.split("\n");
  if (old.length > LINES_MOST || now.length > LINES_MOST) return `- ${old.length} lines\n+ ${now.length} lines`;
  const marked = align(old, now);
  const near = (index: number): boolean =>
    [index - 1, index, index + 1].some((other) => marked[other] !== undefined && marked[other]?.[0] !== " ");
  return marked.filter((_line, index) => near(index)).join("\n");
}

/** Longest common subsequence: lines marked with `-`, `+` or a blank. */
function align(old: readonly string[], now: readonly string[]): string[] {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const below = lengths[(i + 1) * width + j] ?? 0;
      const beside = lengths[i * width + j + 1] ?? 0;
      lengths[i * width + j] = old[i] === now[j] ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(below, beside);
    }
  }
  const lines: string[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    const below = lengths[(i + 1) * width + j] ?? 0;
    const beside = lengths[i * width + j + 1] ?? 0;
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(`  ${old[i] ?? ""}`);
      i += 1;
      j += 1;
    } else if (i < old.length && (j >= now.length || below >= beside)) {
      lines.push(`- ${old[i] ?? ""}`);
      i += 1;
    } else {
      lines.push(`+ ${now[j] ?? ""}`);
      j += 1;
    }
  }
  return lines;
}
