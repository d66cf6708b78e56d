import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readListing, toTool } from "../../src/catalog/intake.js";
import type { ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import type { ListedTool } from "../../src/model/tool.js";

const shop = "shop" as UpstreamLabel;
const fine = (name: string): ListedTool => ({ name, description: "Does it.", inputSchema: { type: "object" } });

function read(...members: unknown[]): ReturnType<typeof readListing> {
  return readListing(shop, members);
}

describe("reading a listing", () => {
  const refused: readonly [string, unknown, string][] = [
    ["no object", "get_order", "tool-not-an-object"],
    ["a list", [], "tool-not-an-object"],
    ["null", null, "tool-not-an-object"],
    ["no name", { inputSchema: { type: "object" } }, "tool-without-name"],
    ["a name that is no text", { name: 5, inputSchema: {} }, "tool-without-name"],
    ["an empty name", { name: "", inputSchema: {} }, "tool-without-name"],
    ["a blank name", { name: "  ", inputSchema: {} }, "tool-name-hidden-characters"],
    ["parameters that are a list", { name: "bad", inputSchema: [] }, "tool-schema-unusable"],
    ["parameters that are a text", { name: "bad", inputSchema: "object" }, "tool-schema-unusable"],
    ["parameters that take no object", { name: "bad", inputSchema: { type: "string" } }, "tool-schema-unusable"],
    ["parameters that take nothing", { name: "bad", inputSchema: false }, "tool-schema-unusable"],
  ];
  it.each(refused)("refuses only the bad tool and says why: %s [C10]", (_title, bad, code) => {
    const { tools, problems } = read(fine("a"), bad, fine("b"));
    expect(tools.map((tool) => tool.name)).toEqual(["a", "b"]);
    expect(problems.map((problem) => problem.code)).toEqual([code]);
    expect(problems[0]?.text).not.toBe("");
  });

  const repaired: readonly [string, JsonValue | undefined, JsonObject][] = [
    ["missing", undefined, { type: "object" }],
    ["null", null, { type: "object" }],
    ["empty", {}, { type: "object" }],
    ["true", true, { type: "object" }],
    [
      "a dialect and no more",
      { $schema: "http://json-schema.org/draft-07/schema#" },
      { type: "object", $schema: "http://json-schema.org/draft-07/schema#" },
    ],
    ["without a type", { properties: { a: { type: "string" } } }, { type: "object", properties: { a: { type: "string" } } }],
    ["with required: null", { type: "object", required: null }, { type: "object" }],
    ["with properties: null", { type: "object", properties: null }, { type: "object" }],
    ["with type: null", { type: null, properties: {} }, { type: "object", properties: {} }],
  ];
  it.each(repaired)("repairs parameters that are %s, keeps the tool and says so [C10]", (_title, inputSchema, expected) => {
    const listed = { name: "t", ...(inputSchema === undefined ? {} : { inputSchema }) } as ListedTool;
    const { tools, problems } = read(listed);
    expect(tools[0]?.inputSchema).toEqual(expected);
    expect(tools[0]?.document).toBe(listed);
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) expect(problem).toMatchObject({ code: "schema-repaired", where: "shop/t" });
  });

  const badOutputs: readonly [string, JsonValue][] = [
    ["a list at the root", { type: "array", items: {} }],
    ["no schema at all", "object"],
    ["a number at the root", { type: "number" }],
  ];
  it.each(badOutputs)("drops only an output schema of %s; the tool stays callable [C21]", (_title, outputSchema) => {
    const { tools, problems } = read({ ...fine("t"), outputSchema });
    expect(tools[0]?.outputSchema).toBeUndefined();
    expect(tools[0]?.document["outputSchema"]).toEqual(outputSchema);
    expect(problems.map((problem) => problem.code)).toEqual(["schema-repaired"]);
  });

  it("keeps a tool whose schemas refer to nothing or to themselves, with a note [C11]", () => {
    const { tools, problems } = read({
      ...fine("t"),
      inputSchema: {
        type: "object",
        properties: { a: { $ref: "https://example.org/remote.json" }, b: { $ref: "#/$defs/none" } },
      },
      outputSchema: { type: "object", properties: { self: { $ref: "#" } } },
    });
    expect(tools).toHaveLength(1);
    expect(problems.map((problem) => problem.code)).toEqual(["schema-reference", "schema-reference"]);
    expect(problems.map((problem) => problem.text).join()).toContain("#/$defs/none");
  });

  it("keeps the definition whole: unknown fields, icons, execution, every word [C17][C18]", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (rest) => {
        const listed = { ...(rest as JsonObject), ...fine("t") } as ListedTool;
        const before = structuredClone(listed);
        const { tools } = read(listed);
        expect(tools[0]?.document).toBe(listed);
        expect(listed).toEqual(before);
      }),
    );
  });

  it("refuses names with hidden characters, with the name spelt out [S03]", () => {
    const { tools, problems } = read(
      fine("get\u200b_order"),
      fine("get\u{e0041}"),
      fine("a\nb"),
      fine("a\u202eb"),
      fine("get_order"),
    );
    expect(tools.map((tool) => tool.name)).toEqual(["get_order"]);
    expect(problems.map((problem) => problem.code)).toEqual(Array.from({ length: 4 }, () => "tool-name-hidden-characters"));
    expect(problems[0]?.where).toBe("shop/get\\u{200b}_order");
  });

  it("shows texts without hidden characters and keeps them raw for the digests [S03]", () => {
    const [raw, plain] = ["Lists\u200b files.\u{e0041}", "Lists files."].map((description) =>
      toTool(shop, { ...fine("t"), description } as ListedTool),
    );
    expect(raw?.description).toBe("Lists files.");
    expect(raw?.document["description"]).toBe("Lists\u200b files.\u{e0041}");
    expect(raw?.digests.text).not.toBe(plain?.digests.text);
    expect(raw?.problems.map((problem) => problem.code)).toEqual(["text-cleaned"]);
  });

  it("keeps the first of two tools of one name and refuses the other with a reason", () => {
    const { tools, problems } = read({ ...fine("t"), description: "first" }, fine("u"), { ...fine("t"), description: "second" });
    expect(tools.map((tool) => [tool.name, tool.description])).toEqual([
      ["t", "first"],
      ["u", "Does it."],
    ]);
    expect(problems).toEqual([{ code: "tool-name-twice", where: "shop/t", text: expect.stringContaining("member 3") as string }]);
  });

  it("refuses a definition nested beyond any use, and survives it", () => {
    let deep: JsonValue = { type: "string" };
    for (let level = 0; level < 5_000; level += 1) deep = { type: "object", properties: { a: deep } };
    const { tools, problems } = read(fine("a"), { name: "deep", inputSchema: deep }, fine("b"));
    expect(tools.map((tool) => tool.name)).toEqual(["a", "b"]);
    expect(problems.map((problem) => problem.code)).toEqual(["tool-too-deep"]);
  });

  it("never throws and accounts for every member, whatever an upstream lists", () => {
    const member = fc.oneof(
      fc.jsonValue(),
      fc.record({
        name: fc.string({ unit: "binary" }),
        inputSchema: fc.jsonValue(),
        outputSchema: fc.jsonValue(),
        annotations: fc.jsonValue(),
        title: fc.jsonValue(),
      }),
    );
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), (members) => {
        const { tools, problems } = readListing(shop, members);
        const refusals = problems.filter((problem) => problem.code.startsWith("tool-"));
        expect(tools.length + refusals.length).toBe(members.length);
        for (const problem of problems) expect(`${problem.where}${problem.text}`).not.toMatch(/[\0-\x1f\x7f-\x9f\u202e]/);
      }),
      { numRuns: 500 },
    );
  });

  it("hands a tool back as it was where its document did not move", () => {
    const first = read(fine("a"), fine("b"));
    const known = new Map<ToolKey, (typeof first.tools)[number]>(first.tools.map((tool) => [tool.key, tool]));
    const again = readListing(shop, [structuredClone(fine("a")), { ...fine("b"), description: "Moved." }], known);
    expect(again.tools[0]).toBe(first.tools[0]);
    expect(again.tools[1]).not.toBe(first.tools[1]);
  });

  it("takes the title from the annotations where the tool has none of its own", () => {
    expect(toTool(shop, { ...fine("t"), annotations: { title: "Old place" } }).title).toBe("Old place");
    expect(toTool(shop, { ...fine("t"), title: "New", annotations: { title: "Old" } }).title).toBe("New");
    expect(toTool(shop, { ...fine("t"), title: 5 } as ListedTool).title).toBeUndefined();
  });
});

describe("effective annotations", () => {
  const cases: readonly [string, JsonValue | undefined, [boolean, boolean, boolean, boolean]][] = [
    ["nothing said", undefined, [false, true, false, true]],
    ["read-only hides destructive", { readOnlyHint: true, destructiveHint: true }, [true, false, false, true]],
    [
      "all said",
      { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      [false, false, true, false],
    ],
    ["hints that are no booleans", { readOnlyHint: "yes", destructiveHint: 0, openWorldHint: null }, [false, true, false, true]],
    ["annotations that are no object", "safe", [false, true, false, true]],
  ];
  it.each(cases)("%s", (_title, annotations, [readOnly, destructive, idempotent, openWorld]) => {
    const listed = { ...fine("t"), ...(annotations === undefined ? {} : { annotations }) } as ListedTool;
    expect(toTool(shop, listed).annotations).toEqual({ readOnly, destructive, idempotent, openWorld });
  });
});
