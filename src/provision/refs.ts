/**
 * Local references of a JSON Schema. Nothing outside the document is looked at: a remote reference leads nowhere.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";

/** Where a schema's `$ref` leads; `ref` is undefined for a schema without one, `target` where it leads nowhere. */
export function resolveRef(schema: JsonObject, root: JsonObject): { ref: string | undefined; target: JsonValue | undefined } {
  const ref = schema["$ref"];
  if (typeof ref !== "string") return { ref: undefined, target: undefined };
  return { ref, target: ref === "#" ? root : ref.startsWith("#/") ? pointed(root, ref) : anchored(root, ref) };
}

function pointed(root: JsonObject, ref: string): JsonValue | undefined {
  let node: JsonValue | undefined = root;
  for (const part of ref.slice(2).split("/")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(node)) node = node[Number(key)];
    else if (isJsonObject(node) && Object.hasOwn(node, key)) node = node[key];
    else return undefined;
  }
  return node;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `#name` by `$anchor`, or a bare name by `$id`, among the definitions at the root. */
function anchored(root: JsonObject, ref: string): JsonValue | undefined {
  for (const keyword of ["$defs", "definitions"]) {
    const definitions = root[keyword];
    if (!isJsonObject(definitions)) continue;
    for (const definition of Object.values(definitions)) {
      if (!isJsonObject(definition)) continue;
      if (definition["$id"] === ref || `#${String(definition["$anchor"])}` === ref) return definition;
    }
  }
  return undefined;
}
