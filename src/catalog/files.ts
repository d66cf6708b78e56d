/**
 * Catalog files: what the command line takes wherever it takes a catalog.
 *
 * Owns: which shapes count as a catalog file, and the labels of their servers.
 * Speaks: parsed JSON: a `tools/list` result (also inside its JSON-RPC answer), `{tools}`, an array of tools each with an optional
 * `server`, or a manifest of ours.
 * Never: reads the file itself.
 */
import { catalogManifestFormat } from "../model/catalog.js";
import { splitToolKey, type UpstreamLabel } from "../model/ids.js";
import { isJsonObject, type JsonObject } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import type { ListedTool, Tool, ToolDigests } from "../model/tool.js";
import { escapeText } from "./clean.js";
import { readListing } from "./intake.js";
import { foreignLabel, labelProblem } from "./name.js";
import { manifestTools, missingDocuments } from "./version.js";

/** Label of tools that name no server, where the caller gives none. */
const UNNAMED = "file";

export interface CatalogFileOptions {
  /** Label for tools that name no server. Default `file`. */
  readonly label?: string;
  /** Stored definitions by document digest: a manifest names its tools by digest only. */
  readonly documents?: ReadonlyMap<string, ListedTool>;
}

/** Never throws: what is not a catalog file has no tools and one problem that says so. */
export function readCatalogFile(json: unknown, options: CatalogFileOptions = {}): CatalogFile {
  const found = findTools(json);
  if (typeof found === "string")
    return { tools: [], labels: [], problems: [{ code: "catalog-file-unreadable", where: "", text: found }] };
  if (found.kind === "manifest") return readManifest(found.tools, options.documents);
  const server = found.server ?? options.label;
  const read = readMembers(found.members, server ?? UNNAMED);
  const isNamed = found.members.length > 0 || server === undefined;
  return isNamed ? read : { ...read, labels: [foreignLabel(server, new Set())] };
}

/** What a file has. `labels`: the upstreams whose listing it is; one of them may have no tool that can be read. */
export interface CatalogFile {
  readonly tools: Tool[];
  readonly labels: UpstreamLabel[];
  readonly problems: Problem[];
}

const EXPECTED =
  "This is no catalog file: expected a tools/list result, an object with `tools`, an array of tools, or a catalog manifest.";

const ONE_PAGE = "This is one page of a listing (it has a `nextCursor`): bring the tools of all pages into one `tools` array.";

type Found =
  | { readonly kind: "members"; readonly members: readonly unknown[]; readonly server: string | undefined }
  | { readonly kind: "manifest"; readonly tools: Record<string, ToolDigests> };

/** A sentence where it is none. A page of a listing is none: what stands on the other pages would read as removed. */
function findTools(json: unknown): Found | string {
  if (Array.isArray(json)) return { kind: "members", members: json, server: undefined };
  if (!isJsonObject(json)) return EXPECTED;
  const tools = json["tools"];
  if (Array.isArray(tools)) {
    const { server, nextCursor } = json;
    if (typeof nextCursor === "string" && nextCursor !== "") return ONE_PAGE;
    return { kind: "members", members: tools, server: typeof server === "string" ? server : undefined };
  }
  const format = json["format"];
  if (isJsonObject(tools) && typeof format === "string" && format.startsWith("catalog-manifest/")) {
    if (format !== catalogManifestFormat.id)
      return `It is of format ${format}, and this version of STEWARD reads ${catalogManifestFormat.id}.`;
    const rows = Object.entries(tools).filter(([, row]) => isDigests(row));
    return { kind: "manifest", tools: Object.fromEntries(rows) as unknown as Record<string, ToolDigests> };
  }
  return isJsonObject(json["result"]) ? findTools(json["result"]) : EXPECTED;
}

function isDigests(row: unknown): boolean {
  return isJsonObject(row) && ["contract", "text", "document"].every((name) => typeof row[name] === "string");
}

function readManifest(tools: Record<string, ToolDigests>, documents: ReadonlyMap<string, ListedTool> | undefined): CatalogFile {
  const known = documents ?? new Map<string, ListedTool>();
  const missing = missingDocuments({ tools }, known);
  const problems = missing.map((key) => ({
    code: "catalog-file-definition-missing",
    where: key,
    text: "The manifest names this tool by digest, and its definition is not stored in this home; it is left out.",
  }));
  const labels = [...new Set(Object.keys(tools).map((key) => splitToolKey(key).label))];
  return { tools: [...manifestTools({ tools }, known).values()], labels, problems };
}

/** `server` is the file's word for the upstream, no part of the tool: without it a definition equals the one an upstream lists. */
function readMembers(members: readonly unknown[], otherwise: string): CatalogFile {
  const byServer = new Map<string, unknown[]>();
  const named = new Set<string>();
  for (const member of members) {
    const { server, listed } = takeServer(member, otherwise);
    // What is no object says nothing of whose listing it is in.
    if (isJsonObject(member)) named.add(server);
    const group = byServer.get(server);
    if (group === undefined) byServer.set(server, [listed]);
    else group.push(listed);
  }
  const labels = labelServers([...byServer.keys()]);
  const tools: Tool[] = [];
  const problems: Problem[] = [];
  for (const [server, group] of byServer) {
    const label = labels.get(server) ?? foreignLabel(server, new Set());
    if (label !== server)
      problems.push({
        code: "catalog-file-label",
        where: escapeText(server),
        text: `The server's name cannot be a label; its tools are read under "${label}".`,
      });
    const read = readListing(label, group);
    tools.push(...read.tools);
    problems.push(...read.problems);
  }
  return { tools, labels: [...labels].filter(([server]) => named.has(server)).map(([, label]) => label), problems };
}

function takeServer(member: unknown, otherwise: string): { server: string; listed: unknown } {
  if (!isJsonObject(member) || typeof member["server"] !== "string") return { server: otherwise, listed: member };
  const { server, ...listed }: JsonObject = member;
  return { server: String(server), listed };
}

/** Names that are labels keep themselves, whatever else the file has; the others are given what is left. */
function labelServers(servers: readonly string[]): ReadonlyMap<string, UpstreamLabel> {
  const labels = new Map<string, UpstreamLabel>();
  const taken = new Set<string>();
  const fine = servers.filter((server) => labelProblem(server) === undefined);
  for (const server of [...fine, ...servers.filter((server) => !fine.includes(server))]) {
    const label = foreignLabel(server, taken);
    labels.set(server, label);
    taken.add(label);
  }
  return labels;
}
