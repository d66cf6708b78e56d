/**
 * A quick look whether a document fits its schema: a start reads megabytes of documents, nearly all of them sound.
 *
 * Owns: the kinds of schema that formats are made of, compiled once to plain checks.
 * Law: what fits here, zod accepts. What does not is not damaged yet: zod is asked, which also says what is wrong.
 */
import type { z } from "zod";

type Check = (value: unknown) => boolean;

/** The parts of a zod definition that are looked at. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly keyType?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly format?: string;
  readonly catchall?: z.ZodType;
  readonly checks?: readonly { readonly _zod: { readonly def: Bound } }[];
}
interface Bound {
  readonly check: string;
  readonly value?: unknown;
  readonly inclusive?: boolean;
}

const compiled = new WeakMap<z.ZodType, Check>();
/** What is not known here fits nothing: zod decides. */
const unsure: Check = () => false;

export function fits(schema: z.ZodType, value: unknown): boolean {
  return checkOf(schema)(value);
}

function checkOf(schema: z.ZodType | undefined): Check {
  if (schema === undefined) return unsure;
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const check = compile(schema._zod.def as unknown as Definition);
  compiled.set(schema, check);
  return check;
}

function compile(def: Definition): Check {
  const bare = def.checks === undefined || def.checks.length === 0;
  if (def.type === "number") return numberCheck(def);
  if (!bare) return unsure;
  switch (def.type) {
    case "string":
      return def.format === undefined ? (value) => typeof value === "string" : unsure;
    case "boolean":
      return (value) => typeof value === "boolean";
    case "literal":
      return oneOf(def.values ?? []);
    case "enum":
      return oneOf(Object.values(def.entries ?? {}));
    case "array": {
      const element = checkOf(def.element);
      return (value) => {
        if (!Array.isArray(value)) return false;
        for (let at = 0; at < value.length; at += 1) if (!element(value[at])) return false;
        return true;
      };
    }
    case "record":
      return recordCheck(def);
    case "object":
      return objectCheck(def);
    case "optional": {
      const inner = checkOf(def.innerType);
      return (value) => value === undefined || inner(value);
    }
    case "nullable": {
      const inner = checkOf(def.innerType);
      return (value) => value === null || inner(value);
    }
    case "union": {
      const options = (def.options ?? []).map(checkOf);
      return (value) => options.some((option) => option(value));
    }
    default:
      return unsure;
  }
}

function oneOf(values: readonly unknown[]): Check {
  const known = new Set(values);
  return (value) => known.has(value);
}

function numberCheck({ format, checks = [] }: Definition): Check {
  if (format !== undefined && format !== "safeint") return unsure;
  const bounds: Check[] = [format === undefined ? Number.isFinite : Number.isSafeInteger];
  for (const { _zod } of checks) {
    const { check, value: bound, inclusive } = _zod.def;
    if (check === "number_format") continue;
    if (typeof bound !== "number" || inclusive !== true) return unsure;
    if (check === "greater_than") bounds.push((value) => (value as number) >= bound);
    else if (check === "less_than") bounds.push((value) => (value as number) <= bound);
    else return unsure;
  }
  return (value) => bounds.every((bound) => bound(value));
}

function recordCheck({ keyType, valueType }: Definition): Check {
  const isText = keyType !== undefined && (keyType._zod.def as unknown as Definition).type === "string";
  if (!isText || checkOf(keyType) === unsure) return unsure;
  const each = checkOf(valueType);
  return (value) => {
    if (!isPlain(value)) return false;
    for (const key of Object.keys(value)) if (key === "__proto__" || !each(value[key])) return false;
    return true;
  };
}

/** Members that the shape does not name: accepted where the schema lets them through, else left to zod. */
function objectCheck({ shape = {}, catchall }: Definition): Check {
  const members = Object.entries(shape).map(([name, schema]) => [name, checkOf(schema)] as const);
  const isOpen = catchall === undefined || (catchall._zod.def as unknown as Definition).type === "unknown";
  if (!isOpen) return unsure;
  return (value) => {
    if (!isPlain(value)) return false;
    for (const [name, check] of members) if (!check(Object.hasOwn(value, name) ? value[name] : undefined)) return false;
    return true;
  };
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
