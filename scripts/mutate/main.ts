/**
 * `npm run mutate [-- --every <n>]`: is each rule of drift and each gate of lineage needed, and is each noticed when it is missing?
 *
 * Every rule and every gate is left out of its table once, and the cases of the tests are run against what is left: at least one must
 * fail that holds with the whole table. Then every kind of change is made to real schemas and must get the level it must. A survivor,
 * or a level that is not as expected, ends with code 1. `--every n` takes each n-th real tool.
 */
import { DRIFT_RULES } from "../../src/catalog/drift.js";
import { findLineage, LINEAGE_GATES } from "../../src/catalog/lineage.js";
import type { RuleId } from "../../src/model/drift.js";
import { CATALOG_RULE_CASES, catalogRuleFaults } from "../../test/catalog/catalog-rule-cases.js";
import { GATE_CASES } from "../../test/catalog/lineage-gate-cases.js";
import { faults, OWN_TOOLS, realTools, without } from "../../test/catalog/mutation-check.js";
import { MUTATIONS } from "../../test/catalog/mutations.js";
import { sharedData } from "../../test/data.js";

interface Mutant {
  readonly name: string;
  /** Cases that notice it; each holds with the whole table. */
  readonly caught: readonly string[];
}

function driftMutants(): Mutant[] {
  const rules = [...new Set([...DRIFT_RULES.schema, ...DRIFT_RULES.tool, ...DRIFT_RULES.catalog].map((entry) => entry.rule))];
  return rules.sort(byNumber).map((rule) => {
    const left = without(rule);
    const kinds = MUTATIONS.filter((kind) => OWN_TOOLS.some((tool) => notices(faults(kind, tool), faults(kind, tool, left))));
    const found = notices(catalogRuleFaults(rule), catalogRuleFaults(rule, left)) ? CATALOG_RULE_CASES[rule] : undefined;
    return { name: rule, caught: [...kinds.map((kind) => kind.name), ...(found === undefined ? [] : [found.says])] };
  });
}

function notices(whole: readonly string[], left: readonly string[]): boolean {
  return whole.length === 0 && left.length > 0;
}

function byNumber(a: RuleId, b: RuleId): number {
  return a.charCodeAt(0) - b.charCodeAt(0) || Number(a.slice(1)) - Number(b.slice(1));
}

function gateMutants(): Mutant[] {
  return LINEAGE_GATES.map((gate) => {
    const { input, holds, says } = GATE_CASES[gate.id];
    const left = LINEAGE_GATES.filter((other) => other !== gate);
    return { name: gate.id, caught: holds(findLineage(input)) && !holds(findLineage(input, left)) ? [says] : [] };
  });
}

/** How many cases are named in a row; the rest is counted. */
const NAMED = 3;

function printMutants(title: string, mutants: readonly Mutant[]): number {
  print(`\n${title}`);
  const width = Math.max(...mutants.map(({ name }) => name.length));
  for (const { name, caught } of mutants) {
    const more = caught.length > NAMED ? ` (and ${caught.length - NAMED} more)` : "";
    print(`  ${name.padEnd(width)}  ${caught.length === 0 ? "SURVIVED" : `${caught.slice(0, NAMED).join(" · ")}${more}`}`);
  }
  const survivors = mutants.filter(({ caught }) => caught.length === 0).length;
  print(`  ${mutants.length - survivors} of ${mutants.length} caught`);
  return survivors;
}

function printLevels(every: number): number {
  const tools = realTools(every);
  const from = sharedData("evolution") === undefined ? "the starter catalog" : "the newest versions of the public histories";
  print(`\nkinds of change on ${tools.length} real schemas of ${from}: level as expected`);
  let [wrong, changed] = [0, 0];
  for (const kind of MUTATIONS) {
    const fitting = tools.filter((tool) => kind.apply(tool) !== undefined);
    const found = fitting.flatMap((tool) => faults(kind, tool));
    const expected = kind.rules.length === 0 ? "cosmetic" : kind.rules.join(" ");
    print(
      `  ${kind.name.padEnd(48)} ${expected.padEnd(10)} ${String(fitting.length).padStart(5)}${found.length > 0 ? `  ${found.length} WRONG` : ""}`,
    );
    for (const fault of found.slice(0, NAMED)) print(`      ${fault}`);
    wrong += found.length;
    changed += fitting.length;
  }
  print(`  ${MUTATIONS.length} kinds, ${changed} changed schemas, ${wrong} not as expected`);
  return wrong;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const args = process.argv.slice(2);
const at = args.indexOf("--every");
const every = at < 0 ? 1 : Number(args[at + 1]);
if (!Number.isInteger(every) || every < 1) {
  process.stderr.write("usage: npm run mutate [-- --every <n>]   (n is a whole number from 1)\n");
  process.exit(2);
}
const survivors =
  printMutants("rules of drift, each left out once: the kinds of change that notice", driftMutants()) +
  printMutants("gates of lineage, each left open once: the case that notices", gateMutants());
const wrong = printLevels(every);
print(
  `\n${survivors === 0 ? "no mutant survives" : `${survivors} mutants SURVIVE`}; ${wrong === 0 ? "every level is as expected" : `${wrong} levels are WRONG`}`,
);
if (survivors + wrong > 0) process.exitCode = 1;
