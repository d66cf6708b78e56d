/**
 * Reading the catalog back: manifests by number, definitions by digest.
 */
import { Fault } from "../model/fault.js";
import { catalogManifestFormat, type CatalogManifest, type Holds } from "../model/catalog.js";
import type { Problem } from "../model/problem.js";
import type { Lock } from "../model/skill.js";
import type { ListedTool } from "../model/tool.js";
import { damaged, readText, readWrittenOnce, setAside, type DocumentShelf } from "./documents.js";
import { breathe, toolOf } from "./objects.js";
import { readPack, TOOL_PACK } from "./packs.js";
import { numbersIn } from "./names.js";
import { isDigest, places } from "./places.js";

/** The newest manifest that can be read; damaged newer ones are set aside and named. */
export async function newestManifest(shelf: DocumentShelf, problems: Problem[]): Promise<CatalogManifest | undefined> {
  for (const n of numbersIn(shelf.home, places.versions).reverse()) {
    const manifest = await readWrittenOnce(shelf, catalogManifestFormat, places.version(n), problems);
    if (manifest !== undefined) return manifest;
  }
  return undefined;
}

/** Digests of definitions that the present state refers to: those in the catalog, and those it only remembers. */
export function referredDocuments(
  manifest: CatalogManifest | undefined,
  lock: Lock | undefined,
  holds: Holds,
): { present: Set<string>; remembered: Set<string> } {
  const present = new Set(Object.values(manifest?.tools ?? {}).map(({ document }) => document));
  const remembered = new Set(Object.values(manifest?.departed ?? {}).map(({ document }) => document));
  for (const entry of Object.values(lock?.skills ?? {}))
    for (const { document } of Object.values(entry.verified)) remembered.add(document);
  for (const { from, to } of [...Object.values(holds.held), ...Object.values(holds.review)])
    remembered.add(from.document).add(to.document);
  for (const { document, measure } of Object.values(holds.approved)) {
    remembered.add(document);
    if (measure !== undefined) remembered.add(measure.from.document);
  }
  for (const { from } of [...Object.values(holds.own ?? {}), ...Object.values(holds.heirs ?? {}).flat()])
    remembered.add(from.document);
  for (const digest of present) remembered.delete(digest);
  return { present, remembered };
}

/** Files read before other work may come in between. */
const BETWEEN_BREATHS = 256;

export interface ReadDocuments {
  readonly documents: Map<string, ListedTool>;
  readonly missing: readonly string[];
  /** How many were read from files of their own, not from the pack. */
  readonly unpacked: number;
}

/** Definitions by digest, each checked against it. What is damaged is set aside, so that it can be written again. */
export async function readDefinitions(
  shelf: Pick<DocumentShelf, "home" | "files">,
  digests: Iterable<string>,
  problems: Problem[],
  options: { readonly usePack: boolean },
): Promise<ReadDocuments> {
  const pack = options.usePack ? readPack<ListedTool>(shelf.home, TOOL_PACK) : new Map<string, ListedTool>();
  const documents = new Map<string, ListedTool>();
  const missing: string[] = [];
  let unpacked = 0;
  for (const digest of digests) {
    const packed = pack.get(digest);
    if (packed !== undefined) {
      documents.set(digest, packed);
      continue;
    }
    const document = await readDefinition(shelf, digest, problems);
    if (document === undefined) missing.push(digest);
    else documents.set(digest, document);
    unpacked += 1;
    if (unpacked % BETWEEN_BREATHS === 0) await breathe();
  }
  return { documents, missing, unpacked };
}

async function readDefinition(
  shelf: Pick<DocumentShelf, "home" | "files">,
  digest: string,
  problems: Problem[],
): Promise<ListedTool | undefined> {
  const place = places.tool(digest);
  const text = isDigest(digest) ? readText(shelf.home, place) : undefined;
  if (text === undefined) return undefined;
  const document = toolOf(digest, text);
  if (document === undefined) {
    const why = "its content is not the one its name stands for";
    problems.push(damaged(place, why, await setAside(shelf, place), "The next listing of its upstream brings it back."));
  }
  return document;
}

/** All of them, or Fault `home-damaged` naming the first that is missing or does not hash. */
export async function requireDefinitions(
  shelf: Pick<DocumentShelf, "home" | "files">,
  digests: readonly string[],
): Promise<ReadonlyMap<string, ListedTool>> {
  const { documents, missing } = await readDefinitions(shelf, digests, [], { usePack: false });
  const [first] = missing;
  if (first !== undefined) {
    throw new Fault("home-damaged", `Definition ${first} is missing or damaged in ${places.tools}.`, {
      digest: first,
      missing: missing.length,
    });
  }
  return documents;
}
