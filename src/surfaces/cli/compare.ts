/** `catalog drift` and `catalog lineage` between any two sides: versions of the home, catalog files, or one of each. No daemon needed. */
import type { TakenOver } from "../../world/compare.js";
import { EXIT, type Comparison } from "./access.js";
import { printChanges } from "./changes.js";
import type { Verbs } from "./verb.js";

export interface CompareOptions {
  readonly label?: string;
}

export function isVersion(text: string | undefined): boolean {
  return text !== undefined && /^\d+$/.test(text);
}

export async function compareDrift(
  verbs: Verbs,
  from: string | undefined,
  to: string | undefined,
  options: CompareOptions,
): Promise<void> {
  const found = await compared(verbs, from, to, options);
  if (verbs.json()) verbs.ports.print.json({ ...found.drift, ...found, drift: undefined });
  else printDrift(verbs, found);
  verbs.exit(compareExit(found));
}

export async function compareLineage(
  verbs: Verbs,
  from: string | undefined,
  to: string | undefined,
  options: CompareOptions,
): Promise<void> {
  const { lineage, ...found } = await compared(verbs, from, to, options);
  if (verbs.json()) verbs.ports.print.json({ from: found.from, to: found.to, lineage });
  else if (lineage.length === 0) verbs.ports.print.line(`No tool of ${found.from} is missing in ${found.to}.`);
  for (const row of verbs.json() ? [] : lineage) printTakenOver(verbs, row);
  verbs.exit(lineage.every((row) => row.level === "certain") ? EXIT.fine : EXIT.review);
}

/** One side given is compared with the present version: a file is the newer one, a version the older. */
async function compared(
  verbs: Verbs,
  from: string | undefined,
  to: string | undefined,
  { label }: CompareOptions,
): Promise<Comparison> {
  const home = verbs.home();
  const found = await verbs.ports.compare({
    ...(home === undefined ? {} : { home }),
    ...(to === undefined && !isVersion(from) ? { from: undefined, to: from } : { from, to }),
    ...(label === undefined ? {} : { label }),
  });
  for (const { where, text } of found.problems) verbs.ports.print.note({ text: `${where}: ${text}`, colour: "yellow" });
  return found;
}

function printDrift(verbs: Verbs, found: Comparison): void {
  const { print } = verbs.ports;
  const { drift } = found;
  const { added, removed, changed } = drift;
  printChanges(print, {
    title: `${found.from} → ${found.to}`,
    ...{ added: added.length, removed: removed.length, changed: changed.length },
    changes: drift.changes,
  });
  if (drift.unclassified > 0) print.line({ text: `  ${drift.unclassified} changes that no rule explains`, colour: "red" });
  const shared = found.causes.filter((cause) => cause.tools.length > 1);
  if (shared.length > 0) print.line({ text: "One cause in several tools", colour: "bold" });
  for (const cause of shared) print.line(`  ${cause.rule.padEnd(3)} ${cause.tools.length} tools: ${cause.text}`);
  if (found.lineage.length > 0) print.line({ text: "Lineage", colour: "bold" });
  for (const row of found.lineage) printTakenOver(verbs, row);
  for (const { tool, text } of found.held) print.line({ text: `  held ${tool}: ${text}`, colour: "red" });
  if (found.skills.length > 0) print.line({ text: "Skills of the home that use what changed", colour: "bold" });
  for (const { skill, level, text } of found.skills)
    print.line(
      `  ${skill}: `,
      { text: level, colour: level === "breaking" || level === "safety" ? "red" : "yellow" },
      ` ${text}`,
    );
}

function printTakenOver({ ports: { print } }: Verbs, row: TakenOver): void {
  if (row.level === undefined) {
    const near = row.nearest.map((one) => `${one.tool} ${one.score}`).join(", ");
    print.line(`  ${row.tool} → `, { text: "nothing found", colour: "red" }, near === "" ? "" : ` (nearest: ${near})`);
    return;
  }
  const fixed = Object.entries(row.fixedArguments).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const renamed = Object.entries(row.params).flatMap(([old, now]) => (old === now ? [] : [`${old} → ${now}`]));
  const details = [...renamed, ...fixed];
  print.line(
    `  ${row.tool} → ${row.to.join(" + ")} (${row.kind ?? ""}, `,
    { text: row.level, colour: row.level === "certain" ? "green" : "yellow" },
    `, ${(row.score ?? 0).toFixed(2)})${details.length > 0 ? `: ${details.join(", ")}` : ""}`,
  );
  for (const text of row.evidence) print.line({ text: `      ${text}`, colour: "dim" });
}

const LOOKED_AT: ReadonlySet<string> = new Set(["T1", "T3", "D1", "D2", "A2", "A3"]);

/** Changes that somebody should look at, those that no rule explains among them. */
export function needsReview(drift: Pick<Comparison["drift"], "changes" | "unclassified">): boolean {
  const isLookedAt = ({ rule, verdict }: Comparison["drift"]["changes"][number]): boolean =>
    !["compatible", "cosmetic"].includes(verdict) || LOOKED_AT.has(rule);
  return drift.unclassified > 0 || drift.changes.some(isLookedAt);
}

/** 0 compatible · 10 needs review · 11 skills of the home would rest · 12 safety; the highest wins. */
export function compareExit({ drift, held, skills }: Pick<Comparison, "drift" | "held" | "skills">): number {
  if (held.length > 0 || drift.changes.some((change) => change.rule === "A1")) return EXIT.safety;
  if (skills.some(({ level }) => level === "breaking")) return EXIT.inactive;
  return needsReview(drift) ? EXIT.review : EXIT.fine;
}
