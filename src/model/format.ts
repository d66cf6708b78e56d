/**
 * Stored formats: how a document says what it is.
 *
 * Owns: the `"format": "<kind>/<n>"` convention and the registry from which FORMATS.md is generated.
 * Speaks: zod, as the one source of both the type and the check.
 * Never: reading or writing files (store/), migrations of other kinds.
 */
import { z } from "zod";

export interface StoredFormat<Schema extends z.ZodType = z.ZodType> {
  readonly kind: string;
  readonly version: number;
  /** `<kind>/<n>`, the value of the document's `format` field. */
  readonly id: string;
  /** Where documents of this kind live, relative to the home. */
  readonly place: string;
  readonly purpose: string;
  readonly schema: Schema;
}

const registry: StoredFormat[] = [];

/** Declares a stored format; the schema gains the literal `format` field. */
export function defineFormat<Shape extends z.ZodRawShape>(options: {
  kind: string;
  version: number;
  place: string;
  purpose: string;
  shape: Shape;
}): StoredFormat<z.ZodObject<Shape & { format: z.ZodLiteral<string> }>> {
  const id = `${options.kind}/${options.version}`;
  const schema = z.looseObject({ format: z.literal(id), ...options.shape }) as unknown as z.ZodObject<
    Shape & { format: z.ZodLiteral<string> }
  >;
  const format = { kind: options.kind, version: options.version, id, place: options.place, purpose: options.purpose, schema };
  registry.push(format);
  return format;
}

/** All formats declared so far, sorted by kind. */
export function declaredFormats(): readonly StoredFormat[] {
  return [...registry].sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.version - b.version));
}
