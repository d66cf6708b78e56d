/**
 * Catalog files: what the command line takes wherever it takes a catalog.
 *
 * Owns: which shapes count as a catalog file, and the labels of their servers.
 * Speaks: parsed JSON: a `tools/list` result (also inside its JSON-RPC answer), `{tools}`, an array of tools each with an optional
 * `server`, or a manifest of ours.
 * Never: reads the file itself; knows what else a file may be (foreign.ts).
 */
import { catalogManifestFormat } from "../model/catalog.js";
import { splitToolKey, type UpstreamLabel } from "../model/ids.js";
import { isJsonObject, kindInWords, type JsonObject, type JsonValue } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import type { ListedTool, Tool, ToolDigests } from "../model/tool.js";
import { escapeText } from "./clean.js";
import { foreignFile, foreignMembers } from "./foreign.js";
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

const ONE_PAGE = "This is one page of a listing (it has a `nextCursor`): bring the tools of all pages into one `tools` array.";

type Found =
  | { readonly kind: "members"; readonly members: readonly unknown[]; readonly server: string | undefined }
  | { readonly kind: "manifest"; readonly tools: Record<string, ToolDigests> };

/**
 * A sentence where it is none. A page of a listing is none: what stands on the other pages would read as removed. `outer`: the server
 * that the document around a result names.
 */
function findTools(json: unknown, outer?: string): Found | string {
  if (Array.isArray(json)) return foundMembers(json, "", outer);
  if (!isJsonObject(json)) return foreignFile(json);
  const { tools, format, server, nextCursor } = json;
  if (isJsonObject(tools) && typeof format === "string" && format.startsWith("catalog-manifest/"))
    return foundManifest(tools, format);
  const isListing = Array.isArray(tools);
  if (!isListing && !isJsonObject(json["result"])) return foreignFile(json);
  const wrong = wrongServer(server, "`server`");
  if (wrong !== undefined) return wrong;
  const named = typeof server === "string" ? server : outer;
  if (!isListing) return findTools(json["result"], named);
  // Cursors are texts; whatever else stands there, the server meant that there is more.
  if (nextCursor !== undefined && nextCursor !== null && nextCursor !== "") return ONE_PAGE;
  return foundMembers(tools, "tools", named);
}

function foundMembers(members: readonly unknown[], place: string, server: string | undefined): Found | string {
  const foreign = foreignMembers(members);
  if (foreign !== undefined) return foreign;
  for (const [index, member] of members.entries()) {
    const wrong = isJsonObject(member) ? wrongServer(member["server"], `\`${place}[${index}].server\``) : undefined;
    if (wrong !== undefined) return wrong;
  }
  return { kind: "members", members, server };
}

/** Whose tool it is decides what it is compared with: a guess would read as one tool removed and another added. */
function wrongServer(server: JsonValue | undefined, where: string): string | undefined {
  if (server === undefined || server === null || (typeof server === "string" && server !== "")) return undefined;
  const came = server === "" ? "empty" : kindInWords(server);
  return `${where} is ${came}: it has to be the label of the upstream, as a text, or be left out (then --label says whose the tools are).`;
}

/** An entry that cannot be read would read as a tool that was removed. */
function foundManifest(tools: JsonObject, format: string): Found | string {
  if (format !== catalogManifestFormat.id)
    return `It is of format ${format}, and this version of STEWARD reads ${catalogManifestFormat.id}.`;
  for (const [key, row] of Object.entries(tools)) {
    const { label, name } = splitToolKey(key);
    if (labelProblem(label) !== undefined || name === "")
      return `\`tools["${escapeText(key)}"]\` is not the key of a tool, label/name: the manifest is damaged.`;
    if (!isDigests(row))
      return `\`tools["${escapeText(key)}"]\` has no digests (contract, text, document, each a text): the manifest is damaged.`;
  }
  return { kind: "manifest", tools: tools as unknown as Record<string, ToolDigests> };
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
  if (!isJsonObject(member) || member["server"] === undefined) return { server: otherwise, listed: member };
  const { server, ...listed }: JsonObject = member;
  return { server: typeof server === "string" ? server : otherwise, listed };
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
