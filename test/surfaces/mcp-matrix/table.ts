/** The matrix as a document. */
import type { Feature, Seen } from "./cell.js";
import type { Era } from "./agent.js";

export const PAIRS: readonly { readonly agent: Era; readonly upstream: Era }[] = [
  { agent: "legacy", upstream: "legacy" },
  { agent: "legacy", upstream: "modern" },
  { agent: "modern", upstream: "legacy" },
  { agent: "modern", upstream: "modern" },
];

const HEAD = `# What passes

Written by \`npm run matrix\` from what \`test/surfaces/mcp-matrix.test.ts\` sees: real clients of both SDK lines before the daemon, and
one upstream of each protocol era behind it. *legacy* is every revision up to 2025-11-25, *modern* is 2026-07-28.

- **passes**: arrives as it was sent, in a way that both sides have.
- **bridged**: works, and goes another way on each side; agent's way ⇄ upstream's way.
- **impossible**: one of the two revisions has no such thing.

Numbers pass as JavaScript reads them, double precision: integers beyond ±(2^53 − 1) and digits beyond the 17th are rounded, \`-0\` becomes
\`0\`, and what is beyond 1.8e308 becomes \`null\`. A tool that deals in such numbers has to give them as text.
`;

/** `seen` by feature name and pair, in the order of `PAIRS`. */
export function renderMatrix(features: readonly Feature[], seen: (feature: string, pair: number) => Seen): string {
  const lines = [HEAD];
  const notes: string[] = [];
  const noteOf = (text: string): string => {
    if (!notes.includes(text)) notes.push(text);
    return `<sup>${notes.indexOf(text) + 1}</sup>`;
  };
  for (const group of new Set(features.map((feature) => feature.group))) {
    lines.push(`## ${group}\n`);
    lines.push(`| agent → upstream | ${PAIRS.map(({ agent, upstream }) => `${agent} → ${upstream}`).join(" | ")} |`);
    lines.push(`|---|${PAIRS.map(() => "---").join("|")}|`);
    for (const feature of features.filter((one) => one.group === group)) {
      const cells = PAIRS.map((_pair, at) => {
        const found = seen(feature.name, at);
        return found.note === undefined ? found.mark : `${found.mark} ${noteOf(found.note)}`;
      });
      lines.push(`| ${feature.name} | ${cells.join(" | ")} |`);
    }
    lines.push("");
  }
  lines.push("## Notes\n", ...notes.map((text, at) => `${at + 1}. ${text}`));
  return `${lines.join("\n")}\n`;
}
