import { describe, expect, it } from "vitest";
import { readCatalogFile } from "../../src/catalog/files.js";
import { toolDigests } from "../../src/catalog/digest.js";
import { catalogManifestFormat } from "../../src/model/catalog.js";
import type { JsonObject } from "../../src/model/json.js";
import type { ListedTool } from "../../src/model/tool.js";

const tool = (name: string, more: JsonObject = {}): ListedTool => ({ name, inputSchema: { type: "object" }, ...more });

const manifestOf = (tools: JsonObject | Record<string, unknown>) => ({ format: catalogManifestFormat.id, version: 3, tools });

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

  describe("that is another kind of file", () => {
    const foreign: readonly [string, unknown, RegExp][] = [
      [
        "a JSON-RPC error",
        { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "Method not found\u0007" } },
        /an error, not a listing: the server said "Method not found\\u\{7\}" \(code -32601\)\. Ask the server for tools\/list again/,
      ],
      ["an OAuth error", { error: "invalid_token", error_description: "It expired." }, /said "invalid_token: It expired\."/],
      [
        "a problem document",
        { type: "about:blank", title: "Gone.", status: 410, detail: "Moved." },
        /"Gone\. Moved\." \(status 410\)/,
      ],
      ["a gateway's message", { message: "Not Found", documentation_url: "https://example.org" }, /it says "Not Found"/],
      ["a request", { jsonrpc: "2.0", id: 1, method: "tools/list" }, /request \(tools\/list\), not its answer/],
      [
        "the answer to initialize",
        { jsonrpc: "2.0", id: 0, result: { protocolVersion: "2025-11-25", capabilities: {} } },
        /answer to initialize/,
      ],
      ["a call's result", { result: { content: [{ type: "text", text: "x" }] } }, /result of a tool call/],
      ["a list of prompts", { result: { prompts: [] } }, /resources or prompts, and no tools/],
      ["an mcpServers file", { mcpServers: { a: { command: "x" } } }, /mcpServers file.*`steward check --against`/],
      ["an mcpServers file of VS Code", { servers: { a: { command: "x" } } }, /mcpServers file/],
      ["an OpenAPI document", { openapi: "3.1.0", paths: {} }, /OpenAPI document/],
      [
        "a list of JSON-RPC messages",
        [{ jsonrpc: "2.0", id: 1, result: { tools: [tool("a")] } }],
        /JSON-RPC messages.*keep the `result`/,
      ],
      [
        "functions of a model's API",
        [{ type: "function", function: { name: "a", parameters: {} } }],
        /`function`.*`inputSchema`/,
      ],
      [
        "tools of a model's API",
        {
          tools: [
            { name: "a", input_schema: {} },
            { name: "b", input_schema: {} },
          ],
        },
        /`input_schema`/,
      ],
      ["tools of another", [{ name: "a", parameters: { type: "object" } }], /`parameters`/],
      [
        "what `catalog show --json` prints",
        { version: 3, tools: [{ tool: "shop/a", name: "shop__a", signature: "shop/a()" }] },
        /signatures.*number of the version/,
      ],
      ["what describe_tools answers", { tools: [{ tool: "shop/a", definition: tool("a") }] }, /`definition`/],
      ["what `catalog log --json` prints", [{ version: 1, cause: "listing of shop" }], /catalog versions.*number of one/],
      ["anything else", { hello: 1, world: 2 }, /is no catalog file.*it is an object with `hello`, `world`\./],
      ["no object at all", "tools", /it is a text\./],
    ];
    it.each(foreign)("(%s) is called what it is, with the way to one", (_what, json, says) => {
      const { tools, labels, problems } = readCatalogFile(json, { label: "mine" });
      expect([tools, labels, problems.map(({ code }) => code)]).toEqual([[], [], ["catalog-file-unreadable"]]);
      expect(problems[0]?.text).toMatch(says);
    });

    it("may be a listing of a server that spells its schemas so among others: it is read as the daemon reads it", () => {
      expect(readCatalogFile([tool("a"), { name: "b", parameters: {} }]).tools.map(({ name }) => name)).toEqual(["a", "b"]);
      expect(readCatalogFile([{ ...tool("a"), parameters: {} }]).tools).toHaveLength(1);
    });
  });

  describe("with a field of a kind that it cannot be", () => {
    /** Every field that is looked at, with the kinds that mean something in it. */
    const FIELDS: readonly [string, (value: unknown) => unknown, readonly string[]][] = [
      ["server", (value) => ({ server: value, tools: [tool("a")] }), ["text"]],
      ["server", (value) => ({ server: value, result: { tools: [tool("a")] } }), ["text"]],
      ["server", (value) => ({ result: { server: value, tools: [tool("a")] } }), ["text"]],
      ["tools[1].server", (value) => ({ tools: [tool("b"), { ...tool("a"), server: value }] }), ["text"]],
      ["[0].server", (value) => [{ ...tool("a"), server: value }], ["text"]],
      ["nextCursor", (value) => ({ tools: [tool("a")], nextCursor: value }), []],
      ["name", (value) => [{ ...tool("a"), name: value }], ["text"]],
      ["title", (value) => [{ ...tool("a"), title: value }], ["text"]],
      ["description", (value) => [{ ...tool("a"), description: value }], ["text"]],
      ["inputSchema", (value) => [{ ...tool("a"), inputSchema: value }], ["object"]],
      ["outputSchema", (value) => [{ ...tool("a"), outputSchema: value }], ["object"]],
      ["annotations", (value) => [{ ...tool("a"), annotations: value }], ["object"]],
      ...["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(
        (hint) =>
          [hint, (value: unknown) => [{ ...tool("a"), annotations: { [hint]: value } }], ["yes"]] as [
            string,
            (value: unknown) => unknown,
            string[],
          ],
      ),
      ["shop/a", (value) => manifestOf({ "shop/a": value }), []],
      ["shop/a", (value) => manifestOf({ "shop/a": { contract: value, text: "t", document: "d" } }), ["text"]],
      ["shop/a", (value) => manifestOf({ "shop/a": { contract: "c", text: "t", document: value } }), ["text"]],
    ];
    const VALUES: readonly [string, unknown][] = [
      ["number", 5],
      ["yes", true],
      ["list", ["x"]],
      ["object", { name: "x" }],
      ["text", "x"],
    ];
    const cases = FIELDS.flatMap(([field, file, fine]) =>
      VALUES.filter(([kind]) => !fine.includes(kind)).map(([kind, value]) => [field, kind, file(value)] as const),
    );
    it.each(cases)("%s: a %s: is refused or mended with a word that names it, never taken in silence", (field, _kind, file) => {
      const { problems } = readCatalogFile(file, { label: "mine" });
      expect(problems.map(({ where, text }) => `${where}: ${text}`).join("\n")).toContain(field);
    });

    it.each([undefined, null])("is one without it where it is %s", (none) => {
      const plain = readCatalogFile([tool("a")], { label: "mine" });
      for (const file of [
        { server: none, nextCursor: none, tools: [tool("a")] },
        { server: none, result: { tools: [{ ...tool("a"), server: none }] } },
        [{ ...tool("a"), server: none }],
      ])
        expect(readCatalogFile(file, { label: "mine" })).toEqual(plain);
    });

    it("keeps the server that stands around a result", () => {
      expect(readCatalogFile({ server: "shop", result: { tools: [tool("a")] } }).tools.map(({ key }) => key)).toEqual(["shop/a"]);
    });

    it.each(["", "a", "a b/c", "/c", "a/"])("a manifest's key %j is told as damage", (key) => {
      const { problems } = readCatalogFile(manifestOf({ [key]: { contract: "c", text: "t", document: "d" } }));
      expect(problems).toMatchObject([{ code: "catalog-file-unreadable", text: expect.stringContaining(`["${key}"]`) }]);
    });
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
