/**
 * Query sets: a catalog and the needs asked of it, with the tools that serve each.
 *
 * Owns: reading `catalog.jsonl` and `queries.jsonl` (plain or gzipped), foreign ids at the door.
 * Speaks: `server::name` outside, tool keys inside; a foreign server's full name becomes the title of its label.
 * Never: scoring.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { foreignLabel, labelProblem } from "../../src/catalog/name.js";
import { toTool } from "../../src/catalog/intake.js";
import type { ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import { toolKey } from "../../src/model/ids.js";
import type { ListedTool, Tool } from "../../src/model/tool.js";

export interface SetQuery {
  readonly id: string;
  readonly text: string;
  readonly gold: ReadonlySet<ToolKey>;
  readonly kind: string;
  /** `experience` may teach, `test` is asked; empty where a set does not say. */
  readonly split: string;
}

export interface ToolSet {
  readonly tools: readonly Tool[];
  /** Label → the server's name as written in the file. */
  readonly servers: ReadonlyMap<string, string>;
}

export interface QuerySet extends ToolSet {
  readonly name: string;
  readonly queries: readonly SetQuery[];
}

interface CatalogRow {
  readonly server: string;
  readonly name: string;
}
interface QueryRow {
  readonly id: string;
  readonly query: string;
  readonly gold: readonly string[];
  readonly kind?: string;
  readonly split?: string;
}

/** Rows of a JSON Lines file; a name ending in `.gz` is unpacked. */
export function readRows<Row>(path: string): Row[] {
  const bytes = readFileSync(path);
  const text = path.endsWith(".gz") ? gunzipSync(bytes).toString("utf8") : bytes.toString("utf8");
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Row);
}

/** Tools of a catalog file, with labels for foreign server names. */
export function readToolSet(path: string): ToolSet & { labels: ReadonlyMap<string, UpstreamLabel> } {
  const rows = readRows<CatalogRow & ListedTool>(path);
  const labels = labelServers([...new Set(rows.map(({ server }) => server))]);
  const tools = new Map<ToolKey, Tool>();
  for (const { server, ...listed } of rows) {
    const label = labels.get(server);
    if (label === undefined) continue;
    const key = toolKey(label, String(listed.name));
    if (!tools.has(key)) tools.set(key, toTool(label, listed as ListedTool));
  }
  const servers = new Map([...labels].map(([server, label]) => [label as string, server]));
  return { tools: [...tools.values()], servers, labels };
}

/** Names that are labels keep themselves; the others are given what is left. */
function labelServers(names: readonly string[]): ReadonlyMap<string, UpstreamLabel> {
  const labels = new Map<string, UpstreamLabel>();
  const taken = new Set<string>();
  const fine = names.filter((name) => labelProblem(name) === undefined);
  for (const name of [...fine, ...names.filter((name) => labelProblem(name) !== undefined)]) {
    const label = foreignLabel(name, taken);
    taken.add(label);
    labels.set(name, label);
  }
  return labels;
}

/** A set with further tools in its catalog; what has the name or the key of one of its own is left out, as a copy of it. */
export function among(set: QuerySet, more: ToolSet, name: string): QuerySet {
  const names = new Set(set.tools.map((tool) => tool.name));
  const keys = new Set(set.tools.map((tool) => tool.key));
  const others = more.tools.filter((tool) => !names.has(tool.name) && !keys.has(tool.key));
  return { ...set, name, tools: [...set.tools, ...others], servers: new Map([...more.servers, ...set.servers]) };
}

/** At most `count` of them, evenly spaced: the same in every run. */
export function evenly<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, i) => items[Math.floor(((i + 0.5) * items.length) / count)]).filter(
    (item) => item !== undefined,
  );
}

/** The sets below a folder (or its `retrieval/`): each folder with both files, or the folder itself. Sorted by name. */
export function readQuerySets(root: string): QuerySet[] {
  const folder = existsSync(join(root, "retrieval")) ? join(root, "retrieval") : root;
  const has = (path: string): boolean => existsSync(join(path, "catalog.jsonl")) && existsSync(join(path, "queries.jsonl"));
  const folders = has(folder)
    ? [folder]
    : readdirSync(folder)
        .sort()
        .map((name) => join(folder, name))
        .filter(has);
  return folders.map(readQuerySet);
}

function readQuerySet(folder: string): QuerySet {
  const { tools, servers, labels } = readToolSet(join(folder, "catalog.jsonl"));
  const toKey = (id: string): ToolKey => {
    const cut = id.indexOf("::");
    const server = cut < 0 ? "" : id.slice(0, cut);
    return toolKey(labels.get(server) ?? server, id.slice(cut < 0 ? 0 : cut + 2));
  };
  const queries = readRows<QueryRow>(join(folder, "queries.jsonl")).map((row) => ({
    id: row.id,
    text: row.query,
    gold: new Set(row.gold.map(toKey)),
    kind: row.kind ?? "",
    split: row.split ?? "",
  }));
  return { name: basename(folder), tools, servers, queries };
}
