/** Arbitrary values of a zod schema, for laws that hold of every document of a format. Knows the kinds of schema that formats use. */
import fc from "fast-check";
import type { z } from "zod";

interface Definition {
  readonly type: string;
  readonly shape?: Record<string, z.ZodType>;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly values?: readonly unknown[];
  readonly entries?: Record<string, string>;
  readonly format?: string;
  readonly check?: string;
  readonly checks?: readonly { _zod: { def: { check: string; value: number; minimum: number; inclusive: boolean } } }[];
}

/** JSON as it comes back from being written: `-0` does not. */
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const text = fc.string({ unit: "grapheme", maxLength: 12 });
/** Names that mean something else to JavaScript's own objects are no keys of ours. */
const key = text.filter((name) => name !== "__proto__" && name !== "");

export function arbitrary(schema: z.ZodType): fc.Arbitrary<unknown> {
  const def = schema._zod.def as unknown as Definition;
  switch (def.type) {
    case "object":
      return object(def.shape ?? {});
    case "record":
      return fc.dictionary(key, arbitrary(required(def.valueType)), { maxKeys: 3, noNullPrototype: true });
    case "array":
      return fc.array(arbitrary(required(def.element)), { minLength: minimum(def), maxLength: Math.max(2, minimum(def)) });
    case "string":
      return text;
    case "number":
      return def.format === undefined
        ? fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n))
        : fc.integer({ min: minimum(def), max: 1_000_000 });
    case "boolean":
      return fc.boolean();
    case "literal":
      return fc.constantFrom(...required(def.values));
    case "enum":
      return fc.constantFrom(...Object.values(required(def.entries)));
    case "optional":
      return arbitrary(required(def.innerType));
    case "nullable":
      return fc.option(arbitrary(required(def.innerType)));
    case "union":
      return fc.oneof(...required(def.options).map(arbitrary));
    case "lazy":
    case "unknown":
      return json;
    default:
      throw new Error(`no arbitrary for a schema of type ${def.type}`);
  }
}

function object(shape: Record<string, z.ZodType>): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, arbitrary(schema)]));
  const isOptional = (name: string): boolean => (shape[name]?._zod.def as unknown as Definition).type === "optional";
  return fc.record(members, { requiredKeys: Object.keys(shape).filter((name) => !isOptional(name)), noNullPrototype: true });
}

function minimum(def: Definition): number {
  for (const { _zod: check } of def.checks ?? []) {
    if (check.def.check === "greater_than") return check.def.value + (check.def.inclusive ? 0 : 1);
    if (check.def.check === "min_length") return check.def.minimum;
  }
  return 0;
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("an incomplete schema");
  return value;
}
