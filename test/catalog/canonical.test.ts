import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, compareCodePoints, sha256 } from "../../src/catalog/canonical.js";
import type { JsonValue } from "../../src/model/json.js";

describe("canonical JSON", () => {
  it("spells every value as RFC 8785 does", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(canonicalJson(value as JsonValue)).toBe(canonicalize(value));
      }),
    );
  });

  it("is the same for every order of members, and reads back as the value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse()) as JsonValue;
        const text = canonicalJson(value as JsonValue);
        expect(canonicalJson(turned)).toBe(text);
        expect(canonicalJson(JSON.parse(text) as JsonValue)).toBe(text);
      }),
    );
  });

  it("prints numbers as ECMAScript does and leaves undefined members out", () => {
    expect(canonicalJson([-0, 1e21, 0.1, 1e-7, 100])).toBe("[0,1e+21,0.1,1e-7,100]");
    expect(canonicalJson({ b: 1, a: undefined } as unknown as JsonValue)).toBe('{"b":1}');
  });

  it("keeps a member called __proto__", () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}') as JsonValue)).toBe('{"__proto__":1,"a":2}');
  });

  it("hashes the UTF-8 bytes of the text", () => {
    expect(sha256("é")).toBe(
      createHash("sha256")
        .update(new Uint8Array([0xc3, 0xa9]))
        .digest("hex"),
    );
    expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  it("orders texts by code point, not by UTF-16 unit", () => {
    expect(["\u{1f642}", "\uff5a", "a"].sort(compareCodePoints)).toEqual(["a", "\uff5a", "\u{1f642}"]);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        const points = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0) ?? 0);
        const [x, y] = [points(a), points(b)];
        let order = x.length - y.length;
        for (let index = 0; index < Math.min(x.length, y.length); index += 1) {
          if (x[index] === y[index]) continue;
          order = (x[index] ?? 0) - (y[index] ?? 0);
          break;
        }
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(order));
      }),
    );
  });
});
