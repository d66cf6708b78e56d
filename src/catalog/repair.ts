/**
 * What is relied on of the schemas a tool lists, and what had to be repaired.
 *
 * Owns: the lenient reading of `inputSchema` and `outputSchema`: bad parts are mended or dropped, each with a reason.
 * Speaks: raw JSON in, schemas out.
 * Never: changes the stored document; compiles a schema.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { saysNothing } from "./schema/keywords.js";

export interface RepairedInput {
  /** undefined: no object can ever be accepted, the tool cannot be called. */
  readonly schema: JsonObject | undefined;
  /** What the contract digest is made of: a schema that says nothing is a contract nobody knows, not one that takes anything. */
  readonly contract: JsonValue;
  /** Sentences, one for each repair; for `schema: undefined` the reason. */
  readonly notes: readonly string[];
}

export interface RepairedOutput {
  readonly schema: JsonObject | undefined;
  readonly notes: readonly string[];
}

const OPEN_OBJECT: JsonObject = Object.freeze({ type: "object" });

/** Reads an input schema as leniently as it can be meant. */
export function repairInput(raw: JsonValue | undefined): RepairedInput {
  if (raw === undefined || raw === null)
    return { schema: OPEN_OBJECT, contract: {}, notes: ["inputSchema is missing; an object with any members is assumed"] };
  if (raw === true) return { schema: OPEN_OBJECT, contract: {}, notes: ["inputSchema is `true`; an object is assumed"] };
  if (!isJsonObject(raw)) return refused("inputSchema is not a JSON object");
  if (saysNothing(raw)) {
    const schema = Object.keys(raw).length === 0 ? OPEN_OBJECT : { type: "object", ...raw };
    return { schema, contract: {}, notes: ["inputSchema says nothing about the arguments; an object is assumed"] };
  }
  const { schema, notes } = mend(raw, "inputSchema");
  const type = schema["type"];
  if (type === undefined) {
    const typed = { type: "object", ...schema };
    return {
      schema: typed,
      contract: typed,
      notes: isReferring(schema) ? notes : [...notes, "inputSchema has no type; `object` is assumed"],
    };
  }
  if (!allowsObject(type)) return refused(`inputSchema takes ${describeType(type)}, but arguments are always an object`);
  return { schema, contract: schema, notes };
}

/** An output schema that is not one for objects is dropped; the tool stays callable. */
export function repairOutput(raw: JsonValue | undefined): RepairedOutput {
  if (raw === undefined || raw === null) return { schema: undefined, notes: [] };
  if (!isJsonObject(raw)) return { schema: undefined, notes: ["outputSchema is not a JSON object and is left aside"] };
  const { schema, notes } = mend(raw, "outputSchema");
  const type = schema["type"];
  if (type === undefined) return { schema: saysNothing(schema) ? schema : { type: "object", ...schema }, notes };
  if (!allowsObject(type))
    return {
      schema: undefined,
      notes: [...notes, `outputSchema describes ${describeType(type)} where results are objects, and is left aside`],
    };
  return { schema, notes };
}

/** Keywords of the root that are null or of a shape nobody can read; each is left out. */
function mend(raw: JsonObject, what: string): { schema: JsonObject; notes: readonly string[] } {
  const notes: string[] = [];
  let schema = raw;
  for (const [keyword, isFine] of ROOT_SHAPES) {
    const value: JsonValue | undefined = raw[keyword];
    if (value === undefined || isFine(value)) continue;
    const { [keyword]: _dropped, ...rest } = schema;
    schema = rest;
    notes.push(`${what}.${keyword} is ${describeType(value === null ? "null" : kindWord(value))} and is left out`);
  }
  return { schema, notes };
}

const ROOT_SHAPES: readonly (readonly [string, (value: JsonValue) => boolean])[] = [
  ["required", Array.isArray],
  ["properties", isJsonObject],
  ["additionalProperties", (value) => typeof value === "boolean" || isJsonObject(value)],
  ["type", (value) => typeof value === "string" || Array.isArray(value)],
  ["$defs", isJsonObject],
  ["definitions", isJsonObject],
  ["anyOf", Array.isArray],
  ["oneOf", Array.isArray],
  ["allOf", Array.isArray],
];

function isReferring(schema: JsonObject): boolean {
  return ["$ref", "anyOf", "oneOf", "allOf"].some((keyword) => Object.hasOwn(schema, keyword));
}

function allowsObject(type: JsonValue): boolean {
  if (typeof type === "string") return type === "object" || !KNOWN_TYPES.has(type);
  return Array.isArray(type) && (type.length === 0 || type.some((name) => typeof name === "string" && allowsObject(name)));
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(["array", "boolean", "integer", "null", "number", "string"]);

function describeType(type: JsonValue): string {
  const words: Readonly<Record<string, string>> = { array: "an array", integer: "an integer", null: "null", object: "an object" };
  const name = Array.isArray(type) ? type.join(" or ") : String(type);
  return words[name] ?? `a ${name}`;
}

function kindWord(value: JsonValue): string {
  return Array.isArray(value) ? "array" : typeof value;
}

function refused(reason: string): RepairedInput {
  return { schema: undefined, contract: {}, notes: [reason] };
}
