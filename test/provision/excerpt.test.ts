import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Refusal } from "../../src/model/fault.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { headAndTail, jsonBytes, pageOf, pagesOf, printInParts } from "../../src/provision/cuts.js";
import { excerptRefusal, excerptResult, refusalBytes } from "../../src/provision/excerpt.js";
import { refusalResult } from "../../src/surfaces/mcp/translate.js";

const handle = "steward://results/0123456789abcdefghjk";
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Texts of any length out of few arbitrary units: every width, pairs, half pairs, what JSON escapes. */
const unit = fc.oneof(fc.string({ unit: "binary", maxLength: 4 }), fc.constantFrom("\ud83d", "\ude00", "😀", "\u0000", '"\\\n'));
const long = fc
  .tuple(fc.array(unit, { maxLength: 6 }), fc.nat(3), fc.nat(60_000))
  .map(([units, shift, times]) => "a".repeat(shift) + units.join("").repeat(Math.ceil(times / 5)));
const wellFormed = long.map((text) => Buffer.from(text).toString());
const shorter = long.map((text) => text.slice(0, 6_000));

/** Weighed part by part, as large ones are, it is the same. */
function excerptOf(result: JsonObject, cap: number): JsonObject {
  const excerpt = excerptResult(result, { text: JSON.stringify(result), handle }, cap);
  expect(excerptResult(result, { ...printInParts(result), handle }, cap)).toEqual(excerpt);
  return excerpt;
}
const textBlock = (text: string): JsonObject => ({ type: "text", text });
const contentOf = (result: JsonObject): JsonObject[] => result["content"] as JsonObject[];
const textOf = (block: JsonObject | undefined): string => String(block?.["text"]);

