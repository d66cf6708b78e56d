/**
 * A second opinion on schema compatibility: the `jsoncompat` package, and why the two may differ.
 *
 * An agreement is: breaking and edge = the oracle refuses; compatible, cosmetic, risky = it accepts. Every disagreement must fall
 * into a named class; one that does not is unexplained, and there must be none.
 */
import type { SchemaChange } from "../../src/catalog/schema-diff.js";
import { OTHER_FORM, type Direction } from "../../src/catalog/rules.js";
import { VERDICTS, type Verdict } from "../../src/model/drift.js";
import type { JsonValue } from "../../src/model/json.js";
import { asksJsoncompat } from "./jsoncompat.js";
import { witness } from "./witness.js";

/** Values looked at to show that the oracle is wrong. */
const WITNESS_TRIES = 30_000;

/** Does the oracle hold that nothing breaks? undefined where it cannot read one of the schemas. */
export function oracleAccepts(before: JsonValue, after: JsonValue, direction: Direction): boolean | undefined {
  const role = direction === "input" ? "deserializer" : "serializer";
  return asksJsoncompat(JSON.stringify(withoutDialect(before)), JSON.stringify(withoutDialect(after)), role);
}

/** The oracle reads everything as 2020-12, and older dialect names make it refuse a schema. */
function withoutDialect(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutDialect);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (key === "$schema" ? [] : [[key, withoutDialect(inner)]])),
  );
}

/** The worst verdict; `equal` where there is no change. */
export function worstVerdict(changes: readonly SchemaChange[]): Verdict | "equal" {
  return VERDICTS.find((verdict) => changes.some((change) => change.verdict === verdict)) ?? "equal";
}

/** A pair of schemas, and what the oracle said of it. */
export interface Asked {
  readonly before: JsonValue;
  readonly after: JsonValue;
  readonly direction: Direction;
  readonly accepted: boolean | undefined;
}

/** `agree`, the class that explains a disagreement, or undefined: unexplained. */
export function agreement({ before, after, direction, accepted }: Asked, changes: readonly SchemaChange[]): string | undefined {
  if (accepted === undefined) return "the oracle cannot read it";
  const verdict = worstVerdict(changes);
  const weAccept = verdict !== "breaking" && verdict !== "edge";
  if (weAccept === accepted) return "agree";
  return CLASSES.find(({ holds }) => holds({ before, after, direction, changes, accepted }))?.name;
}

interface Disagreement extends Asked {
  readonly accepted: boolean;
  readonly changes: readonly SchemaChange[];
}

interface DisagreementClass {
  readonly name: string;
  /** Why we say what we say all the same. */
  readonly argument: string;
  readonly holds: (seen: Disagreement) => boolean;
}

const has = (changes: readonly SchemaChange[], rules: readonly string[], verdicts: readonly Verdict[]): boolean =>
  changes.some((change) => rules.includes(change.rule) && verdicts.includes(change.verdict));

/** Why the two differ, each with who is stricter. */
export const CLASSES: readonly DisagreementClass[] = [
  {
    name: "undeclared keys refused (oracle stricter: nobody is meant to send them)",
    argument:
      "Only calls with keys that no schema declared are refused. A skill that sends none is not touched; one that does is caught by I17 with its usage.",
    holds: (seen) =>
      seen.direction === "input" && !seen.accepted && has(seen.changes, ["I17"], ["risky"]) && !isShown(seen, "declared"),
  },
  {
    name: "required with a default (oracle stricter: many servers fill it in)",
    argument:
      "A default says that leaving it out means something. It is risky, not breaking, and breaking for a skill that does not set it.",
    holds: ({ changes, direction, accepted }) => direction === "input" && !accepted && has(changes, ["I2", "I4"], ["risky"]),
  },
  {
    name: "parameters published or no longer (oracle takes a schema that says nothing for one that takes anything)",
    argument:
      "A schema without type and members is one that was never written; taking it for `anything goes` would call its first publication a break.",
    holds: ({ changes, accepted }) => !accepted && has(changes, ["X2", "O2"], ["risky"]),
  },
  {
    name: "undecidable keyword changed (we do not guess)",
    argument:
      "if, not, dependent and unevaluated keywords are compared by equality only; unequal is `undecided`, which asks for a look.",
    holds: ({ changes }) => has(changes, ["X2"], ["undecided"]),
  },
  {
    name: "field added over a closed result, or result opened (oracle stricter: readers skip what they do not know)",
    argument: "A reader takes the fields it knows. Only one that validates against the old closed schema fails, so it is risky.",
    holds: ({ changes, direction, accepted }) => direction === "output" && !accepted && has(changes, ["O4"], ["risky"]),
  },
  {
    name: "a value shows it (oracle blind)",
    argument:
      "A value was found that the one schema takes and the other refuses, as an independent validator says too. The oracle does not see it, above all where a key is declared over a map.",
    holds: (seen) => seen.accepted && isShown(seen, "any"),
  },
  {
    name: "optional field removed from an open result (oracle blind or stricter: what is read is gone)",
    argument: "An open result allows the field still, and nobody promises it any more: a skill that reads it gets nothing.",
    holds: ({ changes, direction }) => direction === "output" && has(changes, ["O3"], ["risky", "breaking"]),
  },
  {
    name: "another form of a union lets it through (oracle stricter: it assumes keys that no form declares together)",
    argument:
      "Forms are open where nothing closes them: a value that one form took is taken by another that declares none of its keys. The oracle holds that it may also carry keys of the other form with values which that one refuses; nobody writes such values, and without them none is found that breaks. It is accepted and perhaps not understood: risky.",
    holds: (seen) => !seen.accepted && seen.changes.some(isLeftToAnotherForm) && !isShown(seen, "declared"),
  },
];

function isLeftToAnotherForm({ verdict, text }: SchemaChange): boolean {
  return verdict === "risky" && Object.values(OTHER_FORM).some((end) => text.endsWith(end));
}

/** Is there a value that breaks, among all or among those that only carry keys that a schema declares? */
function isShown({ before, after, direction }: Asked, keys: "any" | "declared"): boolean {
  const [was, is] = [withoutDialect(before), withoutDialect(after)];
  const [taker, refuser] = direction === "input" ? [was, is] : [is, was];
  return witness(taker, refuser, keys, WITNESS_TRIES) !== undefined;
}
