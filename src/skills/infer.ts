/**
 * Inferred dependencies: what a skill of another author seems to need of the tools that are there.
 *
 * Owns: how prose names a tool (`label/tool`, `mcp__label__tool`, `label:tool`, a bare name in a code span).
 * Speaks: a body and the catalog's tools in, requirements marked `inferred` out.
 * Never: certainty; a requirement stays inferred until a person or a replay confirms it.
 */
import type { ToolKey } from "../model/ids.js";
import { isJsonObject } from "../model/json.js";
import type { Contract, Requirement, Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { codeSpans, withoutFences } from "./mentions.js";

/** Longer runs of letters are no name of a tool or parameter. */
const WORD_CHARS = 200;
/** Words without a separator are too common to be a tool's name in plain prose. */
const PLAIN_NAME = /^[a-z0-9]+(?:[_-][a-z0-9]+)+$|^[a-z]+(?:[A-Z][a-z0-9]*)+$/;

/**
 * Requirements read out of a body, in order of first mention. A name shared by several upstreams becomes a group of
 * alternatives. Parameters are those of the tool that its own paragraph names.
 */
export function inferRequirements(body: string, tools: ReadonlyMap<ToolKey, Tool>): Requirement[] {
  const byName = new Map<string, Tool[]>();
  for (const tool of tools.values()) byName.set(tool.name, [...(byName.get(tool.name) ?? []), tool]);
  const found = new Map<ToolKey, { tool: Tool; params: Set<string>; group: string | undefined }>();

  for (const paragraph of paragraphs(body)) {
    const words = wordsOf(paragraph);
    for (const { named, group } of namedTools(paragraph, words, tools, byName)) {
      for (const tool of named) {
        const entry = found.get(tool.key) ?? { tool, params: new Set<string>(), group };
        if (group === undefined) entry.group = undefined;
        for (const name of parametersOf(tool)) if (words.has(name)) entry.params.add(name);
        found.set(tool.key, entry);
      }
    }
  }
  return [...found.values()].map(({ tool, params, group }) => ({
    tool: tool.key,
    contractDigest: tool.digests.contract,
    params: [...params],
    reads: [],
    ...(group === undefined ? {} : { anyGroup: group }),
    inferred: true,
  }));
}

/** The contract of a skill with inferred requirements added for tools its stated contract does not name. */
export function withInferred(skill: Skill, tools: ReadonlyMap<ToolKey, Tool>): Contract {
  const stated = new Set(skill.contract.requires.map((requirement) => requirement.tool));
  const inferred = inferRequirements(skill.body, tools).filter((requirement) => !stated.has(requirement.tool));
  return inferred.length === 0 ? skill.contract : { ...skill.contract, requires: [...skill.contract.requires, ...inferred] };
}

function namedTools(
  paragraph: string,
  words: ReadonlySet<string>,
  tools: ReadonlyMap<ToolKey, Tool>,
  byName: ReadonlyMap<string, readonly Tool[]>,
): { named: readonly Tool[]; group: string | undefined }[] {
  const results: { named: readonly Tool[]; group: string | undefined }[] = [];
  const spans = codeSpans(paragraph).map((span) => span.split("(")[0] ?? span);
  const qualifiedWords = paragraph
    .split(/[^A-Za-z0-9._/:-]+/)
    .filter((word) => word.length <= WORD_CHARS && /\/|:|__/.test(word));
  for (const candidate of new Set([...spans, ...qualifiedWords])) {
    const key = candidate.length > WORD_CHARS ? undefined : asKey(candidate.replace(/[.:]+$/, ""), tools);
    const tool = key === undefined ? undefined : tools.get(key);
    if (tool !== undefined) results.push({ named: [tool], group: undefined });
  }
  const qualified = new Set(results.flatMap(({ named }) => named.map((tool) => tool.name)));
  const bare = new Set([...spans, ...[...words].filter((word) => PLAIN_NAME.test(word))]);
  for (const name of bare) {
    const named = byName.get(name);
    if (named === undefined || qualified.has(name)) continue;
    results.push({ named, group: named.length > 1 ? `any-${name}` : undefined });
  }
  return results;
}

function wordsOf(paragraph: string): ReadonlySet<string> {
  const words = paragraph.split(/[^\p{L}\p{N}_.-]+/u).filter((word) => word !== "" && word.length <= WORD_CHARS);
  return new Set(words.map((word) => word.replace(/^[.-]+|[.-]+$/g, "")));
}

function asKey(text: string, tools: ReadonlyMap<ToolKey, Tool>): ToolKey | undefined {
  const forms = [text];
  const client = /^mcp__(.+?)__(.+)$/.exec(text);
  if (client !== null) forms.push(`${client[1] ?? ""}/${client[2] ?? ""}`);
  const colon = /^([^:/]+):([^/:].*)$/.exec(text);
  if (colon !== null) forms.push(`${colon[1] ?? ""}/${colon[2] ?? ""}`);
  const double = /^([^/]+?)__(.+)$/.exec(text);
  if (double !== null) forms.push(`${double[1] ?? ""}/${double[2] ?? ""}`);
  return forms.find((form) => tools.has(form as ToolKey)) as ToolKey | undefined;
}

function parametersOf(tool: Tool): string[] {
  const properties = tool.inputSchema["properties"];
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

/** Paragraphs and list items, each a unit of meaning; fenced blocks are examples and count as their own paragraph. */
function paragraphs(body: string): string[] {
  const prose = withoutFences(body).join("\n");
  return prose.split(/\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)/).filter((text) => text.trim() !== "");
}
