/**
 * What can be seen to differ between two schemas, before anybody says what it means.
 *
 * Owns: the closed list of kinds of difference. Rules (catalog/rules.ts) claim them; what none claims is counted as unclassified.
 * Speaks: fields, fragments of schemas in normal form.
 * Never: rule ids, verdicts, directions.
 */
import type { JsonValue } from "../../model/json.js";
import type { Kind } from "./node.js";

/** One kind of difference for each word, so that a rule may claim one of them. */
type Bare<Word extends string> = Word extends string ? { readonly kind: Word } : never;

export type Difference =
  /** A root that said nothing says something, or the other way round. */
  | Bare<"contract-published" | "contract-lost">
  | { readonly kind: "member-added"; readonly required: boolean; readonly hasDefault: boolean; readonly over: Extras }
  | { readonly kind: "member-removed"; readonly required: boolean; readonly into: Extras }
  | { readonly kind: "member-renamed"; readonly to: string; readonly into: Extras; readonly required: boolean }
  | { readonly kind: "member-required"; readonly hasDefault: boolean }
  | { readonly kind: "member-optional" }
  /** `edge`: only null, or only kinds that were accepted for want of a `type`. */
  | { readonly kind: "kinds-moved"; readonly lost: readonly Kind[]; readonly won: readonly Kind[]; readonly edge: boolean }
  | Bare<"integer-introduced" | "integer-lifted">
  | Bare<"values-lost" | "values-won" | "values-introduced" | "values-lifted">
  /** `edge`: a bound. Not a pattern, which may refuse anything. `undecidable`: it also accepts what it did not. */
  | { readonly kind: "limit-tightened"; readonly keyword: string; readonly edge: boolean; readonly loosenedToo: boolean }
  | { readonly kind: "limit-loosened"; readonly keyword: string }
  | { readonly kind: "format-moved"; readonly lost: boolean; readonly won: boolean }
  | { readonly kind: "default-moved" }
  /** Undeclared keys were accepted and are not, or only some. `wasMap`: they were meant to be used, having a schema of
   * their own or being all there is. */
  | { readonly kind: "extras-closed"; readonly wasMap: boolean }
  | { readonly kind: "extras-opened" }
  | Bare<"branch-lost" | "branch-won">
  /** `oneOf` over branches that share values against `anyOf`. */
  | Bare<"exclusion-introduced" | "exclusion-lifted">
  | { readonly kind: "opaque-moved"; readonly keyword: string };

/** What an object does with a key it does not declare. */
export type Extras = "open" | "closed" | "typed";

export type Observation = Difference & {
  /** JSON pointer inside the schema, references followed. */
  readonly path: string;
  /** Dotted; undefined for the schema itself. */
  readonly field: string | undefined;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
  /** All that was accepted here is accepted by another branch of the new schema. */
  readonly coveredByNew: Cover;
  /** All that is accepted here was accepted by another branch of the old schema. */
  readonly coveredByOld: Cover;
};

/** `loosely`: accepted, but members that this branch declares mean nothing to the other one. */
export type Cover = "fully" | "loosely" | "no";

/** Does the difference refuse values that were accepted? */
export function narrows(seen: Difference): boolean {
  switch (seen.kind) {
    case "member-added":
      return seen.required;
    case "member-renamed":
      return seen.into === "closed" || seen.required;
    case "member-removed":
      return seen.into === "closed";
    case "kinds-moved":
      return seen.lost.length > 0;
    case "contract-published":
    case "member-required":
    case "integer-introduced":
    case "values-lost":
    case "values-introduced":
    case "limit-tightened":
    case "extras-closed":
    case "branch-lost":
    case "exclusion-introduced":
    case "opaque-moved":
      return true;
    default:
      return false;
  }
}
