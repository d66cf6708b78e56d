/**
 * A value that one schema takes and another refuses: no argument about compatibility is stronger.
 *
 * Owns: the search for one, by chance and by what stands in both schemas: their names, values and bounds, and what lies next to them.
 * Speaks: JSON Schema 2020-12 without references, as an independent validator (ajv) reads it.
 * Never: proves that there is none.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";

const DEPTH = 6;

/**
 * A value that `taker` takes and `refuser` refuses; undefined where none was found, or the validator reads
 * one of them not. The same for the same schemas.
 *
 * @param keys `declared`: only values as somebody writes them who read the taker, without keys that it leaves open.
 * @param tries values looked at; a hundred thousand take some seconds.
 */
export function witness(taker: JsonValue, refuser: JsonValue, keys: "any" | "declared", tries: number): JsonValue | undefined {
  const [takes, refuses] = [reader(keys === "declared" ? closed(taker) : taker), reader(refuser)];
  if (takes === undefined || refuses === undefined) return undefined;
  const search = new Search(poolOf([taker, refuser]), keys === "any");
  for (let index = 0; index < tries; index += 1) {
    // What the refuser is about, made so that it just fits, is as likely to show it as what the taker is about.
    const value = search.value(keys === "any" && index % 4 === 3 ? refuser : taker, DEPTH);
    if (takes(value) && !refuses(value)) return value;
  }
  return undefined;
}

/** The same for whom there are no keys but declared ones. What `allOf` puts together stays as it is: each part sees all keys. */
function closed(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const out: JsonObject = { ...schema };
  for (const word of ["anyOf", "oneOf", "prefixItems"]) if (Array.isArray(out[word])) out[word] = out[word].map(closed);
  if (out["items"] !== undefined) out["items"] = closed(out["items"]);
  if (isJsonObject(out["properties"]))
    out["properties"] = Object.fromEntries(Object.entries(out["properties"]).map(([name, member]) => [name, closed(member)]));
  if (out["type"] === "object" && out["additionalProperties"] === undefined && out["patternProperties"] === undefined)
    out["additionalProperties"] = false;
  return out;
}

function reader(schema: JsonValue): ((value: JsonValue) => boolean) | undefined {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  try {
    const validate = ajv.compile(typeof schema === "boolean" || isJsonObject(schema) ? schema : {});
    return (value) => validate(value) === true;
  } catch {
    return undefined;
  }
}

/** What values are made of. */
interface Pool {
  readonly names: readonly string[];
  readonly scalars: readonly JsonValue[];
  readonly numbers: readonly number[];
  readonly lengths: readonly number[];
}

function poolOf(schemas: readonly JsonValue[]): Pool {
  const names = new Set<string>(["zz"]);
  const scalars = new Set<JsonValue>(["", "zz", 0, 1, 0.5, true, false, null]);
  const numbers = new Set<number>([0, 1]);
  const look = (value: JsonValue, key: string): void => {
    if (typeof value === "number") for (const near of [value - 1, value - 0.5, value, value + 0.5, value + 1]) numbers.add(near);
    if (typeof value !== "object" || value === null) {
      if (key === "enum" || key === "const") scalars.add(value);
      if (key === "required" && typeof value === "string") names.add(value);
      return;
    }
    if (Array.isArray(value)) {
      for (const inner of value) look(inner, key);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      if (key === "properties") names.add(name);
      look(inner, name);
    }
  };
  for (const schema of schemas) look(schema, "");
  const lengths = [...numbers].filter((value) => Number.isInteger(value) && value >= 0 && value < 40);
  return { names: [...names], scalars: [...scalars], numbers: [...numbers], lengths };
}

class Search {
  readonly #pool: Pool;
  readonly #undeclared: boolean;
  #state = 1;

  constructor(pool: Pool, undeclared: boolean) {
    this.#pool = pool;
    this.#undeclared = undeclared;
  }

