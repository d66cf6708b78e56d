/**
 * The rules that say what a difference between two schemas is called, and how bad it is by the schemas alone.
 *
 * Owns: rules I1–I17, O1, O3–O7 and X2 as a table: one small claim each. A caller may pass a shorter table; what no rule claims is
 * counted as unclassified.
 * Speaks: observations in, rule ids, verdicts and sentences out.
 * Never: usage and levels (level.ts).
 *
 * Verdicts on the way in: breaking = what was accepted is refused; edge = only values at the edges are (bounds, null, whole numbers);
 * risky = accepted, and perhaps not understood as before. On the way out the same for what readers were promised.
 */
import type { RuleId, Verdict } from "../model/drift.js";
import type { JsonValue } from "../model/json.js";
import { escapeText } from "./clean.js";
import type { Cover, Observation } from "./schema/observation.js";

export type Direction = "input" | "output";

export interface Claim {
  readonly verdict: Verdict;
  /** One sentence for people, about a parameter or a field of the result. */
  readonly text: string;
}

export interface SchemaRule {
  readonly rule: RuleId;
  readonly direction: Direction | "both";
  /** undefined: this rule does not speak of it. The first rule that claims an observation has it. */
  readonly claim: (seen: Observation) => Claim | undefined;
}

type Kinds = Observation["kind"];
type Of<Kind extends Kinds> = Extract<Observation, { kind: Kind }>;

/** A rule that claims some kinds of observation and judges them. */
function rule<Kind extends Kinds>(
  id: RuleId,
  direction: SchemaRule["direction"],
  kinds: readonly Kind[],
  judge: (seen: Of<Kind>) => Claim | undefined,
): SchemaRule {
  const claims = (seen: Observation): seen is Of<Kind> => (kinds as readonly string[]).includes(seen.kind);
  return {
    rule: id,
    direction,
    claim: (seen) => {
      const claim = claims(seen) ? judge(seen) : undefined;
      if (claim === undefined || direction === "both") return claim;
      return unlessCovered(claim, direction === "input" ? seen.coveredByNew : seen.coveredByOld, OTHER_FORM[direction]);
    },
  };
}

/* ── input: values that were accepted must stay accepted ───────────────────────────────────────────────────────────────── */

