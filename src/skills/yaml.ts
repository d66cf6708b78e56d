/**
 * YAML of a front matter, read leniently and never executed.
 *
 * Owns: what of YAML is accepted, how bad lines are repaired, which constructs are refused or named.
 * Speaks: the text between the fences in; ordered fields, notes and refusals out.
 * Never: what a field means (text.ts), where the text ends (fences.ts).
 */
import { isAlias, isMap, isNode, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Document, YAMLError } from "yaml";
import type { JsonObject, JsonValue } from "../model/json.js";
import { SKILL_LIMITS } from "../model/policy.js";
import { leading, refusal, shapeRefusal, type Refusal } from "./fences.js";

/**
 * Any head: checked for what must not reach the parser, parsed as YAML, repaired line by line where that fails. `above`: lines of the file
 * before the head's first, so that places are the file's.
 */
export function readAnyHead(
  text: string,
  note: (code: string, text: string) => void,
  above = 1,
): { readonly fields: ReadonlyMap<string, JsonValue> } | Refusal {
  const shape = shapeRefusal(text);
  if (shape !== undefined) return shape;
  const head = readYaml(text, above);
  if (head.document === undefined) return refusal("front-matter-yaml", head.why);
  for (const repair of head.repaired) {
    const text = `Line ${repair.line}, column ${repair.column} is not valid YAML (${repair.why}); its text was taken as it stands. ${QUOTE_IT}`;
    note("front-matter-repaired", text);
  }
  noteSilent(head.document, text, above, note);
  return readFields(head.document, { head: text, above }, note);
}

/** The way out of most faults. */
const QUOTE_IT = "Put the value in double quotes.";

interface Repair {
  /** Of the file, from 1. */
  readonly line: number;
  readonly column: number;
  readonly why: string;
}

interface YamlReading {
  readonly document: Document | undefined;
  readonly repaired: readonly Repair[];
  readonly why: string;
}

/** YAML with the failsafe schema (`0123` and `yes` stay text); bad single lines are repaired by quoting their value. */
function readYaml(head: string, above: number): YamlReading {
  const plain = parse(head);
  const error = plain.errors[0];
  if (error === undefined) return { document: plain, repaired: [], why: "" };
  const repaired: Repair[] = [];
  const written = head.split("\n");
  const repairable = written.length <= SKILL_LIMITS.frontMatterRepairLines ? written : [];
  const lines = repairable.map((line, n, all) => {
    const quoted = quoteBadLine(line, all[n + 1]);
    if (quoted === undefined) return line;
    repaired.push({ line: n + 1 + above, column: quoted.column, why: quoted.why });
    return quoted.line;
  });
  const second = repaired.length > 0 ? parse(lines.join("\n")) : undefined;
  if (second !== undefined && second.errors.length === 0) return { document: second, repaired, why: "" };
  return {
    document: undefined,
    repaired: [],
    why: `${sayError(error, above)} Correct the line, or put its value in double quotes.`,
  };
}

/** Where in the file the YAML ends and why. */
export function sayError(error: YAMLError, above: number): string {
  const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
  return `Line ${line + above}, column ${col} is not YAML that can be read: ${firstLine(error)}.`;
}

/** Fields whose line says something that YAML reads as nothing: an anchor, a tag, a comment. */
function noteSilent(document: Document, head: string, above: number, note: (code: string, text: string) => void): void {
  if (!isMap(document.contents)) return;
  const lines = head.split("\n");
  for (const { key, value } of document.contents.items) {
    if (!isScalar(key) || !isNode(value) || isAlias(value) || toJson(value) !== "") continue;
    const line = lines.findIndex((one) => one.startsWith(`${String(key.value)}:`));
    const said = lines[line]?.slice(String(key.value).length + 1).trim() ?? "";
    if (said === "" || said === '""' || said === "''") continue;
    const text = `Line ${line + 1 + above} gives \`${String(key.value)}\` as \`${cut(said)}\`, which YAML reads as nothing. ${QUOTE_IT}`;
    note("front-matter-silent-value", text);
  }
}

const cut = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

function parse(head: string): Document {
  // Tags and directives only warn; they are refused or named when the fields are read.
  return parseDocument(head, {
    schema: "failsafe",
    resolveKnownTags: false,
    uniqueKeys: false,
    strict: true,
    logLevel: "silent",
    version: "1.2",
  });
}

/** `key: value` on one line whose value breaks YAML, as the same line with the value quoted. */
function quoteBadLine(line: string, next: string | undefined): { line: string; column: number; why: string } | undefined {
  const match = /^( *)([A-Za-z_][\w.-]*):[ \t]+/.exec(line);
  const value = line.slice(match?.[0].length ?? 0).trim();
  if (match === null || value === "") return undefined;
  const [, indent = "", key = ""] = match;
  if (/^[|>&*!]/.test(value)) return undefined;
  const continued = next !== undefined && next.trim() !== "" && leading(next) > indent.length;
  if (continued) return undefined;
  const alone = parse(`${key}: ${value}`);
  const error = alone.errors[0];
  if (error === undefined) return undefined;
  const quote = value[0] === '"' || value[0] === "'" ? value[0] : undefined;
  const bare = quote !== undefined && value.length > 1 && value.endsWith(quote) ? value.slice(1, -1) : value;
  // The value begins at another place of the line than of the one that was parsed alone.
  const before = match[0].length - `${key}: `.length;
  return {
    line: `${indent}${key}: ${JSON.stringify(bare)}`,
    column: (error.linePos?.[0].col ?? 1) + before,
    why: firstLine(error),
  };
}

