/**
 * JSON values as the core sees them.
 *
 * Owns: the JSON types and the one narrowing that everybody needs.
 * Speaks: nothing; it has no imports.
 * Never: parsing or printing (that is the edge's work).
 */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** True for a plain JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
