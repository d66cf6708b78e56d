/**
 * Effective annotations: what a tool's hints mean once the protocol's defaults are filled in.
 *
 * Owns: the defaults, and the rule that read-only hides destructive.
 * Speaks: ListedTool.
 * Never: trust. A hint is what the upstream says of itself.
 */
import { isJsonObject, kindInWords } from "../model/json.js";
import type { EffectiveAnnotations, ListedTool } from "../model/tool.js";

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

/** Sentences on what of the annotations says nothing because of its kind. */
export function unreadAnnotations(listed: ListedTool): readonly string[] {
  const hints = listed["annotations"];
  if (hints === undefined || hints === null) return [];
  if (!isJsonObject(hints)) return [`annotations is ${kindInWords(hints)} instead of an object, and is left aside`];
  return HINTS.filter((name) => !["undefined", "boolean"].includes(typeof hints[name])).map(
    (name) => `annotations.${name} is ${kindInWords(hints[name])} instead of true or false, and counts as not given`,
  );
}

/** Hints that are not booleans count as absent. */
export function effectiveAnnotations(listed: ListedTool): EffectiveAnnotations {
  const hints = isJsonObject(listed["annotations"]) ? listed["annotations"] : {};
  const hint = (name: string, otherwise: boolean): boolean => {
    const value = hints[name];
    return typeof value === "boolean" ? value : otherwise;
  };
  const readOnly = hint("readOnlyHint", false);
  return {
    readOnly,
    destructive: readOnly ? false : hint("destructiveHint", true),
    idempotent: hint("idempotentHint", false),
    openWorld: hint("openWorldHint", true),
  };
}
