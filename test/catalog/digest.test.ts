import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, sha256 } from "../../src/catalog/canonical.js";
import { catalogDigest, toolContract, toolDigests, toolText } from "../../src/catalog/digest.js";
import { toTool } from "../../src/catalog/intake.js";
import { toolKey, type UpstreamLabel } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import type { ListedTool, ToolDigests } from "../../src/model/tool.js";
import { rewriteCosmetically } from "./rewrite.js";
import { argumentSchema } from "./schemas.js";

interface Vector {
  readonly title: string;
  readonly listed: ListedTool;
  readonly contract: JsonObject;
  readonly text: JsonObject;
  readonly digests: ToolDigests;
}

const folder = resolve(import.meta.dirname, "../golden/digests");
const vectors = readdirSync(folder)
  .sort()
  .map((file): [string, Vector] => [file, JSON.parse(readFileSync(join(folder, file), "utf8")) as Vector]);

function digestsOf(file: string): ToolDigests {
  const found = vectors.find(([name]) => name.startsWith(file));
  if (found === undefined) throw new Error(`no vector ${file}`);
  return found[1].digests;
}

describe("golden digests", () => {
  it.each(vectors)("%s has the digests it always had", (_file, vector) => {
    expect(toolContract(vector.listed)).toEqual(vector.contract);
    expect(toolText(vector.listed)).toEqual(vector.text);
    expect(toolDigests(vector.listed)).toEqual(vector.digests);
    expect(sha256(canonicalJson(vector.contract))).toBe(vector.digests.contract);
    expect(sha256(canonicalJson(vector.text))).toBe(vector.digests.text);
    expect(sha256(canonicalJson(vector.listed))).toBe(vector.digests.document);
  });

  it.each([
    ["02", "03"],
    ["05", "06"],
    ["05", "07"],
    ["08", "09"],
    ["10", "11"],
    ["12", "13"],
  ])("vectors %s and %s are one contract written twice", (a, b) => {
    expect(digestsOf(a).contract).toBe(digestsOf(b).contract);
    expect(digestsOf(a).document).not.toBe(digestsOf(b).document);
  });
});

describe("digests of a tool", () => {
  const listed = (schema: JsonObject): ListedTool => ({ name: "t", description: "Does it.", inputSchema: schema });

  it("keep the contract under every cosmetic rewriting, and the document under every order of members", () => {
    fc.assert(
      fc.property(argumentSchema, fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }), (schema, choices) => {
        const before = toolDigests(listed(schema));
        expect(toolDigests(listed(rewriteCosmetically(schema, choices))).contract).toBe(before.contract);
        const turned = Object.fromEntries(Object.entries(listed(schema)).reverse()) as ListedTool;
        expect(toolDigests(turned)).toEqual(before);
      }),
      { numRuns: 200 },
    );
  });

  it("a rename moves the document alone", () => {
    const before = toolDigests(listed({ type: "object" }));
    const after = toolDigests({ ...listed({ type: "object" }), name: "other" });
    expect(after.contract).toBe(before.contract);
    expect(after.text).toBe(before.text);
    expect(after.document).not.toBe(before.document);
  });

  it("every described place counts for the text, outputs and definitions too [S01]", () => {
    const base: ListedTool = {
      name: "t",
      inputSchema: {
        type: "object",
        properties: { a: { $ref: "#/$defs/A" } },
        $defs: { A: { type: "array", items: { type: "string", description: "x" } } },
      },
      outputSchema: { type: "object", properties: { b: { type: "string", description: "y" } } },
    };
    const digest = (edit: (copy: ListedTool) => void): string => {
      const copy = structuredClone(base);
      edit(copy);
      return toolDigests(copy).text;
    };
    const places: ((copy: ListedTool) => void)[] = [
      () => undefined,
      (copy) => (copy["title"] = "T"),
      (copy) => (copy["description"] = "D"),
      (copy) =>
        (((copy["inputSchema"] as JsonObject)["$defs"] as JsonObject)["A"] = {
          type: "array",
          items: { type: "string", description: "X" },
        }),
      (copy) => ((copy["outputSchema"] as JsonObject)["properties"] = { b: { type: "string", description: "Y" } }),
      (copy) => ((copy["outputSchema"] as JsonObject)["description"] = "Z"),
    ];
    const digests = places.map(digest);
    expect(new Set(digests).size).toBe(places.length);
    expect(toolDigests({ ...base, icons: [{ src: "a.png" }] }).text).toBe(digests[0]);
  });

  it("fields nobody knows are in the document digest and nowhere else [C18]", () => {
    const before = toolDigests(listed({ type: "object" }));
    const after = toolDigests({ ...listed({ type: "object" }), _meta: { "example/x": 1 }, icons: [] });
    expect(after).toEqual({ ...before, document: after.document });
    expect(after.document).not.toBe(before.document);
  });
});

describe("the digest of a catalog", () => {
  it("depends on keys and digests, not on their order", () => {
    const label = "s" as UpstreamLabel;
    const tools = ["a", "b", "c"].map((name) => toTool(label, { name, inputSchema: { type: "object" } }));
    const entries = tools.map((tool) => [tool.key, tool.digests] as const);
    expect(catalogDigest([...entries].reverse())).toBe(catalogDigest(entries));
    expect(catalogDigest(entries.slice(1))).not.toBe(catalogDigest(entries));
    expect(catalogDigest(entries.map(([, digests], index) => [toolKey("t", String(index)), digests]))).not.toBe(
      catalogDigest(entries),
    );
  });
});
