/** What is wrong with arguments, said so that an agent can mend them: the first level of the schema in plain sentences. */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";

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
