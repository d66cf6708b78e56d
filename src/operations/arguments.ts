/** Arguments of a tool: the forms in which they come, and what is wrong with them, said so that an agent can mend it. */
import { Fault } from "../model/fault.js";
import { isDeeperThan, isJsonObject, JSON_LEVELS, type JsonObject, type JsonValue } from "../model/json.js";

/**
 * Arguments as an object: an object, the JSON text of one, null or absent; anything else is refused before any upstream hears of it.
 * Agents that write JSON into a text do so on every level.
 */
export function readArguments(given: JsonValue | undefined): JsonObject {
  if (given === undefined || given === null) return {};
  if (isJsonObject(given)) return given;
  if (typeof given !== "string") throw argumentsFault(`arguments is ${Array.isArray(given) ? "an array" : `a ${typeof given}`}`);
  if (given.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    throw argumentsFault("arguments is a text that is not JSON");
  }
  if (value === null) return {};
  if (!isJsonObject(value)) throw argumentsFault("arguments is the JSON text of something that is not an object");
  // What came as an object was measured with the message that carried it.
  if (isDeeperThan(value, JSON_LEVELS)) throw argumentsFault(`arguments is nested deeper than ${JSON_LEVELS} levels`);
  return value;
}

function argumentsFault(what: string): Fault {
  return new Fault("input-invalid", `${what}; give an object, e.g. {"order_id": "O-1001"}. Nothing was called.`, {
    issues: [{ path: "arguments", problem: what }],
  });
}

/** What is wrong, in plain sentences; of the schema its first level is looked at. */
export function misfits(schema: JsonObject, args: JsonObject): string[] {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"].filter((name) => typeof name === "string") : [];
  const wrong: string[] = [];
  const missing = required.filter((name) => args[name] === undefined);
  if (missing.length > 0) wrong.push(`Missing: ${missing.join(", ")}.`);
  const known = Object.keys(properties);
  const unknown = schema["additionalProperties"] === false ? Object.keys(args).filter((name) => !known.includes(name)) : [];
  if (unknown.length > 0)
    wrong.push(`Not parameters of this tool: ${unknown.join(", ")} (it takes ${known.join(", ") || "none"}).`);
  for (const [name, value] of Object.entries(args)) {
    const property = properties[name];
    if (!isJsonObject(property)) continue;
    const types = [property["type"]].flat().filter((type): type is string => typeof type === "string");
    if (types.length > 0 && !types.some((type) => isOfType(value, type)))
      wrong.push(`${name} must be ${types.join(" or ")}, not ${typeName(value)}.`);
    else if (
      Array.isArray(property["enum"]) &&
      !property["enum"].some((member) => JSON.stringify(member) === JSON.stringify(value))
    ) {
      wrong.push(`${name} must be one of ${property["enum"].map((member) => JSON.stringify(member)).join(", ")}.`);
    }
  }
  return wrong.length > 0 ? wrong : ["The arguments do not validate against the schema."];
}

function isOfType(value: JsonValue, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return typeName(value) === type;
}

function typeName(value: JsonValue): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}
