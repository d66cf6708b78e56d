/** Files that a rehearsal is given: read, unpacked, and refused by name where what they say could be taken for something else. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { escapeText } from "../catalog/clean.js";
import { readCatalogFile } from "../catalog/files.js";
import { labelProblem } from "../catalog/name.js";
import { decodeText, parseJsonc, SyntaxMistake } from "../config/text.js";
import { Fault } from "../model/fault.js";
import type { UpstreamLabel } from "../model/ids.js";
import { isJsonObject, JSON_LEVELS, type JsonValue } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import type { ListedTool, Tool } from "../model/tool.js";
import { definitionsIn } from "../store/peek.js";
import { places } from "../store/places.js";
import { CliFault, EXIT } from "../surfaces/cli/access.js";
import { kindOfBytes, kindOfText } from "./kinds.js";

/** A packed catalog is unpacked up to this: the largest known one has 60 MB. */
const UNPACKED_BYTES = 512 * 1024 * 1024;

export interface ReadTools {
  readonly tools: readonly Tool[];
  /** Upstreams whose listing the file is; one of them may have no tool. */
  readonly labels: readonly UpstreamLabel[];
  readonly problems: readonly Problem[];
  readonly isManifest: boolean;
}

export function isServersFile(json: JsonValue): boolean {
  return isJsonObject(json) && (isJsonObject(json["mcpServers"]) || isJsonObject(json["servers"]));
}

export interface ReadJson {
  readonly json: JsonValue;
  /** What was read otherwise than it may have been meant. */
  readonly problems: readonly Problem[];
}

/** JSON (with comments) of a file, packed with gzip or not. Throws CliFault with the path, what the file is instead, and the way out. */
export function readJson(cwd: string, path: string): ReadJson {
  const bytes = unpacked(path, readBytes(cwd, path));
  const foreign = kindOfBytes(bytes);
  if (foreign !== undefined) throw new CliFault(`${path} ${foreign}.`, EXIT.usage);
  const text = inWords(() => decodeText(bytes, path));
  try {
    // A tool that the daemon would leave out for its depth is left out here as well, not the file.
    const { value, twice } = parseJsonc(text, JSON_LEVELS);
    return { json: value, problems: twice.map((name) => writtenTwice(path, name)) };
  } catch (error) {
    if (!(error instanceof SyntaxMistake)) throw error;
    const kind = kindOfText(text);
    throw new CliFault(kind === undefined ? `${path}, ${error.message}.` : `${path} ${kind}.`, EXIT.usage);
  }
}

function inWords<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) throw new CliFault(error.detail, EXIT.usage);
    throw error;
  }
}

function writtenTwice(path: string, name: string): Problem {
  return { code: "name-twice", where: path, text: `${escapeText(name)} stands there twice; the later one counts.` };
}

function readBytes(cwd: string, path: string): Uint8Array {
  try {
    return readFileSync(resolve(cwd, path));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFault(`${path} cannot be read (${why}); ${wayFrom(cwd, path)}.`, EXIT.usage);
  }
}

/** From what is no file to what is meant. */
function wayFrom(cwd: string, path: string): string {
  const [, version] = /^v(?:ersion ?)?(\d+)$/i.exec(path) ?? [];
  if (version !== undefined) return `a version of the home is given by its number alone: ${version}`;
  if (existsSync(join(resolve(cwd, path), places.versions)))
    return "it is a home: name it with --home and give the number of one of its versions, or a manifest in its catalog/versions";
  return "give a catalog file or the number of a version, to `check` an mcpServers file as well";
}

function unpacked(path: string, bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: UNPACKED_BYTES });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFault(`${path} is packed with gzip and cannot be unpacked (${why}).`, EXIT.usage);
  }
}

/** The tools of a catalog file. `label`: as it was asked for; `otherwise`: where nobody says whose they are. A manifest's definitions are those of the home it lies in, else of the home at hand. */
export async function readTools(
  cwd: string,
  path: string,
  options: {
    readonly read?: ReadJson;
    readonly home: string;
    readonly label: string | undefined;
    readonly otherwise: string | undefined;
  },
): Promise<ReadTools> {
  const { home } = options;
  const label = options.label ?? options.otherwise;
  const wrong = label === undefined ? undefined : labelProblem(label);
  if (wrong !== undefined) throw new CliFault(`--label ${label ?? ""}: ${wrong.text}`, EXIT.usage);
  const { json, problems } = options.read ?? readJson(cwd, path);
  const isManifest = isJsonObject(json) && isJsonObject(json["tools"]);
  const documents = isManifest ? await documentsFor(json["tools"] ?? null, [ownHome(cwd, path), home]) : undefined;
  const read = readCatalogFile(json, {
    ...(label === undefined ? {} : { label }),
    ...(documents === undefined ? {} : { documents }),
  });
  const unreadable = read.problems.find((problem) => problem.code === "catalog-file-unreadable");
  if (unreadable !== undefined) throw new CliFault(`${path}: ${unreadable.text}`, EXIT.usage);
  refuseMissing(path, read.problems);
  return {
    tools: read.tools,
    labels: read.labels,
    problems: [
      ...problems,
      ...unusedLabel(path, options.label, read.labels),
      ...read.problems.map((problem) => ({ ...problem, where: problem.where === "" ? path : `${path}: ${problem.where}` })),
    ],
    isManifest,
  };
}

/** Whoever names a label expects the tools under it. */
function unusedLabel(path: string, label: string | undefined, labels: readonly string[]): Problem[] {
  if (label === undefined || labels.length === 0 || labels.includes(label)) return [];
  const text = `its tools say themselves whose they are (${labels.join(", ")}); --label ${label} is of none of them.`;
  return [{ code: "label-unused", where: path, text }];
}

/** A tool without its definition would read as one that was removed. */
function refuseMissing(path: string, problems: readonly Problem[]): void {
  const missing = problems.filter((problem) => problem.code === "catalog-file-definition-missing");
  const [first] = missing;
  if (first === undefined) return;
  const what = `${missing.length} of its tools (${first.where}${missing.length > 1 ? ", …" : ""})`;
  const way = "give it where it lies, in catalog/versions of its home with catalog/tools beside it";
  throw new CliFault(
    `${path} is a manifest, and the definitions of ${what} are neither in its home nor in this one: ${way}.`,
    EXIT.usage,
  );
}

/** `<home>/catalog/versions/000042.json` lies in a home of its own. */
function ownHome(cwd: string, path: string): string {
  return resolve(dirname(resolve(cwd, path)), ...places.versions.split("/").map(() => ".."));
}

async function documentsFor(rows: JsonValue, homes: readonly string[]): Promise<ReadonlyMap<string, ListedTool>> {
  const digests = new Set<string>();
  for (const row of isJsonObject(rows) ? Object.values(rows) : [])
    if (isJsonObject(row) && typeof row["document"] === "string") digests.add(row["document"]);
  const documents = new Map<string, ListedTool>();
  for (const home of homes) {
    const missing = [...digests].filter((digest) => !documents.has(digest));
    for (const [digest, listed] of await definitionsIn(join(home), missing)) documents.set(digest, listed);
  }
  return documents;
}
