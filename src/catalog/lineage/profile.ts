/**
 * Profiles: what lineage knows of one tool, computed once, and the corpus that weighs words.
 *
 * Owns: name words, verb, text vector, parameters with weights; inverse document frequencies of one upstream.
 * Speaks: Tool in, Profile out.
 * Never: comparing two tools (score.ts).
 */
import { isJsonObject } from "../../model/json.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import type { Tool } from "../../model/tool.js";
import { isStopWord, isVerb, stem, verbOf, wordOf, words } from "./words.js";
import type { Word } from "./words.js";

export interface Parameter {
  readonly name: string;
  /** The name's words, in order, and their stems as one text. */
  readonly words: readonly Word[];
  readonly joined: string;
  /** JSON type word, or `any`. */
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonObject;
}

export interface Profile {
  readonly tool: Tool;
  /** Name in words, compounds split where the catalog knows the parts. */
  readonly words: readonly Word[];
  /** The word of the name that says what the tool does, where there is one. */
  readonly verb: string | undefined;
  /** Stems of the name's words but the verb. */
  readonly nouns: readonly string[];
  /** tf-idf of title and description, unit length; empty without text. */
  readonly text: ReadonlyMap<string, number>;
  /** Words of the description as written. */
  readonly spoken: ReadonlySet<string>;
  /** Stems of everything the tool says of itself: name, texts, parameters, listed values. */
  readonly vocabulary: ReadonlySet<string>;
  readonly parameters: readonly Parameter[];
  /** Names of output fields, one level into lists and objects, as stems; empty without an output schema. */
  readonly outputs: ReadonlySet<string>;
  /** The tool's annotation says read-only or not, or nothing. */
  readonly readOnlyHint: boolean | undefined;
}

/** Word statistics of one upstream's tools, those that left and those that are there. */
export interface Corpus {
  /** Names in words before compounds were split. */
  readonly vocabulary: ReadonlySet<string>;
  readonly verbFirst: boolean;
  nameWeight(stemmed: string): number;
  textWeight(stemmed: string): number;
  /** Tools that had this stem in their names before this version, and that have it now. */
  namedBefore(stemmed: string): number;
  namedAfter(stemmed: string): number;
  /** Most tools carried the word before, or carry it now: a product's prefix or suffix. */
  isAffix(stemmed: string): boolean;
  /** Terms of the tool's title and description. */
  termsOf(tool: Tool): readonly string[];
  /** A third tool has the text of one of the two: boilerplate that tells nothing. */
  isShared(old: Profile, next: Profile): boolean;
}

/** What a corpus reads of a tool, once. */
interface Sheet {
  readonly parts: readonly string[];
  readonly terms: readonly string[];
  /** The terms as one text, to tell texts that are the same. */
  readonly said: string;
}