describe("pages of a kept result", () => {
  it("are the whole together, and none ends or begins inside a code point", () => {
    fc.assert(
      fc.property(wellFormed, (text) => {
        const pages = Array.from({ length: pagesOf(text) }, (_, index) => pageOf(text, index + 1) ?? "missing");
        expect(pages.join("") === text).toBe(true);
        expect(Buffer.concat(pages.map((page) => Buffer.from(page))).equals(Buffer.from(text))).toBe(true);
        expect(pages.some((page) => LONE.test(page))).toBe(false);
        expect(pageOf(text, pages.length + 1)).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it("are whole code points where every second unit begins a pair", () => {
    for (const before of ["", "a"]) {
      const text = before + "😀".repeat(120_000);
      const pages = Array.from({ length: pagesOf(text) }, (_, index) => pageOf(text, index + 1) ?? "");
      expect(pages.length).toBe(5);
      expect(pages.filter((page) => LONE.test(page))).toEqual([]);
      expect(pages.join("") === text).toBe(true);
    }
  });

  it("are numbered from one", () => {
    for (const page of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2]) expect(pageOf("short", page)).toBeUndefined();
    expect(pageOf("short", 1)).toBe("short");
  });
});

describe("a result that is printed in parts", () => {
  it("is printed as it would be whole, and its parts weigh what they take", () => {
    const result = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("content", "structuredContent", "_meta")), fc.jsonValue());
    fc.assert(
      fc.property(result, (made) => {
        const value = made as JsonObject;
        const { text, bytes, bytesOf } = printInParts(value);
        expect(text).toBe(JSON.stringify(value));
        expect(bytes).toBe(Buffer.byteLength(text));
        const content = value["content"];
        for (const part of [...Object.values(value), ...(Array.isArray(content) ? content : [])])
          expect(bytesOf(part)).toBe(jsonBytes(part));
      }),
    );
  });
});

describe("a text that is cut", () => {
  it("takes no more bytes of JSON than it may, and halves no code point", () => {
    fc.assert(
      fc.property(long, fc.integer({ min: 60, max: 5_000 }), (text, bytes) => {
        const cut = headAndTail(text, bytes);
        expect(jsonBytes(cut) - 2).toBeLessThanOrEqual(bytes);
        expect(cut === text).toBe(jsonBytes(text) - 2 <= bytes);
        if (!LONE.test(text)) expect(LONE.test(cut)).toBe(false);
      }),
      { numRuns: 150 },
    );
  });
});

const blob = fc.nat(4_000).map((length) => "QUJD".repeat(length));
const block: fc.Arbitrary<JsonValue> = fc.oneof(
  { arbitrary: fc.string({ maxLength: 60 }).map(textBlock), weight: 6 },
  { arbitrary: shorter.map(textBlock), weight: 1 },
  { arbitrary: fc.tuple(shorter, blob).map(([text, note]) => ({ ...textBlock(text), annotations: { note } })), weight: 1 },
  { arbitrary: blob.map((data) => ({ type: "image", data, mimeType: "image/png" })), weight: 1 },
  { arbitrary: fc.constantFrom<JsonValue>(null, 7, "text", [], { type: 1 }, { type: "text" }), weight: 1 },
);
const blocks = fc
  .tuple(fc.array(block, { maxLength: 6 }), fc.constantFrom(1, 2, 20))
  .map(([some, times]) => Array.from({ length: some.length === 0 ? 0 : times }, () => some).flat());
const member = fc.oneof(fc.jsonValue() as fc.Arbitrary<JsonValue>, blob);
const members = fc.dictionary(fc.string({ maxLength: 50 }), member, { maxKeys: 8, noNullPrototype: true });
const result = fc
  .record(
    { content: blocks, structuredContent: members, _meta: members, isError: fc.boolean(), other: member },
    { requiredKeys: [] },
  )
  .map((made) => made as JsonObject);

describe("the excerpt of a result", () => {
  it("never takes more bytes than the cap, whatever the result holds, and ends with the way to the whole", () => {
    fc.assert(
      fc.property(result, fc.integer({ min: 900, max: 30_000 }), (whole, cap) => {
        const given = excerptOf(whole, cap);
        expect(jsonBytes(given)).toBeLessThanOrEqual(cap);
        expect(textOf(contentOf(given).at(-1))).toContain(`${handle}/1 to ${handle}/`);
        expect(given["isError"]).toBe(whole["isError"]);
      }),
      { numRuns: 200 },
    );
  });

  it("gives blocks from the beginning and the end as they are, and counts those between", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 200 }), { minLength: 40, maxLength: 600 }),
        fc.integer({ min: 2_000, max: 20_000 }),
        (texts, cap) => {
          const content = texts.map(textBlock);
          fc.pre(jsonBytes({ content }) > cap);
          const given = contentOf(excerptOf({ content }, cap)).slice(0, -1);
          const at = given.findIndex((one) => textOf(one).includes(`blocks (`) && textOf(one).includes(handle));
          // All of them fit where the note alone is too much for the cap.
          if (at < 0) return void expect(given).toEqual(content);
          const [, left = "", bytes = ""] = /^\[… (\d+) of \d+ blocks \((\d+) bytes\)/.exec(textOf(given[at])) ?? [];
          const tail = given.length - at - 1;
          expect(given.slice(0, at)).toEqual(content.slice(0, at));
          expect(given.slice(at + 1)).toEqual(content.slice(content.length - tail));
          expect(at + tail + Number(left)).toBe(content.length);
          const between = content.slice(at, content.length - tail);
          expect(Number(bytes)).toBe(between.reduce((sum, one) => sum + jsonBytes(one) + 1, 0));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("uses what it may: of twenty thousand short blocks a fifth is there, whole", () => {
    const content = Array.from({ length: 20_000 }, (_, index) => textBlock(`line ${index}`));
    const given = excerptOf({ content }, 200_000);
    expect(jsonBytes(given)).toBeGreaterThan(199_000);
    expect(contentOf(given).filter((one) => /^line \d+$/.test(textOf(one))).length).toBeGreaterThan(4_000);
    expect(textOf(contentOf(given)[0])).toBe("line 0");
    expect(textOf(contentOf(given).at(-2))).toBe("line 19999");
  });

  it("cuts a text that is too large and gives the short ones around it whole", () => {
    const content = [textBlock("The file:"), textBlock("x".repeat(500_000) + "END"), textBlock("Done.")];
    const given = contentOf(excerptOf({ content }, 20_000));
    expect(given[0]).toEqual(content[0]);
    expect(textOf(given[1])).toMatch(/^x{10000,}\n\[… \d+ characters left out …\]\nx{3000,}END$/);
    expect(given[2]).toEqual(content[2]);
    const two = contentOf(excerptOf({ content: [content[1] ?? null, content[1] ?? null] }, 20_000));
    expect(two.slice(0, 2).map((one) => textOf(one).endsWith("END"))).toEqual([true, true]);
  });

  it("never halves what is no text: it is there as it came, or a line says what is missing", () => {
    const image = { type: "image", data: "QUJD".repeat(50_000), mimeType: "image/png" };
    const given = contentOf(excerptOf({ content: [textBlock("Before"), image, textBlock("x".repeat(90_000))] }, 50_000));
    expect(textOf(given[1])).toMatch(/^\[image of \d+ bytes left out; read it in steward:\/\/results\/\w+\.\]$/);
    expect(given[0]).toEqual(textBlock("Before"));
    const small = { type: "image", data: "QUJD", mimeType: "image/png" };
    expect(contentOf(excerptOf({ content: [small, textBlock("x".repeat(90_000))] }, 50_000))[0]).toEqual(small);
  });

  it("bounds what stands beside the content: small members stay, large ones are named", () => {
    const huge = "m".repeat(2_000_000);
    const whole = {
      content: [textBlock("fine")],
      structuredContent: { huge },
      _meta: { "shop/trace": 7, "shop/dump": huge },
      isError: true,
    };
    const given = excerptOf(whole, 200_000);
    expect(given).toMatchObject({ isError: true, _meta: { "shop/trace": 7 } });
    expect(Object.keys(given).sort()).toEqual(["_meta", "content", "isError"]);
    expect(Object.keys(given["_meta"] as JsonObject)).toEqual(["shop/trace"]);
    expect(contentOf(given)[0]).toEqual(textBlock("fine"));
    expect(textOf(contentOf(given).at(-1))).toMatch(
      /an excerpt, without structuredContent \(20000\d\d bytes\), _meta\.shop\/dump \(20000\d\d bytes\)\. Read steward:/,
    );
    const small = excerptOf({ content: [textBlock(huge)], structuredContent: { total: 7 } }, 200_000);
    expect(small["structuredContent"]).toEqual({ total: 7 });
  });
});

describe("the excerpt of an upstream's error", () => {
  it("never makes an answer above the cap, whatever message and data are", () => {
    const data = fc.option(fc.oneof(member, members), { nil: undefined });
    fc.assert(
      fc.property(long, data, fc.integer({ min: 1_000, max: 60_000 }), (message, said, cap) => {
        const refusal = new Refusal(-32_000, message, said);
        if (refusalBytes(refusal) <= cap) return void expect(jsonBytes(refusalResult(refusal))).toBeLessThanOrEqual(cap);
        const text = JSON.stringify({ code: refusal.code, message, data: said ?? null });
        const given = excerptRefusal(refusal, { text, handle }, cap);
        expect(jsonBytes(refusalResult(given))).toBeLessThanOrEqual(cap);
        expect(given.code).toBe(refusal.code);
        expect(given.message).toContain(`Read ${handle} for the whole`);
      }),
      { numRuns: 200 },
    );
  });

  it("keeps the message and the small members of the data", () => {
    const refusal = new Refusal(-32_602, "order_id is missing", { field: "order_id", dump: "d".repeat(2_000_000) });
    const given = excerptRefusal(refusal, { text: JSON.stringify({ ...refusal }), handle }, 200_000);
    expect(given.message).toMatch(/^order_id is missing \[The error has 2\d+ bytes; this is an excerpt\./);
    expect(given.data).toEqual({ field: "order_id" });
  });
});
