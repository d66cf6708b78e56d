/**
 * The rules about a tool as a whole: annotations, texts, task support, what it publishes of its result.
 *
 * Owns: rules A1–A4, D1–D3, X1, and O1 and O2 for a schema that appears or goes; the differences they claim.
 * Speaks: two tools of one key.
 * Never: the inside of schemas (rules.ts).
 */
import type { RuleId, Verdict } from "../model/drift.js";
import { isJsonObject, type JsonValue } from "../model/json.js";
import type { EffectiveAnnotations, ListedTool, Tool } from "../model/tool.js";
import { escapeText } from "./clean.js";
import { sameJson } from "./schema/equal.js";
import { toolTexts, type FieldTexts } from "./texts.js";

/** What can be seen to differ between two tools beside the inside of their schemas. */
export type ToolObservation =
  | { readonly kind: "output-published" | "output-withdrawn" }
  | {
      readonly kind: "hint";
      readonly hint: keyof EffectiveAnnotations;
      readonly was: boolean;
      readonly is: boolean;
      /** What the tool may do now. */
      readonly destroys: boolean;
    }
  | { readonly kind: "text"; readonly what: "title" | "description"; readonly was: string; readonly is: string }
  | {
      readonly kind: "field-text";
      readonly side: "inputSchema" | "outputSchema";
      readonly field: string;
      readonly was: readonly string[];
      readonly is: readonly string[];
    }
  | { readonly kind: "task-required" }
  | { readonly kind: "other"; readonly part: string };

export interface ToolClaim {
  readonly verdict: Verdict;
  readonly text: string;
}

export interface ToolRule {
  readonly rule: RuleId;
  readonly claim: (seen: ToolObservation) => ToolClaim | undefined;
}

