/**
 * References: which values a tool yields and which required values it cannot do without, read from its schemas and its name.
 *
 * A reference is an entity with the suffix that identifies it: `order_id` is (order, id). Output fields, required parameters and
 * tool names are all reduced to it, so that producers and consumers meet in an index by entity and are never compared all
 * against all.
 */
import { referencesOf as schemaReferences } from "../catalog/schema/refs.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Tool } from "../model/tool.js";

/** What a tool yields. `suffix` is `*` where only the tool's name speaks: a search for orders yields whatever identifies one. */
export interface Produced {
  /** Noun phrase, after the family of the tool's name where it has one: `order`, `jira order`. */
  readonly entity: string;
  readonly suffix: string;
  /** Output field, dotted, `[]` for items; undefined where only the name speaks. */
  readonly field: string | undefined;
  /** Lower is the likelier source; see RANK. */
  readonly rank: number;
}

/** A required parameter that refers to something. */
export interface Needed {
  readonly param: string;
  /** Where to look, in this order: the whole phrase, then its head word (`sales_order`, `order`); in the tool's family, then outside. */
  readonly entities: readonly string[];
  readonly suffix: string;
}

export interface References {
  readonly produces: readonly Produced[];
  readonly needs: readonly Needed[];
  /** By its annotations or its name the tool only looks: a way to find a thing that exists. Nobody changes one to learn its number. */
  readonly isRead: boolean;
}

/** Who finds by words comes first, then who lists, reads, makes; a schema is believed before a name. */
const RANK = { schema: 1, name: 5, search: 0, list: 1, read: 2, make: 3, other: 4, headOnly: 1 } as const;

/** Suffixes that identify, with the forms that mean the same. */
const SUFFIX: Readonly<Record<string, string>> = {
  id: "id",
  ids: "id",
  uuid: "id",
  uuids: "id",
  guid: "id",
  identifier: "id",
  key: "key",
  keys: "key",
  slug: "slug",
  slugs: "slug",
  code: "code",
  codes: "code",
  name: "name",
  names: "name",
  number: "number",
  numbers: "number",
  sku: "sku",
  skus: "sku",
  ref: "ref",
  handle: "handle",
};
const SEARCH = new Set(["search", "find", "lookup", "query"]);
const LIST = new Set(["list", "browse", "filter", "discover", "enumerate"]);
const READ = new Set(["get", "fetch", "read", "retrieve", "show", "describe", "view", "check", "load"]);
const MAKE = new Set(["create", "add", "new", "insert", "register", "open", "book", "place", "start", "submit"]);
const PREPOSITIONS = new Set(["by", "for", "of", "in", "with", "from", "to", "on", "at", "via", "and", "using"]);
/** Words that say which one of an entity, not which entity. */
const QUALIFIERS = new Set([
  "new",
  "old",
  "target",
  "source",
  "from",
  "to",
  "parent",
  "current",
  "original",
  "destination",
  "all",
  "my",
]);
/** Words after a noun that name a part or a form of it. */
const FORMS = new Set([
  "details",
  "detail",
  "info",
  "information",
  "list",
  "data",
  "all",
  "summary",
  "metadata",
  "records",
  "results",
  "id",
  "ids",
  "names",
]);
/** `first_name` identifies nobody: a person says it. */
const PERSONAL = new Set([
  "first",
  "last",
  "full",
  "middle",
  "given",
  "family",
  "display",
  "nick",
  "sur",
  "file",
  "host",
  "user",
]);

const DEPTH_LIMIT = 6;
const FIELD_LIMIT = 400;

/** References of a tool. Cost grows with its schemas, which are walked to a depth of 6 and at most 400 fields. */
export function referencesOf(tool: Tool): References {
  const name = readName(tool.name);
  const needs = neededOf(tool, name);
  const isBare = needs.length === 0 && !Array.isArray(tool.inputSchema["required"]);
  const produces = tool.outputSchema === undefined ? producedByName(name, isBare) : producedBySchema(tool.outputSchema, name);
  // Who must be told the reference is no source of it.
  const told = (made: Produced): boolean =>
    needs.some((need) => need.phrase === made.entity && (made.suffix === "*" || made.suffix === need.suffix));
  const inFamily = (entity: string): string => (name.family === "" ? entity : `${name.family} ${entity}`);
  return {
    isRead: tool.annotations.readOnly || name.verb === "search" || name.verb === "list" || name.verb === "read",
    needs: needs.map(({ param, suffix, entities }) => ({ param, suffix, entities })),
    produces: produces.filter((made) => !told(made)).map((made) => ({ ...made, entity: inFamily(made.entity) })),
  };
}

