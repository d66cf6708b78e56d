import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolKey } from "../../src/model/ids.js";
import type { Tool } from "../../src/model/tool.js";
import { TOOL_SCORING } from "../../src/retrieve/score.js";
import type { ToolIndex, ToolSearchOptions } from "../../src/retrieve/tools.js";
import { buildToolIndex, moveToolIndex, searchTools } from "../../src/retrieve/tools.js";
import { ECOSYSTEM, key, tool } from "./made.js";

const ecosystem = buildToolIndex(ECOSYSTEM);

function keys(index: ToolIndex, need: string, options: Partial<ToolSearchOptions> = {}): string[] {
  return searchTools(index, need, { limit: 5, ...options }).hits.map((hit) => hit.key);
}

describe("a need in plain words", () => {
  it.each([
    ["I want to cancel the order of a customer, please", "shop/cancel_order"],
    ["email my colleague about the meeting", "mail/send_message"],
    ["is it going to rain in Paris tomorrow?", "weather/forecast"],
    ["file a bug in the repo", "code/create_issue"],
    ["how many are left in the warehouse", "shop/get_stock"],
  ])("%s → %s", (need, expected) => {
    expect(keys(ecosystem, need)[0]).toBe(expected);
  });

  it("finds snake_case and camelCase names by their words, a name counting more than a parameter [R02]", () => {
    const index = buildToolIndex([
      tool("a/export_invoice_pdf", { description: "Makes a file." }),
      tool("a/archive", { description: "Keeps a file.", takes: { invoice: "Which invoice to export" } }),
      tool("b/exportInvoice", { description: "Makes a file." }),
      tool("b/other", { description: "Something else." }),
    ]);
    expect(new Set(keys(index, "export an invoice now", { whole: true }).slice(0, 2))).toEqual(
      new Set(["a/export_invoice_pdf", "b/exportInvoice"]),
    );
  });

  it("finds tools by parameter names, parameter texts and output fields where the description is sparse [R05]", () => {
    const index = buildToolIndex([
      tool("x/op1", { description: "Runs it.", takes: { headline: "Words in news headlines" } }),
      tool("x/op2", { description: "Runs it.", takes: { iban: "Bank account" } }),
      tool("x/op3", { description: "Runs it.", yields: ["exchange_rate"] }),
    ]);
    expect(keys(index, "news about elections")[0]).toBe("x/op1");
    expect(keys(index, "check a bank account")[0]).toBe("x/op2");
    expect(keys(index, "exchange rate of the euro")[0]).toBe("x/op3");
  });

  it("understands synonyms and misspelt words, and says that it was not literal", () => {
    const index = buildToolIndex([
      tool("x/delete_picture", { description: "Delete a picture." }),
      tool("x/list_files", { description: "List files." }),
    ]);
    const { hits } = searchTools(index, "remove a photo", { limit: 5 });
    expect(hits[0]?.key).toBe("x/delete_picture");
    expect(hits[0]?.reason).toContain("words like remove, photo");
    expect(keys(index, "delete the pictrue")[0]).toBe("x/delete_picture");
  });

  it("finds words of any script [R03]", () => {
    const index = buildToolIndex([
      tool("cn/weather", { description: "查询城市天气预报" }),
      tool("cn/news", { description: "获取最新新闻" }),
      tool("th/weather", { description: "ดูสภาพอากาศวันนี้" }),
      tool("ru/news", { description: "Последние новости страны" }),
      tool("de/map", { description: "Straßen und Plätze auf der Karte" }),
    ]);
    expect(keys(index, "北京天气怎么样")[0]).toBe("cn/weather");
    expect(keys(index, "อากาศที่กรุงเทพ")[0]).toBe("th/weather");
    expect(keys(index, "НОВОСТИ")[0]).toBe("ru/news");
    expect(keys(index, "Strassen")[0]).toBe("de/map");
  });

  it("finds both tools of a need with two clauses", () => {
    const found = keys(ecosystem, "cancel the order, then send an e-mail message to the customer");
    expect(found).toContain("shop/cancel_order");
    expect(found).toContain("mail/send_message");
  });
});