/** Statistics over the tools of one upstream: as they were before this version, and as they are in it. */
export function corpusOf(before: readonly Tool[], after: readonly Tool[]): Corpus {
  const all = [...before, ...after];
  const vocabulary = new Set(all.flatMap((tool) => words(tool.name)));
  const sheets = new Map<Tool, Sheet>();
  const sheetOf = (tool: Tool): Sheet => {
    const known = sheets.get(tool);
    if (known !== undefined) return known;
    const own = textTerms(tool);
    const sheet = { parts: splitCompounds(words(tool.name), vocabulary), terms: own, said: own.join(" ") };
    sheets.set(tool, sheet);
    return sheet;
  };
  const distinct = [...new Map([...after, ...before].map((tool) => [tool.key, tool])).values()];
  const count = (tools: readonly Tool[], read: (sheet: Sheet) => readonly string[]): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const tool of tools) countAll(counts, read(sheetOf(tool)));
    return counts;
  };
  const stems = (sheet: Sheet): string[] => sheet.parts.map(stem);
  const [names, texts] = [count(distinct, stems), count(distinct, (sheet) => sheet.terms)];
  const [was, is] = [count(before, stems), count(after, stems)];
  const verbs = (place: (parts: readonly string[]) => string | undefined): number =>
    distinct.filter((tool) => isVerb(place(sheetOf(tool).parts) ?? "")).length;
  const sayers = new Map<string, Set<string>>();
  for (const tool of all) {
    const { said } = sheetOf(tool);
    sayers.set(said, (sayers.get(said) ?? new Set()).add(tool.key));
  }
  const hasThird = (one: Profile, old: Profile, next: Profile): boolean => {
    const keys = sayers.get(sheetOf(one.tool).said) ?? new Set();
    return keys.size > Number(keys.has(old.tool.key)) + Number(keys.has(next.tool.key));
  };
  return {
    vocabulary,
    verbFirst: verbs((parts) => parts[0]) >= verbs((parts) => parts.at(-1)),
    nameWeight: (word) => inverse(distinct.length, names.get(word) ?? 0),
    textWeight: (word) => inverse(distinct.length, texts.get(word) ?? 0),
    namedBefore: (word) => was.get(word) ?? 0,
    namedAfter: (word) => is.get(word) ?? 0,
    isAffix: (word) => (was.get(word) ?? 0) > AFFIX_SHARE * before.length || (is.get(word) ?? 0) > AFFIX_SHARE * after.length,
    termsOf: (tool) => sheetOf(tool).terms,
    isShared: (old, next) => hasThird(old, old, next) || hasThird(next, old, next),
  };
}

/** Share of names from which on a word is the product's, not the tool's. */
const AFFIX_SHARE = 0.6;

function countAll(into: Map<string, number>, terms: readonly string[]): void {
  for (const term of new Set(terms)) into.set(term, (into.get(term) ?? 0) + 1);
}

/** Smoothed idf; the floor keeps a word that every tool carries (a product prefix) from weighing nothing at all. */
function inverse(size: number, frequency: number): number {
  return Math.max(0.1, Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5)));
}

export function profileOf(tool: Tool, corpus: Corpus): Profile {
  const parts = splitCompounds(words(tool.name), corpus.vocabulary);
  const verb = verbOf(parts, corpus.verbFirst);
  const own = parts.map(wordOf);
  const text = textVector(corpus.termsOf(tool), corpus);
  const parameters = parametersOf(tool.inputSchema);
  const hint = isJsonObject(tool.document["annotations"]) ? tool.document["annotations"]["readOnlyHint"] : undefined;
  return {
    tool,
    words: own,
    verb,
    nouns: own.filter((word) => word.text !== verb).map((word) => word.stem),
    text,
    spoken: new Set(words(tool.description)),
    vocabulary: new Set([...own.map((word) => word.stem), ...text.keys(), ...parameters.flatMap(parameterTerms)]),
    parameters,
    outputs: tool.outputSchema === undefined ? new Set() : outputsOf(tool.outputSchema),
    readOnlyHint: typeof hint === "boolean" ? hint : undefined,
  };
}

function parameterTerms(parameter: Parameter): string[] {
  const listed = parameter.schema["enum"];
  const values = Array.isArray(listed) ? listed.filter((value) => typeof value === "string") : [];
  return [
    parameter.joined,
    ...parameter.words.map((word) => word.stem),
    ...terms(parameter.description),
    ...values.flatMap(terms),
  ];
}

/** Words of a name beyond this are not compared, and longer words not taken apart: no honest name has them. */
const MOST_WORDS = 40;
const LONGEST_COMPOUND = 40;

/** `setparam` → set, param and `sessionhost` → session, host, where both parts stand as words in the catalog's names. */
export function splitCompounds(parts: readonly string[], vocabulary: ReadonlySet<string>): string[] {
  return parts.slice(0, MOST_WORDS).flatMap((part) => {
    if (part.length > LONGEST_COMPOUND) return [part];
    for (let cut = part.length - 3; cut >= 3; cut--) {
      const [head, tail] = [part.slice(0, cut), part.slice(cut)];
      if ((vocabulary.has(head) || isVerb(head)) && (vocabulary.has(tail) || isVerb(tail))) return [head, tail];
    }
    return [part];
  });
}

