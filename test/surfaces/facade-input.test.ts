import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import {
  callToolInput,
  describeToolsInput,
  exploreCapabilitiesInput,
  finishTaskInput,
  retrieveToolsInput,
  startTaskInput,
} from "../../src/model/facade.js";
import { Fault } from "../../src/model/fault.js";
import { readArguments } from "../../src/operations/arguments.js";
import { readCallInput, readInput } from "../../src/surfaces/mcp/facade-input.js";

const faultOf = (run: () => unknown): Fault => {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
};

describe("the arguments of call_tool", () => {
  it("are the same object given as itself or as its JSON text [K17]", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        const plain = JSON.parse(JSON.stringify(args)) as Record<string, never>;
        expect(readArguments(plain)).toEqual(plain);
        expect(readArguments(JSON.stringify(plain))).toEqual(plain);
      }),
    );
  });

  it("are an empty object where they are absent, null or empty [K16]", () => {
    for (const given of [undefined, null, "", "  ", "null", {}, "{}"]) expect(readArguments(given)).toEqual({});
  });

  it("are never anything but an object [K17]", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const given = JSON.parse(JSON.stringify(value)) as never;
        let read: unknown;
        try {
          read = readArguments(given);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          return;
        }
        expect(typeof read === "object" && read !== null && !Array.isArray(read)).toBe(true);
      }),
    );
  });

  it("pass without being rebuilt: they are the tool's own", () => {
    const args = { deep: { __proto__x: 1 } };
    expect(readCallInput({ tool: "shop/x", arguments: args }).arguments).toBe(args);
  });
});

describe("a body that is not what an endpoint takes", () => {
  const whole: Record<string, { schema: z.ZodObject; body: Record<string, unknown> }> = {
    start_task: { schema: startTaskInput, body: { task: "x" } },
    retrieve_tools: { schema: retrieveToolsInput, body: { query: "x" } },
    explore_capabilities: { schema: exploreCapabilitiesInput, body: { need: "x" } },
    describe_tools: { schema: describeToolsInput, body: { tools: ["a/b"] } },
    call_tool: { schema: callToolInput, body: { tool: "a/b" } },
    finish_task: { schema: finishTaskInput, body: { episode: "ep_1", outcome: "success" } },
  };

  it.each(Object.entries(whole))("names each field of %s that is missing or of another type", (name, { schema, body }) => {
    const read = (raw: unknown): unknown => (name === "call_tool" ? readCallInput(raw) : readInput(schema, raw));
    expect(() => read(body)).not.toThrow();
    for (const field of Object.keys(body)) {
      const { [field]: _left, ...rest } = body;
      const fault = faultOf(() => read(rest));
      expect(fault.code).toBe("input-invalid");
      expect(fault.detail).toContain(`${field}: `);
      expect(fault.data).toMatchObject({ issues: [{ path: field }] });
    }
    for (const field of Object.keys(schema.shape)) {
      for (const wrong of [7, true, { a: 1 }, [[]]]) {
        if (field === "arguments" && typeof wrong === "object" && !Array.isArray(wrong)) continue;
        if ((field === "limit" || field === "budget_tokens") && typeof wrong === "number") continue;
        expect(faultOf(() => read({ ...body, [field]: wrong })).message, `${field}: ${JSON.stringify(wrong)}`).toContain(field);
      }
    }
  });

  it("is refused with each wrong field named", () => {
    const fault = faultOf(() => readInput(startTaskInput, { task: "", budget_tokens: 3, hint: [] }));
    expect(fault.code).toBe("input-invalid");
    for (const field of ["task", "budget_tokens", "hint"]) expect(fault.message).toContain(field);
  });

  it("is refused for call_tool by the tool's name, before its arguments are looked at", () => {
    expect(faultOf(() => readCallInput({ tool: 7, arguments: {} })).message).toContain("tool");
    expect(faultOf(() => readCallInput(["shop/x"])).code).toBe("input-invalid");
    expect(faultOf(() => readCallInput({ tool: "shop/x", args: {} })).message).toContain("args");
  });
});

describe("names of tools", () => {
  it("may have blanks around them, and a single one in place of a list is refused with a sentence that says how", () => {
    expect(readInput(describeToolsInput, { tools: [" shop/get_order\n"] }).tools).toEqual(["shop/get_order"]);
    expect(readCallInput({ tool: " shop/get_order ", arguments: {} }).tool).toBe("shop/get_order");
    expect(faultOf(() => readInput(describeToolsInput, { tools: " " })).detail).toBe(
      'tools: must be a list, also for one: ["…"].',
    );
    expect(faultOf(() => readInput(describeToolsInput, { tools: [" "] })).code).toBe("input-invalid");
  });
});
