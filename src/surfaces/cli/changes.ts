/** How the CLI shows the changes between two catalogs: what breaks first, as it is what is looked for among hundreds. */
import type { Print } from "../../host/print.js";
import { VERDICTS, type Verdict } from "../../model/drift.js";

export interface ShownDrift {
  /** The two sides. */
  readonly title: string;
  /** How many tools. */
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly changes: readonly {
    readonly rule: string;
    readonly verdict: string;
    readonly tool: string;
    readonly text: string;
  }[];
}

/** Prints a line about the whole, and one for each change, in the order of their verdicts and then as they came. */
export function printChanges(print: Print, { title, added, removed, changed, changes }: ShownDrift): void {
  const byVerdict = new Map(VERDICTS.map((verdict) => [verdict, changes.filter((change) => change.verdict === verdict)]));
  const counts = [...byVerdict].filter(([, rows]) => rows.length > 0).map(([verdict, rows]) => `${rows.length} ${verdict}`);
  print.line(
    { text: title, colour: "bold" },
    ` · +${added} -${removed} ~${changed}${counts.length === 0 ? "" : ` · ${counts.join(", ")}`}`,
  );
  for (const [verdict, rows] of byVerdict)
    for (const { rule, tool, text } of rows)
      print.line(`  ${rule.padEnd(3)} `, { text: verdict.padEnd(10), colour: colourOf(verdict) }, ` ${tool}: ${text}`);
}

function colourOf(verdict: Verdict): "red" | "yellow" | "dim" {
  if (verdict === "breaking") return "red";
  return verdict === "compatible" || verdict === "cosmetic" ? "dim" : "yellow";
}
