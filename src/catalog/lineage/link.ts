/**
 * Links: findings as the stored lineage has them.
 *
 * Owns: stable ids, the shape of a link, the parameter mapping it carries.
 * Speaks: LineageLink.
 * Never: finding (lineage.ts) or composing (chain.ts).
 */
import type { CatalogVersion } from "../../model/ids.js";
import type { JsonValue } from "../../model/json.js";
import type { LineageLink } from "../../model/lineage.js";
import { canonicalJson, sha256 } from "../canonical.js";
import { mapParameters } from "./parameters.js";
import type { Corpus } from "./corpus.js";
import type { Profile } from "./profile.js";

export interface Finding {
  readonly old: Profile;
  readonly to: readonly Profile[];
  readonly kind: LineageLink["kind"];
  readonly level: LineageLink["level"];
  readonly score: number;
  readonly fixed: Readonly<Record<string, JsonValue>>;
  readonly evidence: readonly string[];
  readonly corpus: Corpus;
  readonly atVersion: CatalogVersion;
}

/** Lower-case hex, 16 characters: the same tools at the same version have the same link, whatever its level. */
export function linkId(atVersion: CatalogVersion, from: string, to: readonly string[]): string {
  return sha256(canonicalJson([atVersion, from, [...to]])).slice(0, 16);
}

export function linkOf(finding: Finding): LineageLink {
  const from = finding.old.tool.key;
  const to = finding.to.map((next) => next.tool.key);
  return {
    id: linkId(finding.atVersion, from, to),
    kind: finding.kind,
    from,
    to,
    atVersion: finding.atVersion,
    level: finding.level,
    params: mapParameters(finding.old, finding.to, finding.fixed, finding.corpus),
    fixedArguments: { ...finding.fixed },
    score: Math.round(finding.score * 1000) / 1000,
    evidence: [...finding.evidence],
  };
}