  /** A value meant for the schema; it need not fit. */
  value(schema: JsonValue, depth: number): JsonValue {
    if (!isJsonObject(schema) || depth === 0) return this.#anything(depth);
    const own = this.#own(schema, depth);
    const form = ["anyOf", "oneOf"].flatMap((word) => (Array.isArray(schema[word]) ? [this.#pick(schema[word])] : []));
    const all = Array.isArray(schema["allOf"]) ? schema["allOf"] : [];
    let made = own;
    for (const part of [...all, ...form]) {
      const inner = this.value(part ?? true, depth - 1);
      made = isJsonObject(made) && isJsonObject(inner) ? { ...made, ...inner } : (made ?? inner);
    }
    return made === undefined ? this.#anything(depth) : made;
  }

  /** undefined where the schema itself does not say what it is about. */
  #own(schema: JsonObject, depth: number): JsonValue | undefined {
    if (schema["const"] !== undefined) return schema["const"];
    if (Array.isArray(schema["enum"])) return this.#pick(schema["enum"]);
    const type = Array.isArray(schema["type"]) ? this.#pick(schema["type"]) : (schema["type"] ?? meantType(schema));
    switch (type) {
      case "object":
        return this.#object(schema, depth);
      case "array":
        return this.#array(schema, depth);
      case "string":
        return this.#text(schema["minLength"], schema["maxLength"]);
      case "integer":
        return Math.trunc(this.#within(this.#pool.numbers, schema["minimum"], schema["maximum"]) ?? 0);
      case "number":
        return this.#within(this.#pool.numbers, schema["minimum"], schema["maximum"]) ?? 0;
      case "boolean":
        return this.#chance(0.5);
      case "null":
        return null;
      default:
        return undefined;
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const out: JsonObject = {};
    const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
    const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
    for (const [name, member] of Object.entries(properties))
      if (this.#chance(!required.has(name) ? 0.5 : this.#undeclared ? 0.97 : 1)) out[name] = this.value(member, depth - 1);
    for (const name of required) if (typeof name === "string" && !(name in out)) out[name] = this.#anything(depth - 1);
    const extra = schema["additionalProperties"];
    if (extra === false || (extra === undefined && !this.#undeclared)) return out;
    while (this.#chance(0.5)) {
      const name = this.#pick(this.#pool.names) ?? "zz";
      if (!(name in properties)) out[name] = extra === undefined ? this.#anything(depth - 1) : this.value(extra, depth - 1);
    }
    return out;
  }

  #array(schema: JsonObject, depth: number): JsonValue[] {
    const heads = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
    const length = Math.min(this.#within(this.#pool.lengths, schema["minItems"], schema["maxItems"]) ?? 1, 8);
    return Array.from({ length }, (_, index) => this.value(heads[index] ?? schema["items"] ?? true, depth - 1));
  }

  #text(shortest?: JsonValue, longest?: JsonValue): string {
    const texts = this.#pool.scalars.filter((value) => typeof value === "string");
    const length = this.#within(this.#pool.lengths, shortest, longest) ?? 1;
    const listed = this.#pick(texts.filter((text) => text.length === length)) ?? this.#pick(texts);
    return listed !== undefined && this.#chance(0.5) ? listed : "a".repeat(length);
  }

  /** One that keeps the bounds, mostly: a large value is hardly ever whole where each part may be out of its own. */
  #within(values: readonly number[], least: JsonValue | undefined, most: JsonValue | undefined): number | undefined {
    const [low, high] = [typeof least === "number" ? least : -Infinity, typeof most === "number" ? most : Infinity];
    const fitting = values.filter((value) => value >= low && value <= high);
    return this.#pick(fitting.length > 0 && this.#chance(0.9) ? fitting : values);
  }

  #anything(depth: number): JsonValue {
    if (depth <= 0 || this.#chance(0.6)) return this.#chance(0.5) ? this.#text() : (this.#pick(this.#pool.scalars) ?? null);
    return this.#chance(0.3) ? [this.#anything(depth - 1)] : this.#object({}, depth);
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  /** Mulberry32, so that a search can be repeated. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}

/** What a schema without a type speaks about. */
function meantType(schema: JsonObject): string | undefined {
  if ("properties" in schema || "additionalProperties" in schema || "required" in schema) return "object";
  if ("items" in schema || "prefixItems" in schema) return "array";
  return undefined;
}
