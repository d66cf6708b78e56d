/**
 * The normal form of a schema: cosmetic rewritings of one contract have one form.
 *
 * Owns: the entry point that digests and golden vectors rely on. A change of what it returns is a new contract digest format.
 * Speaks: JSON Schema in, JSON Schema 2020-12 out.
 * Never: looks at more than the document it is given.
 */
import type { JsonValue } from "../model/json.js";
import { Exhausted } from "./schema/effort.js";
import { printSlot } from "./schema/print.js";
import { readSchema } from "./schema/read.js";

/**
 * Idempotent. Keeps defaults, drops annotations, resolves local references; what it does not understand stays, to be compared. One that
 * takes more work than any real one stays as it was written, and `onExhausted` hears of it.
 */
export function normaliseSchema(schema: JsonValue, onExhausted?: () => void): JsonValue {
  try {
    return printSlot(readSchema(schema));
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    onExhausted?.();
    return schema;
  }
}
