/** Arguments that a tool wants repeated in headers (`x-mcp-header`, 2026-07-28): whoever decides by the headers must not be lied to. */
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { headerMarks, markedHeaders, mirrorProblem } from "../../src/catalog/header-marks.js";
import type { JsonObject } from "../../src/model/json.js";
import { fakeOperations, text } from "./fake.js";
import { closeAll, post, start } from "./start.js";

afterEach(closeAll);

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    tenant: { type: "object", properties: { id: { type: "integer", "x-mcp-header": "Tenant" } } },
    note: { type: "string" },
  },
};
const { marks } = headerMarks(SCHEMA);
const lower = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

describe("headers that repeat arguments", () => {
  it("are true where they were made from them, and a lie where they were made from others", () => {
    const args = fc.record(
      { region: fc.string({ unit: "grapheme" }), tenant: fc.record({ id: fc.maxSafeInteger() }, { requiredKeys: [] }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(args, args, (one, other) => {
        const headers = lower(markedHeaders(marks, one as JsonObject));
        expect(mirrorProblem(marks, one as JsonObject, headers, false)).toBeUndefined();
        const same = one.region === other.region && one.tenant?.id === other.tenant?.id;
        expect(mirrorProblem(marks, other as JsonObject, headers, false) === undefined).toBe(same);
      }),
    );
  });

  it.each(["=?base64?SGVsbG8?=", "=?base64?SGVs!!8=?=", "=?base64?SGVsbG9=?="])("cannot be read as %s", (value) => {
    expect(mirrorProblem(marks, { region: "Hello" }, { "mcp-param-region": value }, false)).toContain("cannot be read");
  });

  it("may stay out only where there is nothing to repeat them in", () => {
    expect(mirrorProblem(marks, { region: "eu" }, {}, false)).toContain("Mcp-Param-Region is missing");
    expect(mirrorProblem(marks, { region: "eu" }, {}, true)).toBeUndefined();
    expect(mirrorProblem(marks, { region: "eu" }, { "mcp-param-region": "us" }, true)).toContain("does not say");
  });
});

describe("a direct call under 2026-07-28", () => {
  const ask = async (headers: Record<string, string>) => {
    const shop = { label: "shop", tools: { ship: () => text("shipped") }, documents: { ship: { inputSchema: SCHEMA } } };
    const operations = fakeOperations([shop]);
    const { url } = await start({ operations });
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
    const params = { name: "shop__ship", arguments: { region: "eu" }, _meta: meta };
    const answer = await post(
      `${url}/mcp/direct`,
      { jsonrpc: "2.0", id: 7, method: "tools/call", params },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "shop__ship", ...headers },
    );
    return { answer, calls: operations.calls.length };
  };

  it("reaches the tool where its headers say what its arguments say", async () => {
    for (const value of ["eu", `=?base64?${Buffer.from("eu").toString("base64")}?=`]) {
      const { answer, calls } = await ask({ "Mcp-Param-Region": value });
      expect([answer.status, calls]).toEqual([200, 1]);
    }
  });

  it.each([
    ["another value", { "Mcp-Param-Region": "us" }],
    ["none", {}],
    ["one too many", { "Mcp-Param-Region": "eu", "Mcp-Param-Tenant": "1" }],
  ])("is refused before anything runs where they say %s", async (_what, headers) => {
    const { answer, calls } = await ask(headers as Record<string, string>);
    expect([answer.status, calls]).toEqual([400, 0]);
    expect(answer.json()).toMatchObject({ id: 7, error: { code: -32020 } });
  });
});