describe("exact names", () => {
  it("are found in a need that is one word of a hundred thousand letters, or ends with one, without trying each of its letters", () => {
    const word = "a".repeat(100_000);
    expect(keys(ecosystem, word)).toEqual([]);
    expect(keys(ecosystem, `shop/cancel_order ${word}`)[0]).toBe("shop/cancel_order");
    expect(keys(ecosystem, `${word} shop/cancel_order`)[0]).toBe("shop/cancel_order");
  });

  const index = buildToolIndex([
    tool("math/add", { description: "Sum of two numbers." }),
    tool("crm/add_address", { description: "Add an address to the address book: add street, add city, add everything." }),
    tool("crm/addresses", { description: "All addresses. Add filters." }),
    tool("ops/get_order", { description: "Order." }),
    tool("shop/get_order", { description: "Look up one order." }),
  ]);

  it("puts the tool called `add` first for the query `add`, before address books [R11]", () => {
    const { hits } = searchTools(index, "add", { limit: 5 });
    expect(hits[0]).toMatchObject({ key: "math/add", score: 1 });
    expect(hits[0]?.reason).toContain("exact name");
  });

  it.each(["shop/get_order", "shop__get_order", "please call `shop/get_order` for 12"])(
    "finds a tool by its key: %s [R11]",
    (need) => {
      expect(keys(index, need)[0]).toBe("shop/get_order");
    },
  );

  it("finds every tool of that name, one for each server [R11]", () => {
    expect(keys(index, "get_order").slice(0, 2).sort()).toEqual(["ops/get_order", "shop/get_order"]);
  });

  it("matches words, not parts of words [R11]", () => {
    expect(keys(buildToolIndex([tool("a/address_book", { description: "Addresses." })]), "add")).toEqual([]);
  });
});

describe("few and right", () => {
  // Where the work grew faster than the need, these would take minutes and be given up.
  it.each<[string, string]>([
    ["one word", "x".repeat(200_000)],
    ["words tied by one sign", "a/".repeat(100_000)],
    ["marks", `a${"\u0301".repeat(200_000)}`],
    ["unseen joiners", `a${"\u200b".repeat(200_000)}b`],
    ["code marks", "`".repeat(200_000)],
    ["a script without spaces", "คืนเงิน".repeat(30_000)],
    ["emoji", "👩‍👩‍👧‍👦".repeat(10_000)],
    ["lone surrogates", "\ud800".repeat(200_000)],
  ])("answers a need of hundreds of thousands of characters, whatever it is made of: %s", (_what, need) => {
    expect(searchTools(ecosystem, need, { limit: 5 }).hits).toEqual([]);
  });

  it("answers with nothing and names the words it does not know, where nothing fits [R09]", () => {
    const answer = searchTools(ecosystem, "transcode a podcast into ogg vorbis", { limit: 5 });
    expect(answer.hits).toEqual([]);
    expect(answer.unmatched).toEqual(expect.arrayContaining(["transcode", "podcast", "ogg", "vorbis"]));
  });

  it("abstains where only a by-word matches [R09]", () => {
    const noise = buildToolIndex(
      Array.from({ length: 200 }, (_, n) =>
        tool(`s/light_${n}`, { description: `Switch light ${n} of the house on, quickly and on time.` }),
      ),
    );
    const answer = searchTools(noise, "what time does the museum of modern art open on sundays", { limit: 5 });
    expect(answer.hits.length).toBeLessThanOrEqual(5);
    expect(answer.unmatched).toEqual(expect.arrayContaining(["museum", "modern", "art"]));
    expect(answer.abstained).toBe(true);
  });

  it("calls an answer weak only where something is answered, by words of little strength and no exact name [R09]", () => {
    const needs = [
      "weather forecast",
      "weather",
      "weather/forecast",
      "forecast an order of the weather",
      "order",
      "bake a cake",
      "",
    ];
    for (const need of needs) {
      for (const weak of [0, 0.6, 5, 1_000]) {
        const answer = searchTools(ecosystem, need, { limit: 5, scoring: { ...TOOL_SCORING, weak } });
        if (answer.weak) expect(answer.hits.length, need).toBeGreaterThan(0);
        if (answer.weak) expect(answer.strength).toBeLessThan(weak);
        if (answer.hits.length > 0 && need === "forecast an order of the weather")
          expect(answer.weak).toBe(answer.strength < weak);
        if (need === "weather/forecast") expect(answer.weak).toBe(false);
      }
    }
  });

  it("never takes words that stand for those of the need for certainty: the best has half a score, and is called weak", () => {
    const words = [
      "remove",
      "purchase",
      "bill",
      "buy",
      "find",
      "mail",
      "booking",
      "climate",
      "please",
      "flight",
      "order",
      "message",
      "git hub",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }), (asked) => {
        const { hits, weak, strength } = searchTools(ecosystem, asked.join(" "), { limit: 5 });
        const [best] = hits;
        if (best === undefined) return;
        if (best.reason.startsWith("weak: ")) {
          expect(best.matched).toEqual([]);
          expect([best.score <= TOOL_SCORING.akin, weak]).toEqual([true, true]);
        } else if (best.matched.length > 0 && strength >= TOOL_SCORING.weak) expect([best.score, weak]).toEqual([1, false]);
        for (const hit of hits) expect(hit.score).toBeLessThanOrEqual(best.score);
      }),
    );
    const { hits } = searchTools(ecosystem, "remove the purchase", { limit: 5 });
    expect(hits[0]).toMatchObject({ score: 0.5, reason: "weak: has only words like purchase" });
  });

  it("shows few where one tool stands out", () => {
    expect(keys(ecosystem, "weather forecast")).toEqual(["weather/forecast"]);
  });

  it("gives everything in order when asked for the whole ranking", () => {
    expect(keys(ecosystem, "weather forecast for my order", { whole: true, limit: 100 }).length).toBeGreaterThan(2);
  });

  it("answers an empty need, a need of stop words and a need of blanks without fuss", () => {
    for (const need of ["", "   ", "the of and", "please", "🎉"]) {
      expect(searchTools(ecosystem, need, { limit: 5 }).hits).toEqual([]);
    }
  });
});

