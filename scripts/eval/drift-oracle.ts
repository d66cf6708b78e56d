/**
 * A second opinion on schema compatibility: the `jsoncompat` package, and why the two may differ.
 *
 * An agreement is: breaking and edge = the oracle refuses; compatible, cosmetic, risky = it accepts. Every disagreement must fall
 * into a named class; one that does not is unexplained, and there must be none.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { check_compat, initSync } from "jsoncompat";
import type { SchemaChange } from "../../src/catalog/schema-diff.js";
import type { Direction } from "../../src/catalog/rules.js";
import type { Verdict } from "../../src/model/drift.js";
import type { JsonValue } from "../../src/model/json.js";

let started = false;

/** Does the oracle hold that nothing breaks? undefined where it cannot read one of the schemas. */
export function oracleAccepts(before: JsonValue, after: JsonValue, direction: Direction): boolean | undefined {
  if (!started) {
    const wasm = createRequire(import.meta.url)
      .resolve("jsoncompat")
      .replace(/\.js$/, "_bg.wasm");
    initSync({ module: readFileSync(wasm) });
    started = true;
  }
  const role = direction === "input" ? "deserializer" : "serializer";
  try {
    return check_compat(JSON.stringify(withoutDialect(before)), JSON.stringify(withoutDialect(after)), role);
  } catch {
    return undefined;
  }
}

/** The oracle reads everything as 2020-12, and older dialect names make it refuse a schema. */
function withoutDialect(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutDialect);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (key === "$schema" ? [] : [[key, withoutDialect(inner)]])),
  );
}

const WORST_FIRST: readonly Verdict[] = ["breaking", "edge", "undecided", "risky", "compatible", "cosmetic"];

/** The worst verdict; `equal` where there is no change. */
export function worstVerdict(changes: readonly SchemaChange[]): Verdict | "equal" {
  return WORST_FIRST.find((verdict) => changes.some((change) => change.verdict === verdict)) ?? "equal";
}

/** `agree`, the class that explains a disagreement, or undefined: unexplained. */
export function agreement(
  changes: readonly SchemaChange[],
  direction: Direction,
  accepted: boolean | undefined,
): string | undefined {
  if (accepted === undefined) return "the oracle cannot read it";
  const verdict = worstVerdict(changes);
  const weAccept = verdict !== "breaking" && verdict !== "edge";
  if (weAccept === accepted) return "agree";
  return CLASSES.find(({ holds }) => holds(changes, direction, accepted))?.name;
}

interface DisagreementClass {
  readonly name: string;
  /** Why we say what we say all the same. */
  readonly argument: string;
  readonly holds: (changes: readonly SchemaChange[], direction: Direction, accepted: boolean) => boolean;
}

const has = (changes: readonly SchemaChange[], rules: readonly string[], verdicts: readonly Verdict[]): boolean =>
  changes.some((change) => rules.includes(change.rule) && verdicts.includes(change.verdict));

/** Why the two differ, each with who is stricter. */
export const CLASSES: readonly DisagreementClass[] = [
  {
    name: "undeclared keys refused (oracle stricter: nobody is meant to send them)",
    argument:
      "Only calls with keys that no schema declared are refused. A skill that sends none is not touched; one that does is caught by I17 with its usage.",
    holds: (changes, direction, accepted) => direction === "input" && !accepted && has(changes, ["I17"], ["risky"]),
  },
  {
    name: "required with a default (oracle stricter: many servers fill it in)",
    argument:
      "A default says that leaving it out means something. It is risky, not breaking, and breaking for a skill that does not set it.",
    holds: (changes, direction, accepted) => direction === "input" && !accepted && has(changes, ["I2", "I4"], ["risky"]),
  },
  {
    name: "parameters published or no longer (oracle takes a schema that says nothing for one that takes anything)",
    argument:
      "A schema without type and members is one that was never written; taking it for `anything goes` would call its first publication a break.",
    holds: (changes, _direction, accepted) => !accepted && has(changes, ["X2", "O2"], ["risky"]),
  },
  {
    name: "undecidable keyword changed (we do not guess)",
    argument:
      "if, not, dependent and unevaluated keywords are compared by equality only; unequal is `undecided`, which asks for a look.",
    holds: (changes) => has(changes, ["X2"], ["undecided"]),
  },
  {
    name: "field added over a closed result, or result opened (oracle stricter: readers skip what they do not know)",
    argument: "A reader takes the fields it knows. Only one that validates against the old closed schema fails, so it is risky.",
    holds: (changes, direction, accepted) => direction === "output" && !accepted && has(changes, ["O4"], ["risky"]),
  },
  {
    name: "member declared over a map (oracle blind: values of the map's type were accepted at that key)",
    argument:
      "Before, the key was one of the map's; now it has a narrower schema of its own. The oracle does not look at a declared key as one of the map.",
    holds: (changes, direction, accepted) => direction === "input" && accepted && isDeclaredOverMap(changes),
  },
  {
    name: "optional field removed from an open result (oracle blind or stricter: what is read is gone)",
    argument: "An open result allows the field still, and nobody promises it any more: a skill that reads it gets nothing.",
    holds: (changes, direction) => direction === "output" && has(changes, ["O3"], ["risky", "breaking"]),
  },
  {
    name: "further form of an object in a result (oracle stricter: it matters to who reads that field)",
    argument:
      "Where a field of a result may have a further form, who does not read it is not touched; the rule is *dangerous if read*, so it is risky and asks for a look.",
    holds: (changes, direction, accepted) =>
      direction === "output" &&
      !accepted &&
      changes.some(({ rule, verdict, text }) => rule === "O5" && verdict === "risky" && text.endsWith("may have a further form")),
  },
];

/** All that breaks stands at members that were added at the same time. */
function isDeclaredOverMap(changes: readonly SchemaChange[]): boolean {
  const added = new Set(changes.filter((change) => change.rule === "I3").map((change) => change.field ?? ""));
  return changes
    .filter((change) => change.verdict === "breaking" || change.verdict === "edge")
    .every((change) =>
      [...added].some(
        (field) =>
          change.field === field || (change.field ?? "").startsWith(`${field}.`) || (change.field ?? "").startsWith(`${field}[`),
      ),
    );
}
