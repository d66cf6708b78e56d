/** Kept catalog versions: their manifests, and one read back whole. */
import { definitionFault, versionFault } from "../catalog/kept.js";
import { catalogFrom, emptyManifest, manifestTools } from "../catalog/version.js";
import type { Catalog, CatalogManifest } from "../model/catalog.js";
import { Fault } from "../model/fault.js";
import { isJsonObject } from "../model/json.js";
import type { VersionSummary } from "../model/operations.js";
import type { Store } from "../model/ports.js";
import type { ListedTool } from "../model/tool.js";
import type { Desk } from "./desk.js";

/** What versions are read from: the store of a daemon, or a home that is only looked at. */
type Shelf = Pick<Store, "readManifest" | "keptVersions" | "readDocuments">;

/** A kept catalog version, whole. Throws as `readVersion` does. */
export async function catalogAt(desk: Desk, version: number): Promise<Catalog> {
  const { catalog } = desk.steward.world();
  return version === catalog.version ? catalog : await readVersion(desk.store, version);
}

/** The same from the disc. Throws as `readManifest` does, and Fault `version-damaged` where a definition is not there. */
export async function readVersion(shelf: Shelf, version: number): Promise<Catalog> {
  const manifest = await readManifest(shelf, version);
  const documents = await readDefinitions(shelf, manifest);
  return catalogFrom(manifest, manifestTools(manifest, documents));
}

/** Throws Fault `version-unknown` or `version-damaged`. Version 0 is the empty catalog that every history begins with. */
export async function readManifest(shelf: Shelf, version: number): Promise<CatalogManifest> {
  if (version === 0) return emptyManifest;
  const manifest = await shelf.readManifest(version);
  if (manifest === undefined) throw versionFault(version, await shelf.keptVersions(version));
  return manifest;
}

/** All definitions that a manifest names. Throws Fault `version-damaged` naming a tool whose definition is not there. */
export async function readDefinitions(
  shelf: Shelf,
  { version, tools }: Pick<CatalogManifest, "version" | "tools">,
): Promise<ReadonlyMap<string, ListedTool>> {
  try {
    return await shelf.readDocuments([...new Set(Object.values(tools).map(({ document }) => document))]);
  } catch (error) {
    const lost = error instanceof Fault && error.code === "home-damaged" && isJsonObject(error.data) ? error.data : {};
    const tool = Object.keys(tools).find((key) => tools[key]?.document === lost["digest"]);
    if (tool === undefined) throw error;
    throw definitionFault(version, { tool, file: String(lost["file"]), more: Number(lost["missing"]) - 1 });
  }
}

export async function listVersions(desk: Desk): Promise<VersionSummary[]> {
  const manifests = [...(await desk.store.listManifests())].sort((a, b) => a.version - b.version);
  const { damaged } = await desk.store.keptVersions();
  const lost = damaged.map(({ version, file, why }) => {
    const counts = { tools: 0, added: 0, removed: 0, changed: 0 };
    return { version, time: "", cause: "damaged", digest: "", ...counts, damaged: `${file}: ${why}` };
  });
  return [...manifests.map((one, index) => summaryOf(one, manifests[index - 1])), ...lost].sort((a, b) => a.version - b.version);
}

/** What a version is, and what moved since the one before it that can be read. */
function summaryOf(manifest: CatalogManifest, previous: CatalogManifest | undefined): VersionSummary {
  const before: CatalogManifest["tools"] = previous?.tools ?? {};
  const keys = Object.keys(manifest.tools);
  return {
    version: manifest.version,
    time: manifest.time,
    cause: manifest.cause,
    digest: manifest.digest,
    tools: keys.length,
    added: keys.filter((key) => before[key] === undefined).length,
    removed: Object.keys(before).filter((key) => manifest.tools[key] === undefined).length,
    changed: keys.filter((key) => before[key] !== undefined && before[key].document !== manifest.tools[key]?.document).length,
  };
}