describe("what is offered", () => {
  it("never answers with a tool that is not offered, and counts its words as unknown [R06] [C23]", () => {
    const offered = (one: ToolKey): boolean => !one.startsWith("weather/");
    const answer = searchTools(ecosystem, "weather forecast", { limit: 5, offered });
    expect(answer.hits.map((hit) => hit.key)).not.toContain("weather/forecast");
    expect(answer.unmatched).toEqual(["weather", "forecast"]);
  });

  it("forgets the tools of a removed server, and their words [R06]", () => {
    const without = moveToolIndex(ecosystem, { changed: [], removed: [key("weather/forecast")] });
    expect(searchTools(without, "weather forecast", { limit: 5 }).hits).toEqual([]);
    expect(searchTools(without, "weather forecast", { limit: 5 }).unmatched).toEqual(["weather", "forecast"]);
    expect(keys(ecosystem, "weather forecast")).toEqual(["weather/forecast"]);
  });

  it("lets a superseded tool give way to its successors, with a pointer", () => {
    const successors = (one: ToolKey): ToolKey[] | undefined =>
      one === "shop/get_order" ? [key("shop/search_orders")] : undefined;
    const { hits } = searchTools(ecosystem, "look up one order by its number", { limit: 5, successors });
    expect(hits.map((hit) => hit.key)).not.toContain("shop/get_order");
    expect(hits[0]).toMatchObject({ key: "shop/search_orders", insteadOf: "shop/get_order" });
    expect(hits[0]?.reason).toContain("took over from shop/get_order");
  });

  it("keeps a superseded tool whose successors are not offered", () => {
    const successors = (one: ToolKey): ToolKey[] | undefined => (one === "shop/get_order" ? [key("gone/get_order")] : undefined);
    expect(keys(ecosystem, "look up one order by its number", { successors })[0]).toBe("shop/get_order");
  });
});

