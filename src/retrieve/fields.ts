/**
 * Fields: the parts of a tool that are searched.
 *
 * Owns: which text of a tool belongs to which field, and how much of a large schema is read.
 * Speaks: tools, field texts.
 * Never: weights (score.ts), terms (terms.ts).
 */
import type { JsonObject, JsonValue } from "../model/json.js";
import { isJsonObject } from "../model/json.js";
import type { Tool } from "../model/tool.js";
import type { ToolField } from "./score.js";

/** What the index keeps of a tool beside its terms. */
export interface IndexedTool {
  readonly tool: Tool;
  /** Distinct stems of the name. */
  readonly nameTerms: readonly string[];
  readonly required: readonly string[];
}

/** The order of fields in the index. */
export const TOOL_FIELDS: readonly ToolField[] = [
  "name",
  "title",
  "server",
  "lead",
  "description",
  "parameterNames",
  "parameterTexts",
  "outputNames",
  "serverText",
];

/** Schema nodes read of one tool, depth, and characters of a server's own text: bounds on what one listing can cost. */
const SCHEMA_NODES_MAX = 400;
const SCHEMA_DEPTH_MAX = 5;
const SERVER_TEXT_MAX = 600;
/** Enum values longer than this are data, not words. */
const ENUM_VALUE_MAX = 60;
const ENUM_VALUES_MAX = 40;

/** Texts of a tool by field, in the order of TOOL_FIELDS. `serverWords`: first line = the server's title, the rest its text. */
export function toolTexts(tool: Tool, serverWords: string | undefined): readonly string[] {
  const [lead, rest] = firstSentence(tool.description);
  const [serverTitle, serverText] = firstLine(serverWords ?? "");
  const input: SchemaText = { names: [], texts: [], nodes: 0 };
  readSchema(tool.inputSchema, tool.inputSchema, 0, input, new Set());
  const output: SchemaText = { names: [], texts: [], nodes: 0 };
  if (tool.outputSchema !== undefined) readSchema(tool.outputSchema, tool.outputSchema, 0, output, new Set());
  return [
    tool.name,
    tool.title ?? "",
    serverTitle === "" ? withoutHash(tool.label) : serverTitle,
    lead,
    rest,
    input.names.join(" "),
    input.texts.join(" "),
    output.names.join(" "),
    serverText.slice(0, SERVER_TEXT_MAX),
  ];
}

/** Labels of long foreign names end in eight hex digits that no one searches for. */
function withoutHash(label: string): string {
  return label.replace(/-[0-9a-f]{8}$/, "");
}

/** The first sentence or line, and the rest. A full stop inside a word, a number or a common abbreviation ends nothing. */
export function firstSentence(text: string): [lead: string, rest: string] {
  const trimmed = text.trimStart();
  const end = /(?<!\b(?:e\.g|i\.e|etc|vs|cf|approx|no|dr|mr|ms|st))[.!?](?=\s)|[。！？]|\n/i.exec(trimmed);
  if (end === null) return [trimmed, ""];
  const cut = end.index + end[0].length;
  return [trimmed.slice(0, cut), trimmed.slice(cut)];
}

function firstLine(text: string): [first: string, rest: string] {
  const end = text.indexOf("\n");
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
}

interface SchemaText {
  names: string[];
  texts: string[];
  nodes: number;
}

function readSchema(schema: JsonValue | undefined, root: JsonObject, depth: number, into: SchemaText, within: Set<string>): void {
  if (!isJsonObject(schema) || depth > SCHEMA_DEPTH_MAX || into.nodes >= SCHEMA_NODES_MAX) return;
  into.nodes++;
  const { description, enum: values, properties, items, $ref } = schema;
  if (depth > 0 && typeof description === "string") into.texts.push(description);
  if (Array.isArray(values)) {
    for (const value of values.slice(0, ENUM_VALUES_MAX)) {
      if (typeof value === "string" && value.length <= ENUM_VALUE_MAX) into.texts.push(value);
    }
  }
  if (isJsonObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      into.names.push(name);
      readSchema(property, root, depth + 1, into, within);
    }
  }
  readSchema(Array.isArray(items) ? items[0] : items, root, depth + 1, into, within);
  for (const branch of ["anyOf", "oneOf", "allOf"] as const) {
    const members = schema[branch];
    if (Array.isArray(members)) for (const member of members) readSchema(member, root, depth + 1, into, within);
  }
  if (typeof $ref === "string" && !within.has($ref)) {
    within.add($ref);
    readSchema(resolveLocal($ref, root), root, depth + 1, into, within);
    within.delete($ref);
  }
}

/** The value a local JSON pointer names; a reference to elsewhere is not followed. */
function resolveLocal(reference: string, root: JsonObject): JsonValue | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let at: JsonValue | undefined = root;
  for (const part of reference.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isJsonObject(at) ? at[key] : undefined;
  }
  return at;
}
