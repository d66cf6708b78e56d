/**
 * Probes: recorded calls as they would be made on the tool that is said to have taken over, and what an answer says to that.
 *
 * Joins evidence, lineage and the catalog. What a recorded call showed is known by its shape, and by the values that later calls of the
 * episode took from it; the results themselves were not kept.
 */
import { canonicalJson, sha256 } from "../catalog/canonical.js";
import { validates } from "../catalog/usage.js";
import { presentCall } from "../maintain/present-call.js";
import type { CallLine, Evidence } from "../model/episode.js";
import type { ToolKey } from "../model/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { LineageLink } from "../model/lineage.js";
import type { OpenLink, Proof } from "../model/ports.js";
import type { Tool } from "../model/tool.js";
import { leavesOf, shapeOf } from "./flows.js";
import type { Known } from "./world.js";

/** One call to make, and what must come back. */
export interface Probe {
  /** Digest of what is called with what. */
  readonly id: string;
  readonly tool: Tool;
  readonly args: JsonObject;
  /** For people: which recorded call it repeats. */
  readonly of: string;
  readonly expects: readonly Expectation[];
}

export interface Expectation {
  /** JSON pointers, any of which will do: the field as it was, and as the link renames it. List positions are `*`. */
  readonly paths: readonly string[];
  readonly type: string;
  /** What later calls took from it. */
  readonly values: readonly string[];
}

/** A recorded call that cannot be tried, and why that says something. */
export interface Unfit {
  readonly of: string;
  readonly why: string;
}

/** What an answer says: the same as the recorded one, something else, or nothing to the point. */
export interface ProbeFinding {
  readonly verdict: "agrees" | "differs" | "silent";
  readonly text: string;
  /** Values that were compared and are the same. */
  readonly values: number;
}

type Around = Pick<Known, "catalog"> & { readonly links: readonly LineageLink[] };

/** The recorded calls of the tool that left, as calls of the one that would take over; equal ones once, the newest first. */
export function probesOfLink(
  known: Known,
  { link, to }: OpenLink,
  proofs: readonly Proof[],
): { probes: Probe[]; unfit: Unfit[] } {
  const [only, ...more] = to;
  if (only === undefined || more.length > 0 || !known.catalog.tools.has(only.key)) return { probes: [], unfit: [] };
  const reads = [...known.library.skills.values()]
    .flatMap((skill) => skill.contract.requires)
    .filter((need) => need.tool === link.from)
    .flatMap((need) => need.reads);
  const around: Around = { catalog: known.catalog, links: [link] };
  const lines = proofs
    .filter(({ evidence, weight }) => weight === "verified" && evidence.outcome.outcome === "success")
    .flatMap(({ evidence }) => evidence.calls.filter((line) => line.tool === link.from).map((line) => ({ line, evidence })));
  return probesOf(around, lines.reverse(), { reads, params: link.params });
}

/** The recorded calls among these, of tools that left, as they would be made today. */
export function probesOf(
  { catalog, links }: Around,
  recorded: readonly { readonly line: CallLine; readonly evidence: Evidence }[],
  skill: { readonly reads: readonly string[]; readonly params: Readonly<Record<string, string>> },
): { probes: Probe[]; unfit: Unfit[] } {
  const probes = new Map<string, Probe>();
  const unfit: Unfit[] = [];
  for (const { line, evidence } of recorded) {
    // What was redacted is not known any more; what failed then proves nothing now.
    if (line.isError || line.fault !== undefined || line.redacted.length > 0 || catalog.tools.has(line.tool as ToolKey)) continue;
    const mapped = presentCall(line, { tools: catalog.tools, departed: catalog.departed, links }, "any");
    if (mapped === undefined) continue;
    const of = `call ${line.seq} of ${line.episode}`;
    if (validates(mapped.tool.inputSchema, mapped.args) === false) {
      unfit.push({ of, why: `its arguments do not fit ${mapped.tool.key}` });
      continue;
    }
    const id = sha256(canonicalJson([mapped.tool.key, mapped.tool.digests.contract, mapped.args]));
    const probe = { id, tool: mapped.tool, args: mapped.args, of, expects: expectations(line, evidence, skill) };
    if (!probes.has(id)) probes.set(id, probe);
  }
  return { probes: [...probes.values()], unfit };
}

