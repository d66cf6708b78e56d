import { describe, expect, it } from "vitest";
import { readCatalogFile } from "../../src/catalog/files.js";
import { toolDigests } from "../../src/catalog/digest.js";
import { catalogManifestFormat } from "../../src/model/catalog.js";
import type { JsonObject } from "../../src/model/json.js";
import type { ListedTool } from "../../src/model/tool.js";

const tool = (name: string, more: JsonObject = {}): ListedTool => ({ name, inputSchema: { type: "object" }, ...more });

describe("a catalog file", () => {
  const shapes: readonly [string, unknown, string[]][] = [
    ["a tools/list result", { tools: [tool("a")] }, ["file/a"]],
    ["a JSON-RPC answer", { jsonrpc: "2.0", id: 1, result: { tools: [tool("a")] } }, ["file/a"]],
    ["an object with tools and a server", { server: "shop", tools: [tool("a")] }, ["shop/a"]],
    ["an array of tools", [tool("a"), tool("b")], ["file/a", "file/b"]],
    ["an array of tools with servers", [tool("a", { server: "x" }), tool("a", { server: "y" })], ["x/a", "y/a"]],
    ["nothing in it", { tools: [] }, []],
  ];
  it.each(shapes)("may be %s", (_title, json, keys) => {
    expect(readCatalogFile(json).tools.map((one) => one.key)).toEqual(keys);
  });

  it.each([null, 5, "tools", {}, { tools: "a" }, { result: 5 }, { tools: { a: 1 } }])("says so when %j is none", (json) => {
    const { tools, problems } = readCatalogFile(json);
    expect(tools).toEqual([]);
    expect(problems.map((problem) => problem.code)).toEqual(["catalog-file-unreadable"]);
  });

  it("may be a manifest of ours, with the definitions at hand", () => {
    const listed = tool("a", { description: "Does it." });
    const digests = toolDigests(listed);
    const gone = { contract: "c", text: "t", document: "d" };
    const manifest = { format: catalogManifestFormat.id, version: 3, tools: { "shop/a": digests, "shop/b": gone }, departed: {} };
    const documents = new Map([[digests.document, listed] as const]);
    const read = readCatalogFile(manifest, { documents });
    expect(read.tools.map((one) => [one.key, one.digests])).toEqual([["shop/a", digests]]);
    expect(read.problems).toMatchObject([{ code: "catalog-file-definition-missing", where: "shop/b" }]);
    expect(readCatalogFile(manifest).problems).toHaveLength(2);
  });

  it("gives tools without a server the label that the caller names", () => {
    expect(readCatalogFile([tool("a"), tool("b", { server: "x" })], { label: "mine" }).tools.map((one) => one.key)).toEqual([
      "mine/a",
      "x/b",
    ]);
  });

  it("does not count the server as part of the definition", () => {
    const [read] = readCatalogFile([tool("a", { server: "x" })]).tools;
    expect(read?.digests).toEqual(toolDigests(tool("a")));
  });

  it("relabels servers whose names cannot be labels, tells so, and keeps them apart", () => {
    const { tools, problems } = readCatalogFile(["a b", "a_b", "a/b", "a__b"].map((server) => tool("t", { server })));
    const keys = tools.map((one) => one.key);
    expect(keys).toContain("a_b/t");
    expect(new Set(keys).size).toBe(4);
    expect(problems.map((problem) => problem.code)).toEqual(["catalog-file-label", "catalog-file-label", "catalog-file-label"]);
  });

  it("gives a server the same label wherever it stands among those that are labels themselves", () => {
    const label = (servers: string[]): string | undefined =>
      readCatalogFile(servers.map((server) => tool(server === "a b" ? "mine" : "t", { server }))).tools.find(
        (one) => one.name === "mine",
      )?.label;
    expect(label(["a b", "a_b"])).toBe(label(["a_b", "a b"]));
  });

  it("refuses a bad tool and reads the rest [C10]", () => {
    const { tools, problems } = readCatalogFile([tool("a"), { server: "x" }, "no tool", tool("b")]);
    expect(tools.map((one) => one.name)).toEqual(["a", "b"]);
    expect(problems).toHaveLength(2);
  });

  it("says whose listing it is, of upstreams that list nothing as well, and of nobody where nothing says so", () => {
    const labels = (json: unknown, label?: string) => readCatalogFile(json, label === undefined ? {} : { label }).labels;
    expect(labels([])).toEqual([]);
    expect(labels([], "mine")).toEqual(["mine"]);
    expect(labels({ server: "x", tools: [] }, "mine")).toEqual(["x"]);
    expect(labels([tool("a", { server: "x" }), { server: "y" }, null], "mine")).toEqual(["x", "y"]);
    expect(labels([null], "mine")).toEqual([]);
  });

  it.each([
    ["one page of a listing", { tools: [tool("a")], nextCursor: "2" }, /nextCursor/],
    ["a page inside an answer", { jsonrpc: "2.0", id: 1, result: { tools: [], nextCursor: "2" } }, /nextCursor/],
    [
      "a manifest of a later format",
      { format: "catalog-manifest/2", tools: {} },
      /catalog-manifest\/2.*reads catalog-manifest\/1/,
    ],
  ])("is not %s: what it lacks would read as removed", (_what, json, says) => {
    const { tools, problems } = readCatalogFile(json);
    expect([tools, problems.map(({ code }) => code)]).toEqual([[], ["catalog-file-unreadable"]]);
    expect(problems[0]?.text).toMatch(says);
  });
});