const INPUT_RULES: readonly SchemaRule[] = [
  rule("I1", "input", ["member-added"], (seen) =>
    seen.required && !seen.hasDefault
      ? { verdict: "breaking", text: `parameter ${name(seen)} was added and is required` }
      : undefined,
  ),
  rule("I2", "input", ["member-added"], (seen) =>
    seen.required && seen.hasDefault
      ? { verdict: "risky", text: `parameter ${name(seen)} was added and is required, with a default` }
      : undefined,
  ),
  rule("I3", "input", ["member-added"], (seen) =>
    seen.required ? undefined : { verdict: "compatible", text: `optional parameter ${name(seen)} was added` },
  ),
  rule("I4", "input", ["member-required"], (seen) => ({
    verdict: seen.hasDefault ? "risky" : "breaking",
    text: `parameter ${name(seen)} became required${seen.hasDefault ? ", with a default" : ""}`,
  })),
  rule("I5", "input", ["member-optional"], (seen) => ({
    verdict: "compatible",
    text: `parameter ${name(seen)} became optional`,
  })),
  rule("I6", "input", ["member-removed"], (seen) =>
    seen.into === "closed" ? { verdict: "breaking", text: `parameter ${name(seen)} was removed and is now refused` } : undefined,
  ),
  rule("I7", "input", ["member-removed"], (seen) =>
    seen.into === "closed"
      ? undefined
      : { verdict: "risky", text: `parameter ${name(seen)} was removed and is now silently ignored` },
  ),
  rule("I8", "input", ["member-renamed"], (seen) => ({
    verdict: seen.into === "closed" || seen.required ? "breaking" : "risky",
    text: `parameter ${name(seen)} is now called ${quote(seen.to)}`,
  })),
  rule("I9", "input", ["kinds-moved", "integer-lifted", "branch-won", "exclusion-lifted"], (seen) => {
    if (seen.kind === "integer-lifted") return compatible(`${name(seen)} takes any number now`);
    if (seen.kind !== "kinds-moved") return compatible(`${name(seen)} takes further forms`);
    return seen.lost.length > 0 ? undefined : compatible(`${name(seen)} also takes ${list(seen.won)}`);
  }),
  rule("I10", "input", ["kinds-moved", "integer-introduced", "branch-lost", "exclusion-introduced"], (seen) => {
    if (seen.kind === "integer-introduced") return { verdict: "edge", text: `${name(seen)} takes whole numbers only` };
    if (seen.kind === "exclusion-introduced") return { verdict: "edge", text: `${name(seen)} must fit exactly one form` };
    if (seen.kind === "branch-lost") return { verdict: "breaking", text: `one form of ${name(seen)} is not taken any more` };
    const now = seen.won.length > 0 ? `, but ${list(seen.won)}` : "";
    return {
      verdict: seen.edge ? "edge" : "breaking",
      text: `${name(seen)} does not take ${list(seen.lost)} any more${now}`,
    };
  }),
  rule("I11", "input", ["values-lost", "values-introduced"], (seen) => ({
    verdict: "breaking",
    text:
      seen.kind === "values-lost"
        ? `values of ${name(seen)} are gone: now ${show(seen.after)}`
        : `${name(seen)} takes listed values only: ${show(seen.after)}`,
  })),
  rule("I12", "input", ["values-won", "values-lifted"], (seen) =>
    compatible(
      seen.kind === "values-won"
        ? `${name(seen)} takes further values`
        : `${name(seen)} is not limited to listed values any more`,
    ),
  ),
  rule("I13", "input", ["limit-tightened"], (seen) => ({
    verdict: seen.edge ? "edge" : "breaking",
    text: `${seen.keyword} of ${name(seen)} was tightened from ${show(seen.before)} to ${show(seen.after)}`,
  })),
  rule("I14", "input", ["limit-loosened", "extras-opened"], (seen) =>
    compatible(
      seen.kind === "limit-loosened"
        ? `${seen.keyword} of ${name(seen)} was loosened`
        : `undeclared keys are taken at ${name(seen)}`,
    ),
  ),
  rule("I15", "input", ["format-moved"], (seen) => ({
    verdict: seen.won ? "risky" : "compatible",
    text: `format of ${name(seen)} changed from ${show(seen.before)} to ${show(seen.after)}`,
  })),
  rule("I16", "input", ["default-moved"], (seen) => ({
    verdict: saysAbsent(seen.before) && saysAbsent(seen.after) ? "compatible" : "risky",
    text: `default of ${name(seen)} changed from ${show(seen.before)} to ${show(seen.after)}`,
  })),
  rule("I17", "input", ["extras-closed"], (seen) => ({
    verdict: seen.wasMap ? "breaking" : "risky",
    text: `undeclared keys are not taken any more at ${name(seen)}`,
  })),
];

/* ── output: what readers were promised must stay true ─────────────────────────────────────────────────────────────────── */