/** What was read of the result, by later calls and by skills; where nobody is known to have read anything, every field of it. */
function expectations(
  line: CallLine,
  evidence: Evidence,
  { reads, params }: { readonly reads: readonly string[]; readonly params: Readonly<Record<string, string>> },
): Expectation[] {
  const taken = new Map<string, Set<string>>();
  for (const later of evidence.calls) {
    for (const { to, from } of later.flows) {
      if (from.seq !== line.seq || (from.tool !== undefined && from.tool !== line.tool)) continue;
      const path = starred(from.path);
      const values = taken.get(path) ?? new Set<string>();
      taken.set(path, values);
      const value = later.redacted.some((pointer) => isWithin(to, pointer)) ? undefined : valueAt({ args: later.args }, to);
      if (value !== undefined && value !== null && typeof value !== "object") values.add(textOf(value));
    }
  }
  const fields = line.shape.filter(({ path }) => path !== "" && !/^\/\*$/.test(path));
  const isRead = (path: string): boolean => taken.has(path) || reads.some((read) => covers(read, path));
  const read = fields.filter(({ path }) => isRead(path));
  return (read.length > 0 ? read : fields).map(({ path, type }) => ({
    paths: [...new Set([path, renamed(path, params)])],
    type,
    values: [...(taken.get(path) ?? [])],
  }));
}

/** Holds an answer against what must come back. A list that is empty now says nothing of the fields of its items. */
export function judgeAnswer(probe: Probe, data: JsonValue): ProbeFinding {
  const types = new Map(shapeOf(data).map(({ path, type }) => [path, type]));
  const said = { fields: 0, values: 0 };
  for (const { paths, type, values } of probe.expects) {
    const path = paths.find((one) => types.has(one));
    if (path === undefined) {
      if (paths.some((one) => isEmptied(data, one))) continue;
      return { verdict: "differs", values: 0, text: `${probe.of}: ${paths[0] ?? ""} is not in the answer` };
    }
    const now = types.get(path) ?? "";
    if (now !== type && now !== "null" && type !== "null")
      return { verdict: "differs", values: 0, text: `${probe.of}: ${path} is a ${now} and was a ${type}` };
    const there = values.length === 0 ? undefined : valuesAt(data, path);
    if (there !== undefined && values.some((value) => !there.has(value)))
      return {
        verdict: "differs",
        values: 0,
        text: `${probe.of}: ${path} has another value than the one that was taken from it`,
      };
    said.fields += 1;
    said.values += values.length;
  }
  if (said.fields === 0)
    return { verdict: "silent", values: 0, text: `${probe.of}: answered, and nothing in it could be compared` };
  const values = said.values === 0 ? "" : `, and ${counted(said.values, "value")} that later calls took`;
  return {
    verdict: "agrees",
    values: said.values,
    text: `${probe.of}: answered alike in ${counted(said.fields, "field")}${values}`,
  };
}

function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** Read fields are dotted, with or without `[]` for items; they mean what is inside them too. */
function covers(read: string, path: string): boolean {
  const plain = (parts: readonly string[]): string[] => parts.filter((part) => part !== "" && part !== "[]" && part !== "*");
  const wanted = plain(read.replace(/\[\]/g, ".[]").split("."));
  const there = plain(path.split("/"));
  return wanted.length > 0 && wanted.every((part, n) => there[n] === part);
}

function renamed(path: string, params: Readonly<Record<string, string>>): string {
  return path
    .split("/")
    .map((part) => (Object.hasOwn(params, part) ? params[part] : part))
    .join("/");
}

function starred(path: string): string {
  return path.replace(/\/\d+(?=\/|$)/g, "/*");
}

/** Values are compared as flows compare them: a number and its text are one value. */
function textOf(value: string | number | boolean): string {
  return String(value).trim();
}

function valuesAt(data: JsonValue, path: string): Set<string> {
  return new Set(
    leavesOf(data).flatMap((leaf) => (starred(leaf.path) === path && leaf.value !== null ? [textOf(leaf.value)] : [])),
  );
}

function isWithin(path: string, pointer: string): boolean {
  const at = pointer.startsWith("/args") ? pointer : `/args${pointer}`;
  return path === at || path.startsWith(`${at}/`);
}

function valueAt(root: JsonValue, pointer: string): JsonValue | undefined {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<JsonValue | undefined>(
      (node, part) => (Array.isArray(node) ? node[Number(part)] : isJsonObject(node) ? node[part] : undefined),
      root,
    );
}

/** Is there an empty list on the way to the field? */
function isEmptied(data: JsonValue, path: string): boolean {
  const walk = (node: JsonValue | undefined, parts: readonly string[]): boolean => {
    const [first, ...rest] = parts;
    if (first === undefined || node === undefined) return false;
    if (first === "*") return Array.isArray(node) && (node.length === 0 || node.every((item) => walk(item, rest)));
    return isJsonObject(node) && walk(node[first], rest);
  };
  return walk(data, path.split("/").slice(1));
}