describe("what belongs together", () => {
  it("brings the tool that yields a required id", () => {
    const index = buildToolIndex([
      tool("hr/terminate_contract", { description: "End the contract of a worker.", takes: { "worker_id!": "Id" } }),
      tool("hr/search_workers", { description: "People by name.", yields: ["worker_id"] }),
      tool("hr/payroll", { description: "Monthly payroll run." }),
      tool("pay/search_workers", { description: "People by name." }),
    ]);
    const { hits } = searchTools(index, "terminate the contract", { limit: 5, whole: true });
    expect(hits.map((hit) => hit.key).slice(0, 2)).toEqual(["hr/terminate_contract", "hr/search_workers"]);
    expect(hits[1]).toMatchObject({ supplies: "hr/terminate_contract" });
    expect(hits[1]?.reason).toContain("yields what hr/terminate_contract requires");
  });

  it("tells near-duplicates apart by server, effect, required parameters and words [R08]", () => {
    const index = buildToolIndex([
      tool("eu/get_user", { description: "Get a user of the directory.", takes: { "user_id!": "" }, readOnly: true }),
      tool("us/get_user", {
        description: "Get a user of the directory.",
        takes: { "user_id!": "", "tenant!": "" },
        readOnly: true,
      }),
      tool("us/remove_user", {
        description: "Get a user of the directory removed.",
        takes: { "user_id!": "" },
        destructive: true,
      }),
    ]);
    const reasons = searchTools(index, "get a user of the directory", { limit: 5, whole: true }).hits.map((hit) => hit.reason);
    expect(reasons.join("\n")).toContain("unlike eu/get_user: on us, needs tenant");
    expect(reasons.join("\n")).toMatch(/may destroy/);
  });

  it("does not fill an answer with copies of one tool [R08]", () => {
    const copies = Array.from({ length: 6 }, (_, n) => tool(`s${n}/read_page`, { description: "Read a web page as text." }));
    const index = buildToolIndex([
      ...copies,
      tool("w/fetch_page", { description: "Fetch a web page and read it as text of markdown." }),
    ]);
    const { hits } = searchTools(index, "read a web page as text", { limit: 3 });
    expect(hits.map((hit) => hit.key)).toContain("w/fetch_page");
  });
});

describe("channels", () => {
  const channel = (scores: Record<string, number>, weight = 1): NonNullable<ToolSearchOptions["channels"]>[number] => ({
    name: "experience",
    speak: () => ({
      weight,
      scores: new Map(Object.entries(scores).map(([one, score]) => [key(one), score])),
      sure: false,
      because: () => "served a similar need",
    }),
  });

  it("add to the text's scores, and bring tools that the text does not know", () => {
    const found = keys(ecosystem, "weather forecast", { channels: [channel({ "mail/send_message": 1 })] });
    expect(new Set(found)).toEqual(new Set(["weather/forecast", "mail/send_message"]));
  });

  it("change nothing with weight 0, and never bring what is not offered or not indexed", () => {
    const plain = searchTools(ecosystem, "weather forecast", { limit: 5 });
    expect(searchTools(ecosystem, "weather forecast", { limit: 5, channels: [channel({ "shop/get_stock": 1 }, 0)] })).toEqual(
      plain,
    );
    const offered = (one: ToolKey): boolean => one !== "shop/get_stock";
    expect(keys(ecosystem, "weather forecast", { offered, channels: [channel({ "shop/get_stock": 1, "no/tool": 1 })] })).toEqual([
      "weather/forecast",
    ]);
  });
});

const VERBS = ["get", "list", "create", "delete", "search"];
const NOUNS = ["order", "invoice", "message", "user", "report"];
const LABELS = ["shop", "mail", "code"];
const made = fc
  .tuple(
    fc.constantFrom(...LABELS),
    fc.constantFrom(...VERBS),
    fc.constantFrom(...NOUNS),
    fc.constantFrom(...NOUNS),
    fc.constantFrom(...VERBS),
  )
  .map(([label, verb, noun, other, also]) =>
    tool(`${label}/${verb}_${noun}`, {
      description: `${verb} the ${noun}. Can ${also} its ${other}.`,
      takes: { [`${other}_id!`]: `Id of the ${other}` },
    }),
  );
