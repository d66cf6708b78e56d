/** Does a dotted field stand in a schema? Where a schema says nothing about a place, the field may be there. */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";

/** True where the schema rules the field out: known properties that lack it, at any level that lists properties. */
export function mayNotExist(schema: JsonValue, field: string): boolean {
  const parts = field
    .replace(/\[\]/g, ".[]")
    .split(".")
    .filter((part) => part !== "");
  return ruledOut(schema, schema, parts, 0);
}

/** Nesting looked into: schemas that refer to themselves end here. */
const DEPTH_MOST = 32;

function ruledOut(root: JsonValue, schema: JsonValue | undefined, parts: readonly string[], depth: number): boolean {
  const [first, ...rest] = parts;
  if (first === undefined || depth > DEPTH_MOST || !isJsonObject(schema)) return false;
  const target = resolve(root, schema);
  if (!isJsonObject(target)) return false;
  for (const word of ["anyOf", "oneOf"]) {
    const branches = target[word];
    if (Array.isArray(branches) && branches.length > 0)
      return branches.every((branch) => ruledOut(root, branch, parts, depth + 1));
  }
  const all = target["allOf"];
  if (Array.isArray(all)) return !all.some((branch) => !ruledOut(root, branch, parts, depth + 1));
  if (first === "[]") return ruledOut(root, target["items"], rest, depth + 1);
  const properties = target["properties"];
  if (!isJsonObject(properties)) return false;
  const property = properties[first];
  if (property === undefined) {
    // An array may be named without its brackets: `orders.id` for `orders[].id`.
    if (target["type"] === "array") return ruledOut(root, target["items"], parts, depth + 1);
    return true;
  }
  const inner = isJsonObject(property) ? resolve(root, property) : property;
  const items =
    isJsonObject(inner) && rest.length > 0 && rest[0] !== "[]" && inner["items"] !== undefined ? inner["items"] : property;
  return ruledOut(root, items, rest, depth + 1);
}

function resolve(root: JsonValue, schema: JsonValue): JsonValue {
  let current = schema;
  for (let hops = 0; hops < DEPTH_MOST && isJsonObject(current) && typeof current["$ref"] === "string"; hops += 1) {
    const reference = current["$ref"];
    if (!reference.startsWith("#")) return {};
    let node: JsonValue | undefined = root;
    for (const part of reference
      .slice(1)
      .split("/")
      .filter((piece) => piece !== "")) {
      const key = decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~");
      node = isJsonObject(node) ? node[key] : Array.isArray(node) ? node[Number(key)] : undefined;
    }
    current = node ?? {};
  }
  return current;
}

export function requiredOf(schema: JsonObject): string[] {
  return Array.isArray(schema["required"]) ? schema["required"].filter((name) => typeof name === "string") : [];
}

export function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema["properties"]) ? schema["properties"] : {};
}

/** May a property only be one of a few values? */
export function isOneOfFew(property: JsonValue | undefined): boolean {
  return (
    isJsonObject(property) &&
    (Array.isArray(property["enum"]) || property["type"] === "boolean" || property["const"] !== undefined)
  );
}