const OUTPUT_RULES: readonly SchemaRule[] = [
  rule("O1", "output", ["contract-published"], () => compatible("the shape of the result is published")),
  rule("O2", "output", ["contract-lost"], () => ({
    verdict: "risky",
    text: "the shape of the result is not published any more",
  })),
  rule("O3", "output", ["member-removed", "member-optional"], (seen) =>
    seen.kind === "member-optional"
      ? { verdict: "breaking", text: `field ${name(seen)} of the result may be missing now` }
      : {
          verdict: seen.required || seen.into !== "closed" ? "breaking" : "risky",
          text: `field ${name(seen)} of the result was removed`,
        },
  ),
  rule("O4", "output", ["member-added", "extras-opened"], (seen) =>
    seen.kind === "member-added"
      ? { verdict: seen.over === "closed" ? "risky" : "compatible", text: `field ${name(seen)} of the result was added` }
      : { verdict: "risky", text: `the result may have undeclared fields at ${name(seen)}` },
  ),
  rule("O5", "output", ["kinds-moved", "integer-lifted", "branch-won", "exclusion-lifted", "format-moved"], (seen) => {
    if (seen.kind === "integer-lifted") return { verdict: "edge", text: `field ${name(seen)} may be any number now` };
    if (seen.kind === "exclusion-lifted") return { verdict: "edge", text: `field ${name(seen)} may fit several forms now` };
    if (seen.kind === "branch-won") return { verdict: "breaking", text: `field ${name(seen)} may have a further form` };
    if (seen.kind === "format-moved") {
      if (!seen.lost) return undefined;
      return { verdict: "risky", text: `format of field ${name(seen)} changed from ${show(seen.before)} to ${show(seen.after)}` };
    }
    if (seen.won.length === 0) return undefined;
    return { verdict: seen.edge ? "edge" : "breaking", text: `field ${name(seen)} may be ${list(seen.won)} now` };
  }),
  rule("O6", "output", ["values-won", "values-lifted", "limit-loosened"], (seen) => ({
    verdict: seen.kind === "limit-loosened" ? "edge" : "breaking",
    text:
      seen.kind === "limit-loosened"
        ? `${seen.keyword} of field ${name(seen)} was loosened`
        : `field ${name(seen)} may have further values`,
  })),
  rule(
    "O7",
    "output",
    [
      "kinds-moved",
      "integer-introduced",
      "branch-lost",
      "exclusion-introduced",
      "values-lost",
      "values-introduced",
      "limit-tightened",
      "format-moved",
      "member-required",
      "extras-closed",
      "default-moved",
    ],
    (seen) => {
      if (seen.kind === "default-moved") return { verdict: "cosmetic", text: `default of field ${name(seen)} changed` };
      if (seen.kind === "limit-tightened" && seen.loosenedToo)
        return { verdict: "edge", text: `${seen.keyword} of field ${name(seen)} changed` };
      return compatible(`the result is described more narrowly at ${name(seen)}`);
    },
  ),
];

const UNDECIDED_RULES: readonly SchemaRule[] = [
  rule("X2", "both", ["contract-published", "contract-lost"], (seen) => ({
    verdict: "risky",
    text:
      seen.kind === "contract-published"
        ? "the parameters are published for the first time"
        : "the parameters are not published any more",
  })),
  rule("X2", "both", ["opaque-moved"], (seen) => ({
    verdict: "undecided",
    text:
      seen.kind === "opaque-moved" && seen.keyword === "$large"
        ? "the schema is too involved to be compared whole: what else changed cannot be decided"
        : `${seen.keyword} changed at ${name(seen)}: what that means cannot be decided`,
  })),
];

/** Every rule about schemas; the first that claims an observation has it. */
export const ALL_RULES: readonly SchemaRule[] = Object.freeze([...INPUT_RULES, ...OUTPUT_RULES, ...UNDECIDED_RULES]);

/* ── verdicts and words ────────────────────────────────────────────────────────────────────────────────────────────────── */

/**
 * Another form of a union may make up for what one of them lost. Where it does so without looking at what this one declared, the value
 * goes through and is not understood as before.
 */
function unlessCovered(claim: Claim, cover: Cover, otherForm: string): Claim {
  if (cover === "no" || (claim.verdict !== "breaking" && claim.verdict !== "edge")) return claim;
  return cover === "fully" ? { ...claim, verdict: "compatible" } : { verdict: "risky", text: `${claim.text}; ${otherForm}` };
}

/** What is added to the sentence where another form lets the values through. */
export const OTHER_FORM = {
  input: "another form of it still lets such values through",
  output: "another form of it let such values through before",
} as const;

function compatible(text: string): Claim {
  return { verdict: "compatible", text };
}

/** No default and a default of null say the same: nothing is given. */
function saysAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function name(seen: Observation): string {
  return seen.field === undefined ? "the whole" : quote(seen.field);
}

function quote(text: string): string {
  return `\`${escapeText(text)}\``;
}

function list(words: readonly string[]): string {
  return words.join(", ");
}

function show(value: JsonValue | undefined): string {
  if (value === undefined) return "none";
  const text = escapeText(JSON.stringify(value));
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
