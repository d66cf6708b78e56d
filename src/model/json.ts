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

/** True where objects and lists stand in each other more than `levels` deep. Without recursion, so that it can guard what has it. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: object[] = typeof value === "object" && value !== null ? [value] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    const next: object[] = [];
    for (const member of level) {
      for (const inner of Array.isArray(member) ? (member as unknown[]) : (Object.values(member) as unknown[]))
        if (typeof inner === "object" && inner !== null) next.push(inner);
    }
    level = next;
  }
  return false;
}
