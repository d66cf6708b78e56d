/**
 * YAML of a front matter, read leniently and never executed.
 *
 * Owns: what of YAML is accepted, how bad lines are repaired, which constructs are refused or named.
 * Speaks: the text between the fences in; ordered fields, notes and refusals out.
 * Never: what a field means (text.ts), where the text ends (fences.ts).
 */
import { isAlias, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Document, YAMLError } from "yaml";
import type { JsonObject, JsonValue } from "../model/json.js";
import { SKILL_LIMITS } from "../model/policy.js";
import { leading, refusal, shapeRefusal, type Refusal } from "./fences.js";

/** Any head: checked for what must not reach the parser, parsed as YAML, repaired line by line where that fails. */
export function readAnyHead(
  text: string,
  note: (code: string, text: string) => void,
): { readonly fields: ReadonlyMap<string, JsonValue> } | Refusal {
  const shape = shapeRefusal(text);
  if (shape !== undefined) return shape;
  const head = readYaml(text);
  if (head.document === undefined) return refusal("front-matter-yaml", head.why);
  for (const repair of head.repaired) {
    note("front-matter-repaired", `Line ${repair.line} is not valid YAML (${repair.why}); its text was taken as it stands.`);
  }
  return readFields(head.document, note);
}

interface YamlReading {
  readonly document: Document | undefined;
  readonly repaired: readonly { readonly line: number; readonly why: string }[];
  readonly why: string;
}

/** YAML with the failsafe schema (`0123` and `yes` stay text); bad single lines are repaired by quoting their value. */
function readYaml(head: string): YamlReading {
  const plain = parse(head);
  const error = plain.errors[0];
  if (error === undefined) return { document: plain, repaired: [], why: "" };
  const repaired: { line: number; why: string }[] = [];
  const written = head.split("\n");
  const repairable = written.length <= SKILL_LIMITS.frontMatterRepairLines ? written : [];
  const lines = repairable.map((line, n, all) => {
    const quoted = quoteBadLine(line, all[n + 1]);
    if (quoted === undefined) return line;
    // Two lines stand above the first line of the head at most: the count is from the opening fence.
    repaired.push({ line: n + 2, why: quoted.why });
    return quoted.line;
  });
  const second = repaired.length > 0 ? parse(lines.join("\n")) : undefined;
  if (second !== undefined && second.errors.length === 0) return { document: second, repaired, why: "" };
  const line = (error.linePos?.[0].line ?? 1) + 1;
  return {
    document: undefined,
    repaired: [],
    why: `Line ${line} of the front matter is not YAML that can be read: ${firstLine(error)}.`,
  };
}

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
function quoteBadLine(line: string, next: string | undefined): { line: string; why: string } | undefined {
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
  return { line: `${indent}${key}: ${JSON.stringify(bare)}`, why: firstLine(error) };
}

function readFields(
  document: Document,
  note: (code: string, text: string) => void,
): { readonly fields: ReadonlyMap<string, JsonValue> } | Refusal {
  const root = document.contents;
  if (root === null) return refusal("front-matter-empty", "The front matter is empty; `name` and `description` are needed.");
  if (!isMap(root)) return refusal("front-matter-not-a-map", "The front matter is not a map of fields (`name: …`).");
  const hostile = findHostile(document);
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
  const duplicate = findDuplicates(document, note);
  if (duplicate !== undefined) return duplicate;
  return { fields: new Map(Object.entries(toJson(root) as JsonObject)) };
}

/** Aliases make small files huge and hide what a field says: refused, with the name of the anchor. */
export function findHostile(document: Document): Refusal | undefined {
  let found: Refusal | undefined;
  visit(document, {
    Alias(_key, node) {
      found = refusal("front-matter-alias", `The front matter uses the alias \`*${node.source}\`; aliases are not read.`);
      return visit.BREAK;
    },
    Pair(_key, pair) {
      const key: unknown = pair.key;
      if (!isScalar(key) || typeof key.value !== "string") {
        found = refusal("front-matter-key", "The front matter has a key that is not plain text.");
        return visit.BREAK;
      }
      if (key.value === "__proto__") {
        found = refusal("front-matter-unsafe-key", "The front matter has a key `__proto__`; such a file is not read.");
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
function findDuplicates(document: Document, note: (code: string, text: string) => void): Refusal | undefined {
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
          note("front-matter-duplicate-key", `The field \`${key}\` is given twice with the same value.`);
          continue;
        }
        found = refusal("front-matter-duplicate-key", `The field \`${key}\` is given twice with different values.`);
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

export const firstLine = (error: YAMLError): string =>
  (error.message.split("\n")[0] ?? "")
    .replace(/:$/, "")
    .replace(/ at line \d+, column \d+$/, "")
    .trim();
