import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startTaskInput } from "../../src/model/facade.js";
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
