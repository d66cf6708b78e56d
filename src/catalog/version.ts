/**
 * Catalog versions: immutable numbered snapshots.
 *
 * Owns: when there is a new version, what its manifest says, and the catalog that a manifest and its tools make.
 * Speaks: manifests, digests.
 * Never: files (store/), presence (it is in no digest).
 */
import { catalogManifestFormat, type Catalog, type CatalogManifest, type DepartedTool } from "../model/catalog.js";
import { splitToolKey, type CatalogVersion, type Digest, type Instant, type ToolKey } from "../model/ids.js";
import type { ListedTool, Tool, ToolDigests } from "../model/tool.js";
import { compareCodePoints } from "./canonical.js";
import { catalogDigest } from "./digest.js";
import { toTool } from "./intake.js";

/** No catalog yet. */
export const emptyCatalog: Catalog = Object.freeze({
  version: 0,
  digest: catalogDigest([]),
  time: "",
  tools: new Map<ToolKey, Tool>(),
  departed: new Map<ToolKey, DepartedTool>(),
});

/** Version 0 as every door shows it: nothing was listed yet. It is on no disc. */
export const emptyManifest: CatalogManifest = Object.freeze({
  format: catalogManifestFormat.id,
  version: 0,
  time: "",
  cause: "the beginning: nothing was listed yet",
  digest: emptyCatalog.digest,
  tools: {},
  departed: {},
});

/**
 * The manifest of the next version, or undefined where no digest moved: a listing that says nothing new makes no version.
 * A tool that left is remembered with the digests it had and the last version that had it, until it returns.
 *
 * Its number is above every one that was given (`above`), also where the version that had it can no longer be read: pins, views and
 * takeovers name versions by number, and would mean another catalog.
 */
export function nextManifest(
  previous: Catalog,
  tools: ReadonlyMap<ToolKey, Tool>,
  at: Instant,
  cause: string,
  above: CatalogVersion = previous.version,
): CatalogManifest | undefined {
  if (isSameCatalog(previous, tools)) return undefined;
  const keys = [...tools.keys()].sort(compareCodePoints);
  const departed: CatalogManifest["departed"] = {};
  for (const [key, left] of previous.departed) if (!tools.has(key)) departed[key] = { ...left };
  for (const [key, tool] of previous.tools)
    if (!tools.has(key)) departed[key] = { ...tool.digests, lastVersion: previous.version };
  return {
    format: catalogManifestFormat.id,
    version: Math.max(previous.version, above) + 1,
    time: at,
    cause,
    digest: catalogDigest([...tools].map(([key, tool]) => [key, tool.digests])),
    tools: Object.fromEntries(
      keys.flatMap((key) => {
        const tool = tools.get(key);
        return tool === undefined ? [] : [[key, { ...tool.digests }]];
      }),
    ),
    departed: Object.fromEntries(Object.entries(departed).sort(([a], [b]) => compareCodePoints(a, b))),
  };
}

/** Compared tool by tool: the common no-op listing needs no hash over the whole catalog. */
function isSameCatalog(previous: Catalog, tools: ReadonlyMap<ToolKey, Tool>): boolean {
  if (previous.version === 0 || previous.tools.size !== tools.size) return previous.version === 0 && tools.size === 0;
  for (const [key, tool] of tools) {
    const before = previous.tools.get(key);
    if (before === tool) continue;
    if (before === undefined || before.digests.document !== tool.digests.document) return false;
    if (before.digests.contract !== tool.digests.contract || before.digests.text !== tool.digests.text) return false;
  }
  return true;
}

/** The catalog in memory. `tools` has at least the manifest's tools; those it does not name are left out. */
export function catalogFrom(manifest: CatalogManifest, tools: ReadonlyMap<ToolKey, Tool>): Catalog {
  const present = new Map<ToolKey, Tool>();
  for (const key of Object.keys(manifest.tools).sort(compareCodePoints) as ToolKey[]) {
    const tool = tools.get(key);
    if (tool !== undefined) present.set(key, tool);
  }
  return {
    version: manifest.version,
    digest: manifest.digest as Digest,
    time: manifest.time,
    tools: present,
    departed: new Map(Object.entries(manifest.departed) as [ToolKey, DepartedTool][]),
  };
}

/**
 * The tools that a manifest names, from stored definitions by document digest. The manifest's digests are taken as they are, so
 * nothing is hashed again. A tool whose definition is missing is not in the result (see `missingDocuments`).
 */
export function manifestTools(
  manifest: Pick<CatalogManifest, "tools">,
  documents: ReadonlyMap<string, ListedTool>,
): ReadonlyMap<ToolKey, Tool> {
  const tools = new Map<ToolKey, Tool>();
  for (const key of Object.keys(manifest.tools).sort(compareCodePoints) as ToolKey[]) {
    const digests = manifest.tools[key];
    const listed = digests === undefined ? undefined : documents.get(digests.document);
    if (listed !== undefined) tools.set(key, toTool(splitToolKey(key).label, listed, digests as ToolDigests));
  }
  return tools;
}

/** Tools of a manifest whose definition is not among the documents. */
export function missingDocuments(
  manifest: Pick<CatalogManifest, "tools">,
  documents: ReadonlyMap<string, ListedTool>,
): readonly ToolKey[] {
  return Object.entries(manifest.tools)
    .filter(([, digests]) => !documents.has(digests.document))
    .map(([key]) => key as ToolKey);
}