/** The text a document was read from, with the lines of the file before it. */
export interface ReadFrom {
  readonly head: string;
  readonly above: number;
}

/** The line of the file where a node or key stands. */
function lineOf({ head, above }: ReadFrom, node: unknown): string {
  const offset = isNode(node) ? node.range?.[0] : undefined;
  return offset === undefined ? "The front matter" : `Line ${head.slice(0, offset).split("\n").length + above}`;
}

function readFields(
  document: Document,
  from: ReadFrom,
  note: (code: string, text: string) => void,
): { readonly fields: ReadonlyMap<string, JsonValue> } | Refusal {
  const root = document.contents;
  if (root === null) return refusal("front-matter-empty", "The front matter is empty; `name` and `description` are needed.");
  if (!isMap(root)) return refusal("front-matter-not-a-map", "The front matter is not a map of fields (`name: …`).");
  const hostile = findHostile(document, from);
  if (hostile !== undefined) return hostile;
  const tags = explicitTags(document);
  if (tags.length > 0)
    note(
      "front-matter-tag",
      `The front matter has the tag ${tags.join(", ")}; tags mean nothing here, the value was read as text.`,
    );
  if (hasComment(document)) {
    note(
      "front-matter-comment",
      "The front matter has a `#` comment; YAML does not count it to any value. Quote a value with ` #`.",
    );
  }
  const duplicate = findDuplicates(document, from, note);
  if (duplicate !== undefined) return duplicate;
  return { fields: new Map(Object.entries(toJson(root) as JsonObject)) };
}

/** Aliases make small files huge and hide what a field says: refused, with the name of the anchor. */
export function findHostile(document: Document, from: ReadFrom): Refusal | undefined {
  let found: Refusal | undefined;
  visit(document, {
    Alias(_key, node) {
      found = refusal(
        "front-matter-alias",
        `${lineOf(from, node)} uses the alias \`*${node.source}\`; aliases are not read. ${QUOTE_IT}`,
      );
      return visit.BREAK;
    },
    Pair(_key, pair) {
      const key: unknown = pair.key;
      if (!isScalar(key) || typeof key.value !== "string") {
        found = refusal(
          "front-matter-key",
          `${lineOf(from, key)} has a key that is not plain text. A value that begins with \`{\` goes in double quotes.`,
        );
        return visit.BREAK;
      }
      if (key.value === "__proto__") {
        found = refusal("front-matter-unsafe-key", `${lineOf(from, key)} has a key \`__proto__\`; such a file is not read.`);
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return found;
}

function explicitTags(document: Document): string[] {
  const tags = new Set<string>();
  visit(document, {
    Node(_key, node) {
      if (!isAlias(node) && typeof node.tag === "string") tags.add(node.tag);
      return undefined;
    },
  });
  return [...tags];
}

function hasComment(document: Document): boolean {
  let found = Boolean(document.comment ?? document.commentBefore);
  visit(document, {
    Node(_key, node) {
      if (isAlias(node) || !(node.comment ?? node.commentBefore)) return undefined;
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}

/** A key given twice: with one value it is named, with two values nobody can say which one counts. */
function findDuplicates(document: Document, from: ReadFrom, note: (code: string, text: string) => void): Refusal | undefined {
  let found: Refusal | undefined;
  visit(document, {
    Map(_key, map) {
      const seen = new Map<string, string>();
      for (const pair of map.items) {
        const key = keyOf(pair.key);
        const value = JSON.stringify(toJson(pair.value));
        const before = seen.get(key);
        seen.set(key, value);
        if (before === undefined) continue;
        if (before === value) {
          note(
            "front-matter-duplicate-key",
            `${lineOf(from, pair.key)} gives the field \`${key}\` once more with the same value.`,
          );
          continue;
        }
        found = refusal(
          "front-matter-duplicate-key",
          `${lineOf(from, pair.key)} gives the field \`${key}\` once more with another value; keep one of the two.`,
        );
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return found;
}

function toJson(node: unknown): JsonValue {
  if (isScalar(node)) return node.value === null || node.value === undefined ? "" : String(node.value);
  if (isSeq(node)) return node.items.map(toJson);
  if (isMap(node)) return Object.fromEntries(node.items.map((pair) => [keyOf(pair.key), toJson(pair.value)]));
  return "";
}

const keyOf = (key: unknown): string => (isScalar(key) ? String(key.value) : "");

const firstLine = (error: YAMLError): string =>
  (error.message.split("\n")[0] ?? "")
    .replace(/:$/, "")
    .replace(/ at line \d+, column \d+$/, "")
    .trim();