/** Every rule about whole tools; the first that claims an observation has it. */
export const TOOL_RULES: readonly ToolRule[] = Object.freeze([
  {
    rule: "O1",
    claim: (seen) =>
      seen.kind === "output-published" ? { verdict: "compatible", text: "the shape of the result is published" } : undefined,
  },
  {
    rule: "O2",
    claim: (seen) =>
      seen.kind === "output-withdrawn"
        ? { verdict: "risky", text: "the shape of the result is not published any more" }
        : undefined,
  },
  {
    rule: "A1",
    claim: (seen) => {
      if (seen.kind !== "hint") return undefined;
      if (seen.hint === "readOnly" && seen.was)
        return { verdict: "risky", text: `the tool was read-only and writes now${seen.destroys ? ", and may destroy" : ""}` };
      if (seen.hint === "destructive" && seen.is)
        return { verdict: "risky", text: "the tool may destroy what it could not before" };
      return undefined;
    },
  },
  {
    rule: "A2",
    claim: (seen) =>
      seen.kind === "hint" && seen.hint === "idempotent" && seen.was
        ? { verdict: "risky", text: "calling the tool twice is not the same as once any more" }
        : undefined,
  },
  {
    rule: "A3",
    claim: (seen) =>
      seen.kind === "hint" && seen.hint === "openWorld" && seen.is
        ? { verdict: "risky", text: "the tool reaches out to an open world now" }
        : undefined,
  },
  {
    rule: "A4",
    claim: (seen) =>
      seen.kind === "hint" && isSafer(seen)
        ? { verdict: "compatible", text: `the tool became safer: ${seen.hint} is ${seen.is} now` }
        : undefined,
  },
  {
    rule: "X1",
    claim: (seen) =>
      seen.kind === "task-required" ? { verdict: "risky", text: "the tool can only be called as a task now" } : undefined,
  },
  {
    rule: "D1",
    claim: (seen) => (seen.kind === "text" ? { verdict: "cosmetic", text: `the ${seen.what} changed` } : undefined),
  },
  {
    rule: "D2",
    claim: (seen) =>
      seen.kind === "field-text"
        ? {
            verdict: "cosmetic",
            text: `the description of ${seen.field === "" ? "the schema" : `\`${escapeText(seen.field)}\``} changed`,
          }
        : undefined,
  },
  {
    rule: "D3",
    claim: (seen) =>
      seen.kind === "other"
        ? { verdict: "cosmetic", text: `${escapeText(seen.part)} changed, which no call depends on` }
        : undefined,
  },
] satisfies ToolRule[]);

function isSafer(seen: { readonly hint: keyof EffectiveAnnotations; readonly is: boolean }): boolean {
  return seen.hint === "readOnly" || seen.hint === "idempotent" ? seen.is : !seen.is;
}

/** All differences but those inside schemas. */
export function observeTools(before: Tool, after: Tool): ToolObservation[] {
  return [
    ...observeOutput(before, after),
    ...observeHints(before, after),
    ...observeTexts(before.document, after.document),
    ...observeRest(before, after),
  ];
}

function* observeOutput(before: Tool, after: Tool): Iterable<ToolObservation> {
  const [had, has] = [before.outputSchema !== undefined, after.outputSchema !== undefined];
  if (had !== has) yield { kind: has ? "output-published" : "output-withdrawn" };
}

function* observeHints(before: Tool, after: Tool): Iterable<ToolObservation> {
  for (const hint of ["readOnly", "destructive", "idempotent", "openWorld"] as const) {
    const [was, is] = [before.annotations[hint], after.annotations[hint]];
    // Whether it destroys was hidden while it was read-only: one alarm, not two.
    if (hint === "destructive" && before.annotations.readOnly !== after.annotations.readOnly) continue;
    if (was !== is) yield { kind: "hint", hint, was, is, destroys: after.annotations.destructive };
  }
}

function* observeTexts(before: ListedTool, after: ListedTool): Iterable<ToolObservation> {
  const [old, now] = [toolTexts(before), toolTexts(after)];
  for (const what of ["title", "description"] as const)
    if (old[what] !== now[what]) yield { kind: "text", what, was: old[what], is: now[what] };
  yield* observeFieldTexts("inputSchema", old.input, now.input);
  yield* observeFieldTexts("outputSchema", old.output, now.output);
}

/** Fields on both sides only: the text of a field that came or went is part of that. */
function* observeFieldTexts(side: "inputSchema" | "outputSchema", old: FieldTexts, now: FieldTexts): Iterable<ToolObservation> {
  for (const [field, was] of old) {
    const is = now.get(field);
    if (is !== undefined && (was.length !== is.length || was.some((text, index) => text !== is[index])))
      yield { kind: "field-text", side, field, was, is };
  }
}

const KNOWN_PARTS: ReadonlySet<string> = new Set(["name", "title", "description", "inputSchema", "outputSchema", "annotations"]);

/** Parts of the document that are neither contract nor text, and the spelling of schemas whose contract stands. */
function* observeRest(before: Tool, after: Tool): Iterable<ToolObservation> {
  const [old, now] = [before.document, after.document];
  if (taskSupport(now) === "required" && taskSupport(old) !== "required") yield { kind: "task-required" };
  const parts = new Set([...Object.keys(old), ...Object.keys(now)].filter((part) => !KNOWN_PARTS.has(part)));
  for (const part of [...parts].sort()) {
    const [was, is] = part === "execution" ? [withoutTasks(old[part]), withoutTasks(now[part])] : [old[part], now[part]];
    const loosened = part === "execution" && taskSupport(old) !== taskSupport(now) && taskSupport(now) !== "required";
    if (!sameJson(was, is) || loosened) yield { kind: "other", part };
  }
  if (!sameJson(hintsOf(old["annotations"]), hintsOf(now["annotations"]))) yield { kind: "other", part: "annotations" };
  if (before.digests.contract !== after.digests.contract || before.digests.text !== after.digests.text) return;
  for (const part of ["inputSchema", "outputSchema"]) if (!sameJson(old[part], now[part])) yield { kind: "other", part };
}

function taskSupport(listed: ListedTool): JsonValue | undefined {
  const execution = listed["execution"];
  return isJsonObject(execution) ? execution["taskSupport"] : undefined;
}

function withoutTasks(execution: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(execution)) return execution;
  const { taskSupport: _judged, ...rest } = execution;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** Annotations that have no effective value: unknown ones, and a title that is not the tool's. */
function hintsOf(annotations: JsonValue | undefined): JsonValue {
  if (!isJsonObject(annotations)) return {};
  const { readOnlyHint: _r, destructiveHint: _d, idempotentHint: _i, openWorldHint: _o, title: _t, ...rest } = annotations;
  return rest;
}

/** What a claim is shown with. */
export function placeOf(seen: ToolObservation): { path: string; field?: string; before?: JsonValue; after?: JsonValue } {
  switch (seen.kind) {
    case "output-published":
    case "output-withdrawn":
      return { path: "/outputSchema" };
    case "hint":
      return { path: `/annotations/${seen.hint}Hint`, before: seen.was, after: seen.is };
    case "text":
      return { path: `/${seen.what}`, before: seen.was, after: seen.is };
    case "field-text":
      return {
        path: `/${seen.side}`,
        ...(seen.field === "" ? {} : { field: seen.field }),
        before: joined(seen.was),
        after: joined(seen.is),
      };
    case "task-required":
      return { path: "/execution/taskSupport", after: "required" };
    case "other":
      return { path: `/${seen.part}` };
  }
}

function joined(texts: readonly string[]): string {
  return texts.join("\n");
}
