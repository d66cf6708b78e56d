/**
 * Intake: one upstream's listing becomes tools, one member at a time.
 *
 * Owns: which members are refused (each with a visible reason), which are repaired, and what a Tool is made of.
 * Speaks: raw members of `tools/list`.
 * Never: throws because of what an upstream wrote; compiles a schema; alters the stored document.
 */
import { toolKey, type ToolKey, type UpstreamLabel } from "../model/ids.js";
import { isDeeperThan, isJsonObject, isLargerThan, type JsonObject, type JsonValue } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import type { ListedTool, Tool, ToolDigests } from "../model/tool.js";
import { effectiveAnnotations, unreadAnnotations } from "./annotations.js";
import { cleanText, escapeText, hasHiddenCharacters } from "./clean.js";
import { documentDigest, toolDigests } from "./digest.js";
import { repairInput, repairOutput } from "./repair.js";
import { referencesOf, resolveReference, resourceOf } from "./schema/refs.js";
import { toolTitle } from "./texts.js";

/** A definition nested deeper than this is refused: no real one passes 40, and every walk over schemas is recursive. */
const DEPTH_LIMIT = 200;
/** A definition of more characters is refused: the largest of 53,000 real ones has 82,000. */
const SIZE_LIMIT = 500_000;
/** Of a tool whose schemas take more work than any real ones do. */
const TOO_INVOLVED = "tool-too-involved";

/** What a listing comes to. */
export interface ReadListing {
  readonly tools: Tool[];
  readonly problems: Problem[];
}

/**
 * Reads a complete listing. Problems are about members that were refused (`tool-…`) or repaired (`schema-…`, `text-…`); the order
 * of tools is that of the listing. `known` may give the tools of the present catalog: one whose document did not move is handed
 * back as it is, without being read again.
 */
export function readListing(label: UpstreamLabel, raw: readonly unknown[], known?: ReadonlyMap<ToolKey, Tool>): ReadListing {
  const reading = readMembers(label, raw, known);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
}

/** The same, a member at a time: whoever serves others may do so between them. Returns what `readListing` does. */
export function* readMembers(
  label: UpstreamLabel,
  raw: readonly unknown[],
  known?: ReadonlyMap<ToolKey, Tool>,
): Generator<undefined, ReadListing> {
  const tools = new Map<ToolKey, Tool>();
  const problems: Problem[] = [];
  for (const [index, member] of raw.entries()) {
    if (index > 0) yield undefined;
    const refusal = refuse(label, member, index);
    if (refusal !== undefined) {
      problems.push(refusal);
      continue;
    }
    const listed = member as ListedTool;
    const key = toolKey(label, listed.name);
    if (tools.has(key)) {
      problems.push({
        code: "tool-name-twice",
        where: key,
        text: `The listing has ${key} more than once; the first is kept, member ${index + 1} is left out.`,
      });
      continue;
    }
    const before = known?.get(key);
    const tool = before !== undefined && before.digests.document === documentDigest(listed) ? before : toTool(label, listed);
    const tooInvolved = tool.problems.find((problem) => problem.code === TOO_INVOLVED);
    if (tooInvolved === undefined) tools.set(key, tool);
    problems.push(...(tooInvolved === undefined ? tool.problems : [tooInvolved]));
  }
  return { tools: [...tools.values()], problems };
}

