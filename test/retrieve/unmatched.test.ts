import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitToolKey } from "../../src/model/ids.js";
import { searchSkills, buildSkillIndex } from "../../src/retrieve/skills.js";
import { stem } from "../../src/retrieve/stem.js";
import { tokenise } from "../../src/retrieve/tokens.js";
import { buildToolIndex, searchTools } from "../../src/retrieve/tools.js";
import { bitsIn, lettersOf, slipsBetween } from "../../src/retrieve/unmatched.js";
import { REQUEST_WORDS, STOP_WORDS } from "../../src/retrieve/words.js";
import { ECOSYSTEM, skill, tool } from "./made.js";

const index = buildToolIndex(ECOSYSTEM);
/** A shop in which nearly every tool is about orders: its commonest word says nothing there. */
const orders = buildToolIndex(
  ["get_order", "list_orders", "cancel_order", "ship_order", "refund_order", "print_order"].map((name) =>
    tool(`shop/${name}`, { description: "Works on an order of the shop.", takes: { "order_id!": "Number of the order" } }),
  ),
);

describe("a need that is nothing but a word of names", () => {
  it.each(["order", "orders", "order order order", "Order", "cancel order", "ship an order"])("finds those tools: %s", (need) => {
    const { hits } = searchTools(orders, need, { limit: 5 });
    expect(hits.length).toBeGreaterThan(0);
    const asked = tokenise(need)
      .filter((word) => !STOP_WORDS.has(word))
      .map(stem);
    const [best] = hits.map(({ key }) => tokenise(splitToolKey(key).name).map(stem));
    expect(asked.every((term) => best?.includes(term))).toBe(true);
  });

  it("finds something for every single word of every name, however common it is", () => {
    for (const { text } of [index, orders]) {
      for (const { tool: one } of text.shared.payloads) {
        for (const word of tokenise(one.name).filter((word) => !STOP_WORDS.has(word) && !REQUEST_WORDS.has(word))) {
          const { hits } = searchTools(text === index.text ? index : orders, word, { limit: 5 });
          expect(
            hits.map(({ key }) => tokenise(splitToolKey(key).name).map(stem).includes(stem(word))),
            word,
          ).toContain(true);
        }
      }
    }
  });
});

