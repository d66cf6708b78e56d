import { describe, it, expect } from "vitest";
import { inferRequirements, withInferred } from "../../src/skills/infer.js";
import { parseSkill } from "../../src/skills/text.js";
import { tool, toolMap } from "./tools.js";

const tools = toolMap(
  tool("shop/get_order", ["order_id", "verbose?"]),
  tool("shop/search", ["query"]),
  tool("web/search", ["query"]),
  tool("web/fetch-page", ["url"]),
  tool("git.hub/listIssues", ["owner"]),
);
const inferred = (body: string) =>
  inferRequirements(body, tools).map(({ tool: key, params, anyGroup }) => [key, params, anyGroup]);

describe("what a foreign skill seems to need", () => {
  it.each([
    ["a key in a code span", "Call `shop/get_order` first."],
    ["a key in plain prose", "Call shop/get_order first."],
    ["a client's exposed name", "Call `mcp__shop__get_order`."],
    ["a server and tool with a colon", "Call shop:get_order."],
    ["an exposed name", "Call shop__get_order."],
    ["a bare name with a separator", "Call get_order."],
    ["a call written out", "Run `get_order(…)`."],
  ])("is found from %s", (_what, body) => {
    expect(inferred(body)).toEqual([["shop/get_order", [], undefined]]);
  });

  it("has the parameters its own paragraph names", () => {
    expect(inferred("Call `get_order` with order_id.\n\n- Then use verbose output of `fetch-page` for the url.")).toEqual([
      ["shop/get_order", ["order_id"], undefined],
      ["web/fetch-page", ["url"], undefined],
    ]);
  });

  it("is a group of alternatives where several upstreams have the name", () => {
    expect(inferred("Use `search` with a query.")).toEqual([
      ["shop/search", ["query"], "any-search"],
      ["web/search", ["query"], "any-search"],
    ]);
    expect(inferred("Use `web/search`; `search` is quick.")).toEqual([["web/search", [], undefined]]);
  });

  it("is not read out of everyday words, fenced examples or unknown names", () => {
    expect(
      inferred("Please search the web and fetch the page. See src/get_orders.ts and `other/tool`.\n```\nget_order\n```"),
    ).toEqual([]);
  });

  it("is marked inferred, with the digest of now, and added only beside what the contract states", () => {
    const contract = {
      format: "contract/1",
      requires: [{ tool: "shop/get_order", contractDigest: "a".repeat(64), params: [], reads: [] }],
      uses: [],
      produces: [],
      evidence: [],
    };
    const files = {
      "SKILL.md": "---\nname: a\ndescription: b\n---\nCall `get_order` and `listIssues`.",
      "references/contract.json": JSON.stringify(contract),
    };
    const { skill } = parseSkill({ folder: "a", files }, "import");
    if (skill === undefined) throw new Error("unreadable");
    const [stated, found, ...rest] = withInferred(skill, tools).requires;
    expect(stated).toEqual(contract.requires[0]);
    expect(found).toMatchObject({
      tool: "git.hub/listIssues",
      inferred: true,
      contractDigest: tools.get("git.hub/listIssues" as never)?.digests.contract,
    });
    expect(rest).toEqual([]);
  });
});
