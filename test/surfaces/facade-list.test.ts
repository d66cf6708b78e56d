import { encode } from "gpt-tokenizer/encoding/o200k_base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import type { FacadeFacts } from "../../src/model/operations.js";
import { SURFACE_LIMITS } from "../../src/model/policy.js";
import { behindLine, createFacadeList, FACADE_NAMES, facadeTools, INSTRUCTIONS } from "../../src/surfaces/mcp/facade-list.js";

const facts = (servers: FacadeFacts["servers"], version = 1): FacadeFacts => ({
  catalogVersion: version,
  servers,
  tools: servers.reduce((sum, server) => sum + server.tools, 0),
  skills: 120,
});
const server = (label: string, tools: number) => ({ label, tools, title: undefined });
const label = fc.stringMatching(/^[A-Za-z0-9.-][A-Za-z0-9._-]{0,30}[A-Za-z0-9.-]$/).filter((text) => !text.includes("__"));
const anyFacts = fc
  .array(fc.record({ label, tools: fc.nat(400) }), { maxLength: 60 })
  .map((servers) => facts(servers.map((one) => server(one.label, one.tools))));

describe("the facade's list", () => {
  it("stays below 1,500 tokens with 40 servers of the worst names behind it [C20]", () => {
    const servers = Array.from({ length: 40 }, (_, at) => server(`xQ${at}-zjKwvbnm-ptRg.kkj-qwZ9${at}`.padEnd(32, "7"), at * 7));
    const listed = JSON.stringify({ tools: facadeTools(facts(servers)) });
    expect(encode(listed).length).toBeLessThanOrEqual(1_500);
  });

  it("stays below 1,500 tokens whatever is behind it [C20]", () => {
    fc.assert(
      fc.property(anyFacts, (given) => encode(JSON.stringify({ tools: facadeTools(given) })).length <= 1_500),
      { numRuns: 30 },
    );
  });

  it("names servers in one line of a fixed size and counts those that do not fit", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const line = behindLine(given);
        const named = given.servers.filter((one) => line.includes(`${one.label} (${one.tools})`)).length;
        const rest = Number(/, and (\d+) more$/.exec(line)?.[1] ?? 0);
        expect(line.length).toBeLessThanOrEqual(SURFACE_LIMITS.behindChars);
        if (rest > 0) expect(rest).toBeGreaterThanOrEqual(given.servers.length - named);
        else expect(named).toBe(given.servers.length);
      }),
    );
  });

  it("has the six tools in stable order with plain object roots [C15]", () => {
    const tools = facadeTools(facts([server("shop", 9)]));
    expect(tools.map((tool) => tool["name"])).toEqual([...FACADE_NAMES]);
    for (const tool of tools) {
      const schema = tool["inputSchema"] as JsonObject;
      expect(schema["type"]).toBe("object");
      for (const word of ["anyOf", "oneOf", "allOf", "$ref", "$defs", "not"])
        expect(JSON.stringify(schema)).not.toContain(`"${word}"`);
    }
  });

  it("shows arguments as an object with an example [K17]", () => {
    const call = facadeTools(facts([])).find((tool) => tool["name"] === "call_tool");
    const schema = call?.["inputSchema"] as { properties: { arguments: JsonObject } };
    expect(schema.properties.arguments["type"]).toBe("object");
    expect(schema.properties.arguments["description"]).toContain('{"order_id"');
  });

  it("moves only with a catalog version, though facts move in between", () => {
    let now = facts([server("shop", 9)], 1);
    const list = createFacadeList(() => now);
    const first = list().tools;
    now = { ...now, skills: 7 };
    expect(list().tools).toBe(first);
    now = facts([server("shop", 10)], 2);
    expect(list().tools).not.toBe(first);
    expect(JSON.stringify(list().tools)).toContain("shop (10)");
  });

  it("tells in its instructions which tool is for what, in few tokens", () => {
    for (const name of FACADE_NAMES) expect(INSTRUCTIONS).toContain(name);
    expect(encode(INSTRUCTIONS).length).toBeLessThan(150);
  });
});
