/**
 * JSON values as the core sees them.
 *
 * Owns: the JSON types, the one narrowing that everybody needs, how deep a value may be.
 * Speaks: nothing; it has no imports.
 * Never: parsing or printing (that is the edge's work).
 */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * Levels of nesting that are taken at any door. Reading and printing JSON, and every walk over it, need stack by level: ten thousand
 * brackets, which are twenty kilobytes, end a process that takes them. No real value passes 100.
 */
export const JSON_LEVELS = 512;

/** True for a plain JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a value is, in words for people: what came where something else was expected. */
export function kindInWords(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (value === null || typeof value === "boolean") return String(value);
  return typeof value === "string" ? "a text" : typeof value === "number" ? "a number" : "an object";
}

/** True where the value has more characters than that, as it would be written; found out without writing it. Not for what may be too deep. */
export function isLargerThan(value: unknown, characters: number): boolean {
  let left = characters;
  const isSpent = (inner: unknown): boolean => {
    left -= typeof inner === "string" ? inner.length + 3 : 2;
    if (left < 0) return true;
    if (Array.isArray(inner)) return inner.some(isSpent);
    if (typeof inner !== "object" || inner === null) return false;
    for (const key in inner) {
      left -= key.length + 3;
      if (left < 0 || isSpent((inner as Record<string, unknown>)[key])) return true;
    }
    return false;
  };
  return isSpent(value);
}

/** True where objects and lists stand in each other more than `levels` deep. It goes no deeper than that itself, so that it can guard what does. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels <= 0) return true;
  // Nothing is allocated for a member: results have millions.
  if (Array.isArray(value)) {
    for (const inner of value as unknown[]) if (typeof inner === "object" && isDeeperThan(inner, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const inner: unknown = (value as Record<string, unknown>)[key];
    if (typeof inner === "object" && isDeeperThan(inner, levels - 1)) return true;
  }
  return false;
}
