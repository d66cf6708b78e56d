import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toTool } from "../../src/catalog/intake.js";
import { catalogFrom, emptyCatalog, manifestTools, missingDocuments, nextManifest } from "../../src/catalog/version.js";
import { catalogManifestFormat, type Catalog } from "../../src/model/catalog.js";
import { splitToolKey, type ToolKey, type UpstreamLabel } from "../../src/model/ids.js";
import type { ListedTool, Tool } from "../../src/model/tool.js";

const at = "2026-01-01T00:00:00.000Z";

/** `a/x:1` = tool x of upstream a, described by 1. */
function toolsOf(...words: string[]): ReadonlyMap<ToolKey, Tool> {
  const tools = words.map((word) => {
    const [key = "", text = ""] = word.split(":");
    const { label, name } = splitToolKey(key);
    return toTool(label, { name, description: text, inputSchema: { type: "object" } });
  });
  return new Map(tools.map((tool) => [tool.key, tool]));
}

function next(previous: Catalog, tools: ReadonlyMap<ToolKey, Tool>): Catalog {
  const manifest = nextManifest(previous, tools, at, "test");
  return manifest === undefined
    ? previous
    : catalogFrom(catalogManifestFormat.schema.parse(JSON.parse(JSON.stringify(manifest))), tools);
}

describe("catalog versions", () => {
  it("an identical listing makes no version [C04]", () => {
    const first = next(emptyCatalog, toolsOf("a/x:1", "a/y:1"));
    expect(first.version).toBe(1);
    expect(nextManifest(first, toolsOf("a/y:1", "a/x:1"), at, "again")).toBeUndefined();
    expect(nextManifest(emptyCatalog, new Map(), at, "nothing yet")).toBeUndefined();
  });

  it("a moved digest makes the next one, and a catalog that becomes empty too", () => {
    const first = next(emptyCatalog, toolsOf("a/x:1"));
    const second = next(first, toolsOf("a/x:2"));
    expect(second.version).toBe(2);
    expect(second.digest).not.toBe(first.digest);
    expect(next(second, new Map()).version).toBe(3);
  });

  it("remembers tools that left with their last digests, until they return", () => {
    const first = next(emptyCatalog, toolsOf("a/x:1", "a/y:1"));
    const second = next(first, toolsOf("a/y:1"));
    const third = next(second, toolsOf("a/y:2"));
    const left = first.tools.get("a/x" as ToolKey)?.digests;
    expect(third.departed.get("a/x" as ToolKey)).toEqual({ ...left, lastVersion: 1 });
    expect(next(third, toolsOf("a/x:1", "a/y:2")).departed.size).toBe(0);
  });

  it("lists tools by the code points of their keys", () => {
    const catalog = next(emptyCatalog, toolsOf("b/a", "a/\u{1f642}", "a/\uff5a", "a/B", "a/a"));
    expect([...catalog.tools.keys()]).toEqual(["a/B", "a/a", "a/\uff5a", "a/\u{1f642}", "b/a"]);
  });

  it("returning to a former listing has its digest again, whatever happened between", () => {
    const word = fc.tuple(fc.constantFrom("a/x", "a/y", "b/x"), fc.constantFrom("1", "2")).map(([key, text]) => `${key}:${text}`);
    const listing = fc.uniqueArray(word, { selector: (text) => text.split(":")[0] ?? "", maxLength: 3 });
    fc.assert(
      fc.property(fc.array(listing, { minLength: 1, maxLength: 6 }), (listings) => {
        let catalog = emptyCatalog;
        const seen = new Map<string, string>();
        for (const words of listings) {
          const moved = next(catalog, toolsOf(...words));
          const id = [...words].sort().join();
          if (moved.version > 0) expect(seen.get(id) ?? moved.digest).toBe(moved.digest);
          seen.set(id, moved.digest);
          expect(moved.version - catalog.version).toBe(moved.digest === catalog.digest ? 0 : 1);
          for (const key of moved.departed.keys()) expect(moved.tools.has(key)).toBe(false);
          catalog = moved;
        }
      }),
    );
  });

  it("can be read back from its manifest and stored definitions, without hashing again", () => {
    const tools = toolsOf("a/x:1", "a/y:2");
    const manifest = nextManifest(emptyCatalog, tools, at, "test");
    if (manifest === undefined) throw new Error("no version");
    const documents = new Map<string, ListedTool>([...tools.values()].map((tool) => [tool.digests.document, tool.document]));
    expect([...manifestTools(manifest, documents)]).toEqual([...catalogFrom(manifest, tools).tools]);
    documents.delete(tools.get("a/x" as ToolKey)?.digests.document ?? "");
    expect([...manifestTools(manifest, documents).keys()]).toEqual(["a/y"]);
    expect(missingDocuments(manifest, documents)).toEqual(["a/x"]);
  });

  it("keeps the label in the tool", () => {
    const tools = toolsOf("a/x/y:1");
    expect(tools.get("a/x/y" as ToolKey)).toMatchObject({ label: "a" as UpstreamLabel, name: "x/y" });
  });
});
