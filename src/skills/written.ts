/**
 * Front matter as written: the fenced YAML block at the head of a SKILL.md, read leniently, written strictly.
 *
 * Owns: how a head becomes fields, our own form without a YAML parser, what other readers make of a head, how ours is written.
 * Speaks: text in, ordered fields and named problems out.
 * Never: what a field means (text.ts); executing anything; dropping anything without a problem that says so.
 */
import { isMap, parseDocument, stringify } from "yaml";
import type { JsonObject, JsonValue } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import { refusal, shapeRefusal, splitFile, type Refusal } from "./fences.js";
import { findHostile, readAnyHead, sayError } from "./yaml.js";

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
  const head = readAnyHead(split.head, note, split.blankLines + 1);
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
  if (error !== undefined) return refusal("front-matter-yaml", sayError(error, 1));
  const hostile = isMap(document.contents)
    ? findHostile(document, { head: split.head, above: 1 })
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
