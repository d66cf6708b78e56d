/**
 * The three digests of a tool and the digest of a catalog.
 *
 * Owns: `contract/1`, `text/1`, `document/1` and `catalog/1`. Golden vectors stand in test/golden/digests.
 * Speaks: ListedTool, ToolDigests.
 * Never: time, presence, the tool's name in contract or text (so that a rename can be digest-equal).
 */
import type { Digest, ToolKey } from "../model/ids.js";
import type { JsonObject, JsonValue } from "../model/json.js";
import type { ListedTool, ToolDigests } from "../model/tool.js";
import { effectiveAnnotations } from "./annotations.js";
import { canonicalJson, compareCodePoints, sha256 } from "./canonical.js";
import { normaliseSchema } from "./normalise.js";
import { repairInput, repairOutput } from "./repair.js";
import { toolTexts, type FieldTexts } from "./texts.js";

/** `onExhausted` hears of a schema that takes more work than any real one: its contract is then what was written. */
export function toolDigests(listed: ListedTool, onExhausted?: () => void): ToolDigests {
  return {
    contract: sha256(canonicalJson(toolContract(listed, onExhausted))),
    text: sha256(canonicalJson(toolText(listed))),
    document: documentDigest(listed),
  };
}

export function documentDigest(listed: ListedTool): Digest {
  return sha256(canonicalJson(listed));
}

/** What `contract/1` hashes: normalised schemas and effective annotations. A schema that could not be used counts as absent. */
export function toolContract(listed: ListedTool, onExhausted?: () => void): JsonObject {
  const output = repairOutput(listed["outputSchema"]).schema;
  const effective = effectiveAnnotations(listed);
  return {
    inputSchema: normaliseSchema(repairInput(listed["inputSchema"]).contract, onExhausted),
    ...(output === undefined ? {} : { outputSchema: normaliseSchema(output, onExhausted) }),
    annotations: {
      readOnlyHint: effective.readOnly,
      destructiveHint: effective.destructive,
      idempotentHint: effective.idempotent,
      openWorldHint: effective.openWorld,
    },
  };
}

/** What `text/1` hashes: title, description, and each field's descriptions on the way in and out. */
export function toolText(listed: ListedTool): JsonObject {
  const texts = toolTexts(listed);
  const byField = (map: FieldTexts): JsonObject =>
    Object.fromEntries(
      [...map].flatMap(([field, list]): [string, JsonValue][] => (list.length === 0 ? [] : [[field, [...list]]])),
    );
  return { title: texts.title, description: texts.description, input: byField(texts.input), output: byField(texts.output) };
}

/** `catalog/1`: over [tool key, document, contract, text], sorted by tool key. */
export function catalogDigest(entries: Iterable<readonly [ToolKey, ToolDigests]>): Digest {
  const rows = [...entries].sort(([a], [b]) => compareCodePoints(a, b));
  return sha256(canonicalJson(rows.map(([key, digests]) => [key, digests.document, digests.contract, digests.text])));
}
