/**
 * Front matter as written: the fenced YAML block at the head of a SKILL.md, read leniently, written strictly.
 *
 * Owns: where the block begins and ends, what of YAML is accepted, how bad YAML is repaired, how ours is written.
 * Speaks: text in, ordered fields and named problems out.
 * Never: what a field means (text.ts); executing anything; dropping anything without a problem that says so.
 */
import { isAlias, isMap, isScalar, isSeq, parseDocument, stringify, visit } from "yaml";
import type { Document, YAMLError } from "yaml";
import type { JsonObject, JsonValue } from "../model/json.js";
import { SKILL_LIMITS } from "../model/policy.js";
import type { Problem } from "../model/problem.js";

export interface FrontMatter {
  /** Top-level fields in file order; scalars are strings (failsafe schema), maps and lists are kept as they are. */
  readonly fields: ReadonlyMap<string, JsonValue>;
  /** Everything after the closing fence, line ends as LF. */
  readonly body: string;
}
export interface FrontMatterReading {
  /** Undefined where the file is refused; the last problem says why. */
  readonly front: FrontMatter | undefined;
  readonly problems: readonly Problem[];
}

/** The file cut at its fences. `head` is the YAML between them; `lineEnd` is what most of the file uses. */
export interface SplitFile {
  readonly bom: boolean;
  readonly lineEnd: "\n" | "\r\n" | "\r";
  readonly head: string;
  readonly body: string;
}

const OPENING = /^---[ \t]*$/;
const CLOSING = /^---[ \t]*$/;

/** Reads the head of a SKILL.md. Only the first fenced block is front matter; later `---` lines are body. */
export function readFrontMatter(where: string, text: string): FrontMatterReading {
  const problems: Problem[] = [];
  const note = (code: string, sentence: string): void => void problems.push({ code, where, text: sentence });
  const refuse = (code: string, sentence: string): FrontMatterReading => {
    note(code, sentence);
    return { front: undefined, problems };
  };

  const split = splitFile(text);
  if ("refused" in split) return refuse(split.refused.code, split.refused.text);
  if (split.bom) note("byte-order-mark", "The file starts with a byte order mark; it was skipped.");
  if (split.lineEnd !== "\n") {
    const name = split.lineEnd === "\r\n" ? "CRLF" : "CR";
    note("line-ends", `The file has ${name} line ends; it was read as if they were LF and its bytes are kept.`);
  }
  if (split.blankLines > 0) note("front-matter-late", `The front matter starts on line ${split.blankLines + 1}, not on line 1.`);

  const own = readOwnHead(split.head);
  if (own !== undefined) return { front: { fields: own, body: split.body }, problems };
  const head = readAnyHead(split.head, note);
  if ("refused" in head) return refuse(head.refused.code, head.refused.text);
  return { front: { fields: head.fields, body: split.body }, problems };
}

/**
 * The head in exactly the form we write, without a YAML parser: thousands of our own files are read at every start.
 * Undefined for anything else. Law: what it returns is what readAnyHead returns.
 */
export function readOwnHead(head: string): ReadonlyMap<string, JsonValue> | undefined {
  const fields = new Map<string, JsonValue>();
  let metadata: Map<string, string> | undefined;
  for (const line of head.split("\n")) {
    if (line === "metadata:" && !fields.has("metadata")) {
      metadata = new Map();
      fields.set("metadata", {});
      continue;
    }
    const match = /^( {2})?([a-z][a-z0-9-]*): (".*")$/.exec(line);
    const [, indent, key = "", quoted = ""] = match ?? [];
    const target: Map<string, JsonValue> | undefined = indent === undefined ? fields : metadata;
    const value = match === null ? undefined : parseQuoted(quoted);
    if (value === undefined || target === undefined || target.has(key)) return undefined;
    // A top-level field ends the metadata block.
    if (indent === undefined && metadata !== undefined) closeMetadata();
    target.set(key, value);
  }
  closeMetadata();
  return fields.size === 0 ? undefined : fields;

  function closeMetadata(): void {
    if (metadata !== undefined) fields.set("metadata", metadata.size === 0 ? "" : Object.fromEntries(metadata));
    metadata = undefined;
  }
}

/** A JSON string means the same in YAML's double quotes; YAML's further escapes are left to the parser. */
function parseQuoted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

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

type Refusal = { readonly refused: { readonly code: string; readonly text: string } };
const refusal = (code: string, text: string): Refusal => ({ refused: { code, text } });