/** Terms of free text: stems without stop words, one-letter words dropped. */
export function terms(text: string): string[] {
  return words(text)
    .filter((word) => word.length > 1 && !isStopWord(word))
    .map(stem);
}

function textTerms(tool: Tool): string[] {
  return terms(`${tool.title ?? ""}\n${tool.description}`);
}

export function textVector(all: readonly string[], corpus: Corpus): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const term of all) counts.set(term, (counts.get(term) ?? 0) + 1);
  let square = 0;
  for (const [term, count] of counts) {
    const weight = (1 + Math.log(count)) * corpus.textWeight(term);
    counts.set(term, weight);
    square += weight * weight;
  }
  const length = Math.sqrt(square);
  for (const [term, weight] of counts) counts.set(term, weight / length);
  return counts;
}

/** Top-level parameters, `$ref` resolved one step (local), root `allOf`/`anyOf`/`oneOf` branches looked into. */
export function parametersOf(schema: JsonObject): Parameter[] {
  const found = new Map<string, Parameter>();
  const visit = (node: JsonObject, depth: number, optional: boolean): void => {
    if (depth > 3) return;
    const required = new Set(Array.isArray(node["required"]) ? node["required"] : []);
    const properties = isJsonObject(node["properties"]) ? node["properties"] : {};
    for (const [name, raw] of Object.entries(properties)) {
      if (found.has(name)) continue;
      found.set(name, parameter(name, resolved(raw, schema), required.has(name) && !optional));
    }
    for (const keyword of ["allOf", "anyOf", "oneOf"]) {
      const branches = node[keyword];
      if (!Array.isArray(branches)) continue;
      for (const branch of branches) visit(resolved(branch, schema), depth + 1, optional || keyword !== "allOf");
    }
  };
  visit(schema, 0, false);
  return [...found.values()];
}

function outputsOf(schema: JsonObject): Set<string> {
  const found = new Set<string>();
  for (const field of parametersOf(schema)) {
    found.add(field.joined);
    const inner = field.type === "array" ? resolved(field.schema["items"], schema) : field.schema;
    for (const nested of parametersOf(inner)) found.add(nested.joined);
  }
  return found;
}

function parameter(name: string, schema: JsonObject, required: boolean): Parameter {
  const description = schema["description"];
  const own = words(name).map(wordOf);
  return {
    name,
    words: own,
    joined: own.map((word) => word.stem).join(" "),
    type: typeWord(schema),
    required,
    description: typeof description === "string" ? description : "",
    schema,
  };
}

function typeWord(schema: JsonObject): string {
  const type = schema["type"];
  if (typeof type === "string") return type === "integer" ? "number" : type;
  if (Array.isArray(type)) return single(type.filter((word) => word !== "null"));
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = schema[keyword];
    if (Array.isArray(branches)) {
      return single(branches.flatMap((branch) => (isJsonObject(branch) && branch["type"] !== "null" ? [typeWord(branch)] : [])));
    }
  }
  const listed = schema["enum"] ?? ("const" in schema ? [schema["const"] ?? null] : undefined);
  return Array.isArray(listed) ? single(listed.map((value) => typeof value)) : "any";
}

function single(types: readonly JsonValue[]): string {
  const distinct = new Set(types.map((type) => (type === "integer" ? "number" : type)));
  const [only] = distinct;
  return distinct.size === 1 && typeof only === "string" ? only : "any";
}

/** A local reference resolved; anything else that is no object becomes the empty schema. */
export function resolved(value: JsonValue | undefined, root: JsonObject): JsonObject {
  if (!isJsonObject(value)) return {};
  const reference = value["$ref"];
  if (typeof reference !== "string" || !reference.startsWith("#/")) return value;
  let at: JsonValue | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const name = step.replace(/~1/g, "/").replace(/~0/g, "~");
    at = isJsonObject(at) ? at[name] : undefined;
  }
  return isJsonObject(at) ? at : {};
}
