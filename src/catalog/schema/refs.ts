/**
 * Where a reference inside one schema document leads. Nothing is ever fetched: what is not in the document leads nowhere.
 *
 * Owns: JSON pointers, `$anchor`, `$id` and the resource a relative reference is resolved in.
 * Speaks: raw schemas.
 * Never: what the target means (read.ts).
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";

/** A place in the document together with the resource (nearest enclosing `$id`, else the root) that its references start from. */
export interface Place {
  readonly schema: JsonValue;
  readonly resource: JsonValue;
}

export interface References {
  readonly root: JsonValue;
  /** undefined: the reference leads nowhere in this document. */
  resolve(reference: string, resource: JsonValue): Place | undefined;
}

export function referencesOf(root: JsonValue): References {
  let named: ReadonlyMap<string, Place> | undefined;
  const names = (): ReadonlyMap<string, Place> => (named ??= collectNames(root));
  return {
    root,
    resolve(reference, resource) {
      if (reference === "#") return { schema: resource, resource };
      const hash = reference.indexOf("#");
      const document = hash < 0 ? reference : reference.slice(0, hash);
      const fragment = hash < 0 ? "" : reference.slice(hash + 1);
      const starts: JsonValue[] = [];
      if (document === "") starts.push(resource, root);
      else {
        const place = names().get(document);
        if (place === undefined) return undefined;
        starts.push(place.schema);
      }
      if (fragment !== "" && !fragment.startsWith("/")) return names().get(`#${fragment}`);
      for (const start of starts) {
        const place = followPointer(start, fragment);
        if (place !== undefined) return place;
      }
      return undefined;
    },
  };
}

/** The resource in which references of `schema` are resolved, given that of its parent. */
export function resourceOf(schema: JsonValue, parent: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return parent;
  const id = schema["$id"];
  return typeof id === "string" && !id.startsWith("#") ? schema : parent;
}

/** The escaped form of one key in a pointer inside a URI fragment. */
export function pointerToken(key: string): string {
  const escaped = key.replace(/~/g, "~0").replace(/\//g, "~1");
  if (/^[\w~.$!'()*,;:@-]*$/.test(escaped)) return escaped;
  try {
    return encodeURIComponent(escaped);
  } catch {
    // A lone surrogate has no percent form; `resolve` also tries a token as it stands.
    return escaped;
  }
}

function followPointer(start: JsonValue, pointer: string): Place | undefined {
  let schema: JsonValue = start;
  let resource: JsonValue = start;
  if (pointer === "") return { schema, resource };
  for (const token of pointer.slice(1).split("/")) {
    const next = step(schema, unescapeToken(token)) ?? step(schema, token.replace(/~1/g, "/").replace(/~0/g, "~"));
    if (next === undefined) return undefined;
    schema = next;
    resource = resourceOf(schema, resource);
  }
  return { schema, resource };
}

function step(value: JsonValue, key: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function unescapeToken(token: string): string {
  let plain = token;
  try {
    plain = decodeURIComponent(token);
  } catch {
    // A bare percent sign in a key: the token is meant as it stands.
  }
  return plain.replace(/~1/g, "/").replace(/~0/g, "~");
}

/** Every `$id`, draft-04 `id` and `$anchor` in the document. Of equal names the first in document order counts. */
function collectNames(root: JsonValue): ReadonlyMap<string, Place> {
  const names = new Map<string, Place>();
  const note = (name: string, place: Place): void => {
    if (!names.has(name)) names.set(name, place);
  };
  const visit = (value: JsonValue, resource: JsonValue): void => {
    if (Array.isArray(value)) {
      for (const member of value) visit(member, resource);
      return;
    }
    if (!isJsonObject(value)) return;
    const own = resourceOf(value, resource);
    const place = { schema: value, resource: own };
    for (const keyword of ["$id", "id"]) {
      const id = value[keyword];
      if (typeof id === "string") note(id.endsWith("#") ? id.slice(0, -1) : id, place);
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const anchor: JsonValue | undefined = value[keyword];
      if (typeof anchor === "string") note(`#${anchor}`, place);
    }
    for (const key of Object.keys(value)) visit(value[key] as JsonObject, own);
  };
  visit(root, root);
  return names;
}

/** Resolves one reference of a document, for callers that read raw schemas. */
export function resolveReference(
  references: References,
  reference: JsonValue | undefined,
  resource: JsonValue,
): Place | undefined {
  return typeof reference === "string" ? references.resolve(reference, resource) : undefined;
}