/** A listed tool as relied on. `digests` spares computing them where a manifest has them already. */
export function toTool(label: UpstreamLabel, listed: ListedTool, digests?: ToolDigests): Tool {
  const key = toolKey(label, listed.name);
  const input = repairInput(listed["inputSchema"]);
  const output = repairOutput(listed["outputSchema"]);
  const problems: Problem[] = [];
  const note = (code: string, text: string): void => void problems.push({ code, where: key, text });
  for (const text of [...input.notes, ...output.notes]) note("schema-repaired", `${text}.`);
  for (const [what, schema] of [
    ["inputSchema", input.schema],
    ["outputSchema", output.schema],
  ] as const) {
    for (const reference of lostReferences(schema))
      note("schema-reference", `${what} refers to ${escapeText(reference)}, which is not in it; that part is not checked.`);
  }
  const own =
    digests ??
    toolDigests(listed, () =>
      note(TOO_INVOLVED, "Its schemas lead too deep or too far when their references are followed; the tool is left out."),
    );
  for (const text of unreadAnnotations(listed)) note("annotation-left-out", `${text}.`);
  const isTitled = listed["title"] !== undefined && listed["title"] !== null;
  const title = clean(toolTitle(listed) ?? (isTitled ? listed["title"] : undefined), "title", note);
  const description = clean(listed["description"], "description", note);
  return {
    key,
    label,
    name: listed.name,
    document: listed,
    title,
    description: description ?? "",
    inputSchema: input.schema ?? { type: "object" },
    outputSchema: output.schema,
    annotations: effectiveAnnotations(listed),
    digests: own,
    problems,
  };
}

function clean(text: JsonValue | undefined, what: string, note: (code: string, text: string) => void): string | undefined {
  if (typeof text !== "string") {
    if (text !== undefined && text !== null) note("text-left-out", `The ${what} is not a text and is left out.`);
    return undefined;
  }
  const { text: cleaned, removed } = cleanText(text);
  if (removed > 0)
    note("text-cleaned", `${removed} invisible or control characters were removed from the ${what} that is shown.`);
  return cleaned;
}

function refuse(label: UpstreamLabel, member: unknown, index: number): Problem | undefined {
  const place = `${label}, member ${index + 1} of the listing`;
  if (!isJsonObject(member))
    return { code: "tool-not-an-object", where: place, text: "It is not a JSON object and is left out." };
  const name: JsonValue | undefined = member["name"];
  if (typeof name !== "string" || name === "")
    return { code: "tool-without-name", where: place, text: "It has no name and is left out." };
  const shown = escapeText(name.length > 100 ? `${name.slice(0, 100)}…` : name);
  const where = `${label}/${shown}`;
  if (name.trim() === "" || hasHiddenCharacters(name) || /[\n\t]/.test(name))
    return {
      code: "tool-name-hidden-characters",
      where,
      text: `The name has control or invisible characters ("${shown}"); the tool is left out.`,
    };
  if (isDeeperThan(member, DEPTH_LIMIT))
    return {
      code: "tool-too-deep",
      where,
      text: `Its definition is nested deeper than ${DEPTH_LIMIT} levels; the tool is left out.`,
    };
  if (isLargerThan(member, SIZE_LIMIT))
    return {
      code: "tool-too-large",
      where,
      text: `Its definition has more than ${SIZE_LIMIT} characters; the tool is left out.`,
    };
  const input = repairInput(member["inputSchema"]);
  if (input.schema === undefined)
    return { code: "tool-schema-unusable", where, text: `${input.notes.join("; ")}; the tool is left out.` };
  return undefined;
}

/** Keywords that hold values, in which a `$ref` is a member like any other. */
const VALUES: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

/** References of a schema that lead nowhere in it, each once. */
function lostReferences(schema: JsonObject | undefined): readonly string[] {
  if (schema === undefined) return [];
  const lost = new Set<string>();
  let references: ReturnType<typeof referencesOf> | undefined;
  const visit = (value: JsonValue, parent: JsonValue): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const member of value) visit(member, parent);
      return;
    }
    const resource = resourceOf(value, parent);
    const reference = value["$ref"];
    if (typeof reference === "string") {
      references ??= referencesOf(schema);
      if (resolveReference(references, reference, resource) === undefined) lost.add(reference);
    }
    for (const key of Object.keys(value)) if (!VALUES.has(key)) visit(value[key] ?? null, resource);
  };
  visit(schema, schema);
  return [...lost];
}