/** Cuts a file at its fences without reading YAML. */
export function splitFile(text: string): (SplitFile & { readonly blankLines: number }) | Refusal {
  if (text.length > SKILL_LIMITS.skillFileChars) {
    return refusal("skill-too-large", `The file has ${text.length} characters; at most ${SKILL_LIMITS.skillFileChars} are read.`);
  }
  const bom = text.startsWith("\uFEFF");
  const plain = bom ? text.slice(1) : text;
  const lineEnd = plain.includes("\r\n") ? "\r\n" : plain.includes("\r") ? "\r" : "\n";
  const lines = plain.replace(/\r\n?/g, "\n").split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const opening = lines[first];
  if (opening === undefined) return refusal("front-matter-missing", "The file is empty; it must start with a line `---`.");
  if (!OPENING.test(opening)) {
    if (/^---[ \t]*\S/.test(opening)) {
      return refusal(
        "front-matter-language",
        `The front matter opens with \`${excerpt(opening)}\`; only YAML after a bare \`---\` is read, nothing is executed.`,
      );
    }
    return refusal(
      "front-matter-missing",
      `The file must start with a line \`---\`; the first line found (line ${first + 1}) is \`${excerpt(opening)}\`.`,
    );
  }
  const end = lines.findIndex((line, n) => n > first && CLOSING.test(line));
  if (end < 0) return refusal("front-matter-open", "The front matter is not closed: no second line `---` was found.");
  const head = lines.slice(first + 1, end).join("\n");
  if (head.length > SKILL_LIMITS.frontMatterChars) {
    return refusal(
      "front-matter-too-large",
      `The front matter has ${head.length} characters; at most ${SKILL_LIMITS.frontMatterChars} are read.`,
    );
  }
  return { bom, lineEnd, head, body: lines.slice(end + 1).join("\n"), blankLines: first };
}

/**
 * The front matter as plain data, typed as the YAML core schema types it: what any reader of the file makes of it. Where our own
 * lenient reading would repair or skip something, other readers see something else or nothing: then it is refused.
 */
export function frontMatterData(text: string): { readonly data: JsonObject } | Refusal {
  const split = splitFile(text);
  if ("refused" in split) return split;
  if (split.blankLines > 0) return refusal("front-matter-late", "The front matter does not start on the first line.");
  const own = readOwnHead(split.head);
  if (own !== undefined) return { data: Object.fromEntries(own) };
  const shape = shapeRefusal(split.head);
  if (shape !== undefined) return shape;
  const document = parseDocument(split.head, {
    schema: "core",
    strict: true,
    uniqueKeys: true,
    logLevel: "silent",
    version: "1.2",
  });
  const [error] = document.errors;
  if (error !== undefined) return refusal("front-matter-yaml", `The front matter is not YAML: ${firstLine(error)}.`);
  const hostile = isMap(document.contents)
    ? findHostile(document)
    : refusal("front-matter-not-a-map", "The front matter is not a map.");
  if (hostile !== undefined) return hostile;
  let unsayable = false;
  const json = JSON.stringify(document.toJS({ maxAliasCount: 0 }), (_key, value: JsonValue) => {
    // NaN and infinities have no JSON; they would arrive as null.
    unsayable ||= typeof value === "number" && !Number.isFinite(value);
    return value;
  });
  if (unsayable) return refusal("front-matter-yaml", "The front matter has a number that JSON has not.");
  return { data: JSON.parse(json) as JsonObject };
}

/** What must not reach the YAML parser: nesting that could exhaust its stack, and text after the end of the document. */
function shapeRefusal(head: string): Refusal | undefined {
  let open = 0;
  for (const [n, line] of head.split("\n").entries()) {
    if (/^\.\.\.[ \t]*$/.test(line)) {
      return refusal("front-matter-yaml", `Line ${n + 2} (\`...\`) ends the YAML document; what follows it would be dropped.`);
    }
    const marks = /^[ \t]*((?:[-?:][ \t]+)*)/.exec(line)?.[1] ?? "";
    const levels = leading(line) + marks.replace(/[ \t]/g, "").length;
    let deepest = open;
    for (const character of line) {
      if (character === "[" || character === "{") open += 1;
      if ((character === "]" || character === "}") && open > 0) open -= 1;
      deepest = Math.max(deepest, open);
    }
    if (deepest > SKILL_LIMITS.frontMatterDepth || levels > 2 * SKILL_LIMITS.frontMatterDepth) {
      return refusal("front-matter-too-deep", `Line ${n + 2} is nested more than ${SKILL_LIMITS.frontMatterDepth} levels deep.`);
    }
  }
  return undefined;
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
function findHostile(document: Document): Refusal | undefined {
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

/**
 * Writes a front matter block: plain keys, every scalar double-quoted, one line each, stable bytes.
 * The caller reads it back before it counts.
 */
export function writeFrontMatter(fields: ReadonlyMap<string, string | ReadonlyMap<string, string>>): string {
  const yaml = stringify(fields, {
    schema: "failsafe",
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "PLAIN",
    lineWidth: 0,
  });
  return `---\n${yaml}---\n`;
}

const leading = (line: string): number => line.length - line.trimStart().length;
const excerpt = (line: string): string =>
  Array.from(line.replace(/[\u0000-\u001F\u007F]/g, " "))
    .slice(0, 60)
    .join("");
const firstLine = (error: YAMLError): string =>
  (error.message.split("\n")[0] ?? "")
    .replace(/:$/, "")
    .replace(/ at line \d+, column \d+$/, "")
    .trim();