const moves = fc.array(
  fc.record({
    changed: fc.array(made, { maxLength: 5 }),
    removed: fc.array(
      fc.constantFrom(
        ...LABELS.flatMap((label) => VERBS.flatMap((verb) => NOUNS.map((noun) => key(`${label}/${verb}_${noun}`)))),
      ),
      { maxLength: 8 },
    ),
  }),
  { maxLength: 8 },
);
const needs = fc
  .array(fc.constantFrom(...VERBS, ...NOUNS, "remove", "bill", "reprot", "shop", "please", "and"), { minLength: 1, maxLength: 8 })
  .map((words) => words.join(" "));

describe("laws", () => {
  it("moving one change at a time answers like a rebuild, byte for byte", () => {
    fc.assert(
      fc.property(moves, fc.array(needs, { minLength: 1, maxLength: 4 }), (steps, asked) => {
        const present = new Map<ToolKey, Tool>();
        let index = buildToolIndex([]);
        for (const { changed, removed } of steps) {
          for (const one of removed) present.delete(one);
          for (const one of changed) present.set(one.key, one);
          index = moveToolIndex(index, { changed, removed: removed.filter((one) => !present.has(one)) });
        }
        const fresh = buildToolIndex([...present.values()].reverse());
        for (const need of asked) {
          for (const whole of [true, false]) {
            expect(JSON.stringify(searchTools(index, need, { limit: 10, whole }))).toBe(
              JSON.stringify(searchTools(fresh, need, { limit: 10, whole })),
            );
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it("same index, same need, same bytes; an older index answers as before after others moved on", () => {
    fc.assert(
      fc.property(moves, needs, (steps, need) => {
        const before = JSON.stringify(searchTools(ecosystem, need, { limit: 10 }));
        steps.reduce((index, step) => moveToolIndex(index, step), ecosystem);
        expect(JSON.stringify(searchTools(ecosystem, need, { limit: 10 }))).toBe(before);
      }),
      { numRuns: 40 },
    );
  });

  it("answers as ever after a search that was broken off, and within a search that asks another", () => {
    const answer = (need: string, offered?: (one: ToolKey) => boolean): string =>
      JSON.stringify(searchTools(ecosystem, need, { limit: 10, whole: true, offered }));
    fc.assert(
      fc.property(needs, needs, fc.nat({ max: 30 }), (need, other, after) => {
        const [before, otherBefore] = [answer(need), answer(other)];
        let asked = 0;
        const breaksOff = (): boolean => {
          if (asked++ === after) throw new Error("broken off");
          return true;
        };
        try {
          answer(other, breaksOff);
        } catch {
          // What it left behind is what is looked at.
        }
        expect(answer(need)).toBe(before);
        const within = (): boolean => answer(other) === otherBefore;
        expect(answer(need, within)).toBe(before);
      }),
      { numRuns: 100 },
    );
  });

  it("scores lie between 0 and 1, fall from hit to hit but for exact names and copies, and hits are distinct", () => {
    fc.assert(
      fc.property(fc.array(made, { maxLength: 20 }), needs, fc.integer({ min: 1, max: 8 }), (tools, need, limit) => {
        const index = buildToolIndex(new Map(tools.map((one) => [one.key, one])).values());
        const { hits } = searchTools(index, need, { limit });
        expect(hits.length).toBeLessThanOrEqual(limit);
        expect(new Set(hits.map((hit) => hit.key)).size).toBe(hits.length);
        for (const hit of hits) {
          expect(hit.score).toBeGreaterThan(0);
          expect(hit.score).toBeLessThanOrEqual(1);
          expect(hit.reason).not.toBe("");
        }
      }),
    );
  });

  it("a listing that moved nothing costs no index operation, one that moved k tools costs k", () => {
    expect(moveToolIndex(ecosystem, { changed: [], removed: [] })).toBe(ecosystem);
    const [first, second] = ECOSYSTEM;
    if (first === undefined || second === undefined) throw new Error("no tools");
    const moved = moveToolIndex(ecosystem, { changed: [first], removed: [second.key] });
    expect(moved.operations - ecosystem.operations).toBe(2);
  });
});
