/** Kept catalog versions: their manifests, and one read back whole. */
import { catalogFrom, emptyCatalog, manifestTools } from "../catalog/version.js";
import type { Catalog, CatalogManifest } from "../model/catalog.js";
import { Fault } from "../model/fault.js";
import type { VersionSummary } from "../model/operations.js";
import type { Desk } from "./desk.js";

/** A kept catalog version, whole. Throws Fault `version-unknown`. */
export async function catalogAt(desk: Desk, version: number): Promise<Catalog> {
  if (version === 0) return emptyCatalog;
  const world = desk.steward.world();
  if (version === world.catalog.version) return world.catalog;
  const manifest = await readManifest(desk, version);
  const documents = await desk.store.readDocuments([
    ...new Set(Object.values(manifest.tools).map((digests) => digests.document)),
  ]);
  return catalogFrom(manifest, manifestTools(manifest, documents));
}

export async function readManifest(desk: Desk, version: number): Promise<CatalogManifest> {
  const manifest = await desk.store.readManifest(version);
  if (manifest === undefined) {
    throw new Fault(
      "version-unknown",
      `Version ${version} is not kept; the present one is ${desk.steward.world().catalog.version}.`,
    );
  }
  return manifest;
}

export async function listVersions(desk: Desk): Promise<VersionSummary[]> {
  const manifests = [...(await desk.store.listManifests())].sort((a, b) => a.version - b.version);
  return manifests.map((manifest, index) => {
    const before: CatalogManifest["tools"] = manifests[index - 1]?.tools ?? {};
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
  });
}
