/**
 * Profiles: what lineage knows of one tool, computed once.
 *
 * Owns: name words, verb, text vector, parameters with weights.
 * Speaks: Tool in, Profile out.
 * Never: comparing two tools (score.ts).
 */
import { isJsonObject } from "../../model/json.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import type { Tool } from "../../model/tool.js";
import { asMap } from "./corpus.js";
import type { Corpus, TextVector } from "./corpus.js";
import { isStopWord, terms, verbOf, wordOf, words } from "./words.js";
import type { Word } from "./words.js";

export interface Parameter {
  readonly name: string;
  /** The name's words, in order, and their stems as one text. */
  readonly words: readonly Word[];
  readonly joined: string;
  /** The words that say something, each of the same weight. */
  readonly telling: readonly Weighed[];
  /** JSON type word, or `any`. */
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonObject;
}

/** A word of a name and its weight. */
export interface Weighed {
  readonly word: Word;
  readonly weight: number;
}

/** Each member is worked out when it is first asked for: most tools that stay are never looked at closely. */
export interface Profile {
  readonly tool: Tool;
  /** Name in words, compounds split where the catalog knows the parts. */
  readonly words: readonly Word[];
  /** The same with what each weighs. */
  readonly weighed: readonly Weighed[];
  /** The word of the name that says what the tool does, where there is one. */
  readonly verb: string | undefined;
  /** Stems of the name's words but the verb. */
  readonly nouns: readonly string[];
  /** tf-idf of title and description, unit length; empty without text. */
  readonly text: ReadonlyMap<string, number>;
  /** The same as two lists. */
  readonly vector: TextVector;
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

export function profileOf(tool: Tool, corpus: Corpus): Profile {
  return new LazyProfile(tool, corpus);
}

class LazyProfile implements Profile {
  readonly words: readonly Word[];
  readonly verb: string | undefined;
  readonly readOnlyHint: boolean | undefined;
  #weighed: readonly Weighed[] | undefined;
  #nouns: readonly string[] | undefined;
  #text: ReadonlyMap<string, number> | undefined;
  #vector: TextVector | undefined;
  #spoken: ReadonlySet<string> | undefined;
  #vocabulary: ReadonlySet<string> | undefined;
  #parameters: readonly Parameter[] | undefined;
  #outputs: ReadonlySet<string> | undefined;

  constructor(
    readonly tool: Tool,
    private readonly corpus: Corpus,
  ) {
    const hint = isJsonObject(tool.document["annotations"]) ? tool.document["annotations"]["readOnlyHint"] : undefined;
    this.words = corpus.wordsOf(tool);
    this.verb = verbOf(
      this.words.map((word) => word.text),
      corpus.verbFirst,
    );
    this.readOnlyHint = typeof hint === "boolean" ? hint : undefined;
  }

  get weighed(): readonly Weighed[] {
    return (this.#weighed ??= this.words.map((word) => ({ word, weight: this.corpus.weightOf(word) })));
  }

  get nouns(): readonly string[] {
    return (this.#nouns ??= this.words.filter((word) => word.text !== this.verb).map((word) => word.stem));
  }

  get text(): ReadonlyMap<string, number> {
    return (this.#text ??= asMap(this.vector));
  }

  get vector(): TextVector {
    return (this.#vector ??= this.corpus.vectorOf(this.tool));
  }

  get spoken(): ReadonlySet<string> {
    return (this.#spoken ??= new Set(words(this.tool.description)));
  }

  get vocabulary(): ReadonlySet<string> {
    return (this.#vocabulary ??= new Set([
      ...this.words.map((word) => word.stem),
      ...this.vector.terms,
      ...this.parameters.flatMap(parameterTerms),
    ]));
  }

  get parameters(): readonly Parameter[] {
    return (this.#parameters ??= parametersOf(this.tool.inputSchema));
  }

  get outputs(): ReadonlySet<string> {
    return (this.#outputs ??= this.tool.outputSchema === undefined ? new Set() : outputsOf(this.tool.outputSchema));
  }
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
  let telling: readonly Weighed[] | undefined;
  return {
    name,
    get telling() {
      return (telling ??= own.filter((word) => !isStopWord(word.text)).map((word) => ({ word, weight: 1 })));
    },
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
