/**
 * Reading the catalog back: manifests by number, definitions by digest.
 */
import { Fault } from "../model/fault.js";
import {
  catalogManifestFormat,
  type CatalogManifest,
  type DamagedVersion,
  type Holds,
  type KeptVersions,
} from "../model/catalog.js";
import type { Problem } from "../model/problem.js";
import type { Lock } from "../model/skill.js";
import type { ListedTool } from "../model/tool.js";
import { Damage, damaged, parseDocument, readText, readWrittenOnce, setAside, type DocumentShelf } from "./documents.js";
import { breathe, toolOf } from "./objects.js";
import { readPack, TOOL_PACK } from "./packs.js";
import { damagedIn, numbersIn } from "./names.js";
import { isDigest, places } from "./places.js";

/** The newest manifest that can be read; damaged newer ones are set aside and named. */
export async function newestManifest(shelf: DocumentShelf, problems: Problem[]): Promise<CatalogManifest | undefined> {
  for (const n of numbersIn(shelf.home, places.versions).reverse()) {
    const manifest = await readWrittenOnce(shelf, catalogManifestFormat, places.version(n), problems);
    if (manifest !== undefined) return manifest;
  }
  return undefined;
}

/** Which versions lie there. Of those that do, only the file of `asked` is looked into; what was set aside is known by its name. */
export function keptVersions(shelf: Pick<DocumentShelf, "home" | "migrations">, asked?: number): KeptVersions {
  const { home } = shelf;
  const present = numbersIn(home, places.versions);
  const there = new Set(present);
  const damages: DamagedVersion[] = [];
  const look = (version: number, file: string): boolean => {
    const why = damageOf(shelf, file);
    if (why !== undefined) damages.push({ version, file, place: places.version(version), why });
    return why !== undefined;
  };
  const unreadable = asked !== undefined && there.has(asked) && look(asked, places.version(asked));
  for (const [version, name] of damagedIn(home, places.versions))
    if (!there.has(version)) look(version, `${places.versions}/${name}`);
  return {
    kept: unreadable ? present.filter((n) => n !== asked) : present,
    damaged: damages.sort((a, b) => a.version - b.version),
  };
}

/** Why a manifest cannot be read. One that was set aside and is whole (mended there) still has to be put back. */
function damageOf({ home, migrations }: Pick<DocumentShelf, "home" | "migrations">, file: string): string | undefined {
  const isAside = !file.endsWith(".json");
  try {
    parseDocument(catalogManifestFormat, readText(home, file) ?? "", file, migrations);
    return isAside ? "it was set aside" : undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    if (error instanceof Fault) return isAside ? error.detail : undefined;
    throw error;
  }
}

/** Versions that only a damaged manifest is left of: as long as it lies there, whatever start set it aside. */
export function lostVersions(shelf: Pick<DocumentShelf, "home" | "migrations">): Problem[] {
  return keptVersions(shelf).damaged.map(({ version, file, place, why }) => ({
    code: "version-damaged",
    where: file,
    text: `It was the manifest of catalog version ${version} and is damaged: ${why}. That version cannot be shown, compared or pinned to until a good copy is put back as ${place}.`,
  }));
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
  shelf: Pick<DocumentShelf, "home" | "files" | "looksOnly">,
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
  shelf: Pick<DocumentShelf, "home" | "files" | "looksOnly">,
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
    const way = "put a good copy back, or list its upstream, which writes it again where it is still listed so";
    throw new Fault("home-damaged", `A stored definition is missing or damaged: ${places.tool(first)}; ${way}.`, {
      digest: first,
      file: places.tool(first),
      missing: missing.length,
    });
  }
  return documents;
}