/** Only what a tool cannot be called without. */
export function needsOf(tool: Tool): Needed[] {
  return neededOf(tool, readName(tool.name)).map(({ param, suffix, entities }) => ({ param, suffix, entities }));
}

/** Does a producer's suffix answer a need's? */
export function answers(produced: Pick<Produced, "suffix">, needed: Pick<Needed, "suffix">): boolean {
  return produced.suffix === "*" || produced.suffix === needed.suffix;
}

function neededOf(tool: Tool, name: ReadName): (Needed & { readonly phrase: string })[] {
  const properties = tool.inputSchema["properties"];
  const required = tool.inputSchema["required"];
  if (!Array.isArray(required) || !isJsonObject(properties)) return [];
  const needs: (Needed & { phrase: string })[] = [];
  for (const param of required) {
    if (typeof param !== "string" || !Object.hasOwn(properties, param) || needs.some((need) => need.param === param)) continue;
    const words = wordsOf(param);
    const reference = readReference(words, name.nouns);
    if (reference === undefined) continue;
    // Who makes a thing is told its new name; that name is nobody's output.
    if (name.verb === "make" && reference.suffix !== "id" && reference.entity === name.nouns.join("_")) continue;
    const phrase = reference.entity;
    const head = phrase.slice(phrase.lastIndexOf("_") + 1);
    const plain = head === phrase ? [head] : [phrase, head];
    const entities = name.first === "" ? plain : [...plain.map((entity) => `${name.first} ${entity}`), ...plain];
    needs.push({ param, suffix: reference.suffix, entities, phrase });
  }
  return needs;
}

/** (entity, suffix) of a name's words; a bare `id` belongs to what stands around it. */
function readReference(words: readonly string[], around: readonly string[]): { entity: string; suffix: string } | undefined {
  const last = words.at(-1);
  const suffix = last === undefined ? undefined : SUFFIX[last];
  if (suffix === undefined || last === undefined || !Object.hasOwn(SUFFIX, last)) return undefined;
  const own = words.slice(0, -1);
  while (own.length > 0 && QUALIFIERS.has(own[0] ?? "")) own.shift();
  const nouns = own.length > 0 ? own : around;
  if (nouns.length === 0) return undefined;
  if (suffix === "name" && own.length > 0 && PERSONAL.has(own[0] ?? "")) return undefined;
  return { entity: nouns.map(singular).join("_"), suffix };
}

/** What a tool's name says that it does with what it names. */
export type Verb = "search" | "list" | "read" | "make" | "other";

interface ReadName {
  readonly verb: Verb;
  readonly nouns: readonly string[];
  /** Is the noun written in the plural (who reads several need not know which)? */
  readonly plural: boolean;
  /** The first word, where it is no verb that we know: it may be a family (`jira_get_issue`). */
  readonly first: string;
  /** The first word, where a verb and a noun follow it: then it is a family. */
  readonly family: string;
}

/** Verb class and noun phrase of a tool name in any style: `find_user_id_by_zip` → find, user; `orders.list` → find, order. */
function readName(name: string): ReadName {
  const words = wordsOf(name);
  // `GET_search_tv`: a method or a plain verb in front of a verb of finding says less than that one.
  const finding = words.findIndex((word) => SEARCH.has(word) || LIST.has(word));
  const plain = words.findIndex((word) => READ.has(word) || MAKE.has(word));
  const at = finding >= 0 && (plain < 0 || finding <= plain + 1) ? finding : plain;
  const verb = at < 0 ? "" : (words[at] ?? "");
  const after = words.slice(at + 1);
  const stop = after.findIndex((word) => PREPOSITIONS.has(word));
  const behind = trimForms(stop < 0 ? after : after.slice(0, stop));
  const phrase = behind.length > 0 ? behind : trimForms(words.slice(0, Math.max(at, 0)));
  const last = phrase.at(-1) ?? "";
  const first = verbOf(words[0] ?? "") === "other" ? (words[0] ?? "") : "";
  return {
    verb: verbOf(verb),
    nouns: phrase.map(singular),
    plural: singular(last) !== last,
    first,
    family: at > 0 && behind.length > 0 ? first : "",
  };
}