describe("words that no tool knows", () => {
  it("are named although a known word looks like them", () => {
    const stock = buildToolIndex([
      tool("depot/check_stock", { description: "The quantity in stock.", takes: { quantity: "How many" } }),
    ]);
    expect(searchTools(stock, "quantum stock", { limit: 5 }).unmatched).toEqual(["quantum"]);
  });

  it.each<[string, string[]]>([
    ["entangle the getQuantumState flurbinator2000 now", ["entangle", "getQuantumState", "flurbinator2000"]],
    ["Entangle, then ENTANGLE again", ["Entangle"]],
    ["Rückerstattung für die Größe", ["Rückerstattung", "für", "die", "Größe"]],
    ["a customer's blorp's order", ["blorp's"]],
    ["量子计算 order", ["量子计算"]],
    ["คืนเงิน", ["คืนเงิน"]],
    ["คืนเงินให้ลูกค้า order", ["คืนเงินให้ลูกค้า"]],
    ["ສົ່ງເງິນຄືນ", ["ສົ່ງເງິນຄືນ"]],
    ["សងប្រាក់វិញ", ["សងប្រាក់វិញ"]],
    ["ငွေပြန်အမ်းပါ", ["ငွေပြန်အမ်းပါ"]],
    ["항공권 예약 order", ["항공권", "예약"]],
    ["予約する", ["予約する"]],
    ["می\u200cخواهم order", ["می\u200cخواهم"]],
    ["👩‍💻 order 👍🏽", ["👩‍💻", "👍🏽"]],
  ])("are named as they were written, in order, each once: %s", (need, expected) => {
    expect(searchTools(index, need, { limit: 5 }).unmatched).toEqual(expected);
  });

  it("are words of the dictionary where a script has no spaces: known ones beside them are not named", () => {
    const cjk = buildToolIndex([
      tool("cn/forecast", { description: "查询天气预报" }),
      tool("kr/refund", { description: "환불 처리" }),
      tool("th/weather", { description: "สภาพอากาศวันนี้" }),
    ]);
    const unmatched = (need: string): readonly string[] => searchTools(cjk, need, { limit: 5 }).unmatched;
    expect(unmatched("查询航班")).toEqual(["航班"]);
    expect(unmatched("天气查询")).toEqual([]);
    expect(unmatched("환불을")).toEqual([]);
    expect(unmatched("คืนเงิน สภาพอากาศ")).toEqual(["คืนเงิน"]);
  });

  it("never overlap, begin with no mark, and cut no letter from what belongs to it, in any script", () => {
    const scripts = [
      "กขคงนเิืุ่้์",
      "ກຂຄງນເິືຸ່້",
      "កខគងនេិីុ្់",
      "ကခဂငနေိီု္်း",
      "天气查询航班订单",
      "ひらカター々",
      "환불처리을",
      "अकिेा्",
      "بفا\u064b\u200c",
      "abé\u0301Zß9_-",
      "👩👍🏽\u200d\ufe0f🇩🇪",
      " \u200b\u00ad'",
    ].map((letters) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 8 }));
    const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
    fc.assert(
      fc.property(fc.array(fc.oneof(...scripts), { maxLength: 6 }), (words) => {
        const need = words.join("");
        const edges = new Set([need.length]);
        for (const { index: edge } of graphemes.segment(need)) edges.add(edge);
        let at = 0;
        for (const one of searchTools(index, need, { limit: 5 }).unmatched) {
          expect(one).not.toMatch(/^\p{M}/u);
          // The first place after the one before it whose edges cut nothing.
          let start = need.indexOf(one, at);
          while (start >= 0 && !(edges.has(start) && edges.has(start + one.length))) start = need.indexOf(one, start + 1);
          expect(start, `${JSON.stringify(one)} in ${JSON.stringify(need)}`).toBeGreaterThanOrEqual(0);
          at = start + one.length;
        }
      }),
      { numRuns: 400 },
    );
  });

  it("are always pieces of what was written, never of its making", () => {
    const word = fc.oneof(
      fc.constantFrom(
        "order",
        "getOrder",
        "Zebra9Crossing",
        "naïveté",
        "量子计算",
        "订单",
        "x86-64",
        "e-mail",
        "can't",
        "🎉",
        "HTTPServer",
        "ﬁsh",
      ),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (words) => {
        const need = words.join(" ");
        const { unmatched } = searchTools(index, need, { limit: 5 });
        for (const one of unmatched) expect(need).toContain(one);
        expect(new Set(unmatched).size).toBe(unmatched.length);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a slip of typing that leaves nothing to be found", () => {
  it.each([
    ["custmer", "customer"],
    ["wharehouse", "warehouse"],
    ["ordres", "orders"],
    ["forcast", "forecast"],
    ["mesage", "message"],
  ])("%s: what may have been meant is proposed", (typed, meant) => {
    const { hits, proposed, unmatched } = searchTools(
      buildToolIndex([
        tool("shop/customer_orders"),
        tool("depot/warehouse"),
        tool("weather/forecast"),
        tool("mail/send", { takes: { message: "Text" } }),
      ]),
      typed,
      { limit: 5 },
    );
    expect(unmatched).toEqual([typed]);
    // What looks enough like it was found all the same.
    if (hits.length > 0) return expect(hits[0]?.key).toContain(meant);
    expect(proposed).toEqual([{ word: typed, meant: [meant] }]);
  });

  it("proposes only words of tools that are offered, and nothing where something was found or nothing is near", () => {
    expect(searchTools(index, "stcok", { limit: 5 }).proposed.flatMap(({ meant }) => meant)).toEqual(["stock"]);
    const offered = (key: string): boolean => !key.startsWith("shop/");
    expect(searchTools(index, "stcok", { limit: 5, offered }).proposed).toEqual([]);
    expect(searchTools(index, "weather stcok", { limit: 5 }).proposed).toEqual([]);
    expect(searchTools(index, "quantum", { limit: 5 }).proposed).toEqual([]);
    expect(searchTools(index, "stcok stcok", { limit: 5 }).proposed).toHaveLength(1);
  });

  it("moves two letters of a word at most: words whose letters are further apart need not be looked at", () => {
    const word = fc.string({ unit: fc.constantFrom(..."abcdefgхц字ü"), maxLength: 9 });
    fc.assert(
      fc.property(word, word, (one, other) => {
        const slips = slipsBetween(one, other, 20);
        expect(bitsIn(lettersOf(one) ^ lettersOf(other))).toBeLessThanOrEqual(2 * slips);
      }),
      { numRuns: 1_000 },
    );
    expect(bitsIn(lettersOf("order") ^ lettersOf("stock"))).toBeGreaterThan(4);
  });

  it("is one letter left out, put in, changed, or two exchanged", () => {
    const letters = fc.string({ unit: fc.constantFrom(..."abcde"), minLength: 4, maxLength: 9 });
    fc.assert(
      fc.property(letters, fc.nat(), fc.constantFrom("out", "in", "other", "swap"), (word, n, how) => {
        const at = n % (word.length - 1);
        const [head, tail] = [word.slice(0, at), word.slice(at)];
        const slip = {
          out: head + tail.slice(1),
          in: `${head}x${tail}`,
          other: `${head}x${tail.slice(1)}`,
          swap: head + (tail[1] ?? "") + (tail[0] ?? "") + tail.slice(2),
        }[how];
        expect(slipsBetween(word, slip, 2)).toBeLessThanOrEqual(1);
        expect(slipsBetween(slip, word, 2)).toBe(slipsBetween(word, slip, 2));
      }),
    );
    expect(slipsBetween("quantum", "quantity", 2)).toBe(3);
    expect(slipsBetween("order", "order", 2)).toBe(0);
  });
});

describe("skills beside nothing", () => {
  it("are told to be no answer by themselves where they merely resemble the need", () => {
    const skills = buildSkillIndex([
      skill("atomic-reserve-stock", "atomic", "Reserve a quantity of an article.", ["Reserve the quantity"]),
      skill("atomic-cancel-order", "atomic", "Cancel an order.", ["Cancel the order"]),
      ...Array.from({ length: 12 }, (_, n) => skill(`atomic-quantity-${n}`, "atomic", "Tell the quantity.", ["Tell it"])),
    ]);
    expect(searchSkills(skills, "quantum teleportation", { limit: 5 }).trusted).toBe(false);
    expect(searchSkills(skills, "cancel my order", { limit: 5 }).trusted).toBe(true);
  });
});
