/**
 * Query sets: a catalog and the needs asked of it, with the tools that serve each.
 *
 * Owns: reading `catalog.jsonl` and `queries.jsonl` (plain or gzipped), foreign ids at the door.
 * Speaks: `server::name` outside, tool keys inside; a foreign server's full name becomes the title of its label.
 * Never: scoring.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { foreignLabel, labelProblem } from "../../src/catalog/name.js";
import { toTool } from "../../src/catalog/intake.js";
import type { ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import { toolKey } from "../../src/model/ids.js";
import { isJsonObject } from "../../src/model/json.js";
import type { ListedTool, Tool } from "../../src/model/tool.js";
import { DataFault, folderGiven, plainOrPacked, readPlaced, said, textIn, type Placed } from "./data.js";

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

/** Tools of a catalog file, with labels for foreign server names. */
export function readToolSet(path: string): ToolSet & { labels: ReadonlyMap<string, UpstreamLabel> } {
  const rows = readPlaced(path).map((placed) => ({
    at: placed.at,
    server: textIn(placed, "server", "the name of the server that has the tool"),
    listed: listedIn(placed),
  }));
  if (rows.length === 0) throw new DataFault(`${path} has no tool; write one a line: ${CATALOG_FORM}`);
  const labels = labelServers([...new Set(rows.map(({ server }) => server))]);
  const tools = new Map<ToolKey, Tool>();
  const places = new Map<ToolKey, string>();
  for (const { at, server, listed } of rows) {
    const label = labels.get(server);
    if (label === undefined) continue;
    const key = toolKey(label, listed.name);
    const before = places.get(key);
    if (before !== undefined)
      throw new DataFault(
        `${at}: name ${JSON.stringify(listed.name)} of server ${JSON.stringify(server)} was given before, at ${before}; give each tool once.`,
      );
    places.set(key, at);
    tools.set(key, toTool(label, listed));
  }
  const servers = new Map([...labels].map(([server, label]) => [label as string, server]));
  return { tools: [...tools.values()], servers, labels };
}

const CATALOG_FORM = '{"server": "shop", "name": "get_order", "description": "…", "inputSchema": {"type": "object"}}';
const QUERY_FORM = '{"id": "q1", "query": "look an order up", "gold": ["shop::get_order"]}';

function listedIn(placed: Placed): ListedTool {
  const { at, row } = placed;
  const { server: _server, ...listed } = row;
  textIn(placed, "name", "the tool's name");
  const { description, inputSchema } = row;
  if (description !== undefined && typeof description !== "string")
    throw new DataFault(`${at}: description is ${said(description)}; it has to be a text, or left out.`);
  if (!isJsonObject(inputSchema))
    throw new DataFault(
      `${at}: inputSchema is ${said(inputSchema)}; it has to be a JSON Schema of an object, at least {"type": "object"}.`,
    );
  return listed as unknown as ListedTool;
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

/**
 * The sets below a folder (or its `retrieval/`): each folder with both files, plain or gzipped, or the folder itself. Sorted by name.
 * What has one of the two files alone is told to `warn`; no set at all is a DataFault.
 */
export function readQuerySets(root: string, warn: (text: string) => void = (text) => console.error(text)): QuerySet[] {
  folderGiven(root);
  const folder = existsSync(join(root, "retrieval")) ? join(root, "retrieval") : root;
  const folders = [
    folder,
    ...readdirSync(folder, { withFileTypes: true })
      .filter(isFolder)
      .map(({ name }) => join(folder, name))
      .sort(),
  ];
  const places = folders.flatMap((path): SetPlace[] => {
    const [catalog, queries] = [plainOrPacked(join(path, CATALOG)), plainOrPacked(join(path, QUERIES))];
    if (catalog !== undefined && queries !== undefined) return [{ folder: path, catalog, queries }];
    if (catalog !== undefined || queries !== undefined)
      warn(
        `${path} is left out: it has ${catalog === undefined ? QUERIES : CATALOG} and no ${catalog === undefined ? CATALOG : QUERIES}`,
      );
    return [];
  });
  if (places.length === 0)
    throw new DataFault(
      `${folder} has no set: a set is a folder with ${CATALOG} (${CATALOG_FORM} a line) and ${QUERIES} (${QUERY_FORM} a line), each plain or as .gz.`,
    );
  return (places[0]?.folder === folder ? places.slice(0, 1) : places).map(readQuerySet);
}

const CATALOG = "catalog.jsonl";
const QUERIES = "queries.jsonl";

interface SetPlace {
  readonly folder: string;
  readonly catalog: string;
  readonly queries: string;
}

function isFolder(entry: { isDirectory(): boolean; isSymbolicLink(): boolean }): boolean {
  return entry.isDirectory() || entry.isSymbolicLink();
}

function readQuerySet(place: SetPlace): QuerySet {
  const { tools, servers, labels } = readToolSet(place.catalog);
  const known = new Set<string>(tools.map(({ key }) => key));
  const ids = new Set<string>();
  const queries = readPlaced(place.queries).map((placed): SetQuery => {
    const id = textIn(placed, "id", "a text of its own");
    if (ids.has(id)) throw new DataFault(`${placed.at}: id ${JSON.stringify(id)} was given before; each query needs its own.`);
    ids.add(id);
    const { kind } = placed.row;
    return {
      id,
      text: textIn(placed, "query", "the need in plain words"),
      gold: goldIn(placed, { labels, known, catalog: place.catalog }),
      kind: typeof kind === "string" ? kind : "",
      split: splitIn(placed),
    };
  });
  if (queries.length === 0) throw new DataFault(`${place.queries} has no query; write one a line: ${QUERY_FORM}`);
  return { name: basename(place.folder), tools, servers, queries };
}

const SPLITS = ["experience", "test"];

/** What a query is for; empty where the row does not say. */
function splitIn({ at, row }: Placed): string {
  const { split } = row;
  if (split === undefined || split === null || split === "") return "";
  if (typeof split === "string" && SPLITS.includes(split)) return split;
  throw new DataFault(
    `${at}: split is ${said(split)}; it has to be ${SPLITS.map((one) => `"${one}"`).join(" or ")}, or left out.`,
  );
}

/** The tools that serve a query, each of them in the catalog. */
function goldIn(
  { at, row }: Placed,
  of: { readonly labels: ReadonlyMap<string, UpstreamLabel>; readonly known: ReadonlySet<string>; readonly catalog: string },
): ReadonlySet<ToolKey> {
  const { gold } = row;
  if (!Array.isArray(gold) || gold.length === 0 || !gold.every((id) => typeof id === "string"))
    throw new DataFault(`${at}: gold is ${said(gold)}; it has to list the right tools as "server::name", at least one.`);
  return new Set(
    gold.map((id) => {
      const cut = id.indexOf("::");
      const server = cut < 0 ? "" : id.slice(0, cut);
      const key = toolKey(of.labels.get(server) ?? server, id.slice(cut < 0 ? 0 : cut + 2));
      if (!of.known.has(key))
        throw new DataFault(
          `${at}: gold names ${JSON.stringify(id)}, which ${of.catalog} does not have; write it as "server::name" of a tool there.`,
        );
      return key;
    }),
  );
}