function verbOf(word: string): Verb {
  if (SEARCH.has(word)) return "search";
  if (LIST.has(word)) return "list";
  if (READ.has(word)) return "read";
  return MAKE.has(word) ? "make" : "other";
}

function trimForms(words: readonly string[]): string[] {
  const phrase = [...words];
  while (phrase.length > 0 && QUALIFIERS.has(phrase[0] ?? "")) phrase.shift();
  while (phrase.length > 1 && FORMS.has(phrase.at(-1) ?? "")) phrase.pop();
  return phrase;
}

function producedByName(name: ReadName, isBare: boolean): Produced[] {
  const head = name.nouns.at(-1);
  if (name.verb === "other" || head === undefined) return [];
  // Who reads one thing must be told which, whatever its schema calls that.
  if (name.verb === "read" && !name.plural && !isBare) return [];
  const rank = RANK.name + RANK[name.verb];
  const made: Produced[] = [{ entity: name.nouns.join("_"), suffix: "*", field: undefined, rank }];
  if (name.nouns.length > 1) made.push({ entity: head, suffix: "*", field: undefined, rank: rank + RANK.headOnly });
  return made;
}

function producedBySchema(schema: JsonObject, name: ReadName): Produced[] {
  const made = new Map<string, Produced>();
  const rank = RANK.schema + RANK[name.verb];
  for (const { path, owner, leaf } of fieldsOf(schema)) {
    const reference = readReference(wordsOf(leaf), owner === undefined ? name.nouns : wordsOf(owner).map(singular));
    if (reference === undefined) continue;
    const key = `${reference.entity} ${reference.suffix}`;
    // The shortest path is the plainest source of a field that appears several times.
    const known = made.get(key);
    if (known?.field !== undefined && known.field.length <= path.length) continue;
    made.set(key, { ...reference, field: path, rank });
  }
  return [...made.values()];
}

interface Field {
  /** Dotted, `[]` for items. */
  readonly path: string;
  /** The nearest property around it; undefined at the root. */
  readonly owner: string | undefined;
  readonly leaf: string;
}

/** Leaf fields of a schema; local `$ref`s are followed, a recursive one ends. */
function fieldsOf(root: JsonObject): Field[] {
  const fields: Field[] = [];
  const visit = (
    node: JsonValue | undefined,
    path: string,
    owner: string | undefined,
    depth: number,
    seen: ReadonlySet<string>,
  ): void => {
    if (!isJsonObject(node) || depth > DEPTH_LIMIT || fields.length >= FIELD_LIMIT) return;
    const ref = node["$ref"];
    if (typeof ref === "string") {
      if (!seen.has(ref)) visit(schemaReferences(root).resolve(ref, root)?.schema, path, owner, depth, new Set([...seen, ref]));
      return;
    }
    for (const keyword of ["allOf", "anyOf", "oneOf"]) {
      const branches = node[keyword];
      if (Array.isArray(branches)) for (const branch of branches) visit(branch, path, owner, depth + 1, seen);
    }
    visit(node["items"], `${path}[]`, owner, depth + 1, seen);
    const properties = node["properties"];
    if (!isJsonObject(properties)) return;
    for (const [leaf, child] of Object.entries(properties)) {
      if (fields.length >= FIELD_LIMIT) return;
      const at = path === "" ? leaf : `${path}.${leaf}`;
      if (isLeaf(child)) fields.push({ path: isArray(child) ? `${at}[]` : at, owner, leaf });
      visit(child, at, leaf, depth + 1, seen);
    }
  };
  visit(root, "", undefined, 0, new Set());
  return fields;
}

function isArray(schema: JsonValue): boolean {
  return isJsonObject(schema) && schema["type"] === "array";
}

/** A scalar, or a list of scalars: something that can be handed on. */
function isLeaf(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return true;
  if (schema["properties"] !== undefined || schema["type"] === "object") return false;
  if (!isArray(schema)) return true;
  const items = schema["items"];
  return items !== undefined && isLeaf(items) && !isArray(items) && !(isJsonObject(items) && items["$ref"] !== undefined);
}

/** Words of an identifier, lower-case: `orderId`, `order-id`, `order.id` → order, id. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([\p{Ll}\p{Nd}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "");
}

function singular(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ch|sh|x|z|ss)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
}
