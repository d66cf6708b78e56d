/**
 * The typed difference between two schemas.
 *
 * Owns: `schemaDiff`: observations of the walk, each claimed by a rule.
 * Speaks: JSON Schema in, changes with rule, place and verdict out.
 * Never: usage; annotations and texts (drift.ts).
 */
import type { ToolChange } from "../model/drift.js";
import type { JsonValue } from "../model/json.js";
import { ALL_RULES, type Direction, type SchemaRule } from "./rules.js";
import type { Observation } from "./schema/observation.js";
import { readSchema } from "./schema/read.js";
import { observe } from "./schema/walk.js";

/** One change of a schema; `path` is a JSON pointer inside it, `field` the parameter or field (dotted, `[]` items, `*` other keys). */
export type SchemaChange = Omit<ToolChange, "tool">;

export interface SchemaDiff {
  /** In document order of the walk. */
  readonly changes: readonly SchemaChange[];
  /** Differences that no rule of the table claims. */
  readonly unclassified: readonly Observation[];
}

/** All typed changes from one schema to another, in the direction the schema is used. Equal contracts give none. */
export function schemaDiff(
  before: JsonValue,
  after: JsonValue,
  direction: Direction,
  rules: readonly SchemaRule[] = ALL_RULES,
): SchemaChange[] {
  return [...diffSchemas(before, after, direction, rules).changes];
}

/** The same, with what could not be classified. */
export function diffSchemas(
  before: JsonValue,
  after: JsonValue,
  direction: Direction,
  rules: readonly SchemaRule[] = ALL_RULES,
): SchemaDiff {
  const changes: SchemaChange[] = [];
  const unclassified: Observation[] = [];
  for (const seen of observe(readSchema(before), readSchema(after), { findsRenames: direction === "input" })) {
    const change = classify(seen, direction, rules);
    if (change === undefined) unclassified.push(seen);
    else changes.push(change);
  }
  return { changes, unclassified };
}

function classify(seen: Observation, direction: Direction, rules: readonly SchemaRule[]): SchemaChange | undefined {
  for (const entry of rules) {
    if (entry.direction !== direction && entry.direction !== "both") continue;
    const claim = entry.claim(seen);
    if (claim === undefined) continue;
    return {
      rule: entry.rule,
      verdict: claim.verdict,
      path: seen.path,
      ...(seen.field === undefined ? {} : { field: seen.field }),
      ...(seen.kind === "member-renamed" ? { renamedTo: renamedField(seen.field, seen.to) } : {}),
      ...(seen.before === undefined ? {} : { before: seen.before }),
      ...(seen.after === undefined ? {} : { after: seen.after }),
      text: claim.text,
    };
  }
  return undefined;
}

/** The new name in the same place: `filter.state` → `filter.status`. */
function renamedField(field: string | undefined, to: string): string {
  const dot = (field ?? "").lastIndexOf(".");
  return dot < 0 ? to : `${(field ?? "").slice(0, dot)}.${to}`;
}
