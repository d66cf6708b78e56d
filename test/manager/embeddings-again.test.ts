import { afterAll, afterEach, describe, expect, it } from "vitest";
import { embeds, fails, type Model, type Mood } from "../fixtures/embeddings-server.js";
import { ECOSYSTEM } from "../retrieve/made.js";
import { closeSets, forgetHomes, set } from "./embeddings-kit.js";

const MODEL: Model = { dimension: 64, same: [["umbrella", "rain", "weather", "forecast"]] };
/** No pause ends within a test. */
const LONG = { retryMs: 600_000, retryMostMs: 600_000 };
const isStock = (text: string): boolean => text.includes("warehouse");
const refusing =
  (isRefused: (request: Parameters<Mood>[0]) => boolean, status = 400, message = "no"): Mood =>
  (request, response) =>
    (isRefused(request) ? fails(status, message) : embeds(MODEL))(request, response);
const listOf = (input: unknown): unknown[] => (Array.isArray(input) ? input : [input]);

afterEach(closeSets);
afterAll(forgetHomes);

describe("texts that an endpoint refused", () => {
  const mood = refusing(({ texts }) => texts.some(isStock));

  it("are asked for again by themselves, and embedded once they are taken", async () => {
    const { server, kit } = await set(mood, { limits: { refusedMs: 20, refusedMostMs: 40 } });
    await kit.until(() => kit.embeddings.status().includes("1 text it does not take (asked again"));
    expect(kit.embeddings.isFine()).toBe(false);
    const before = server.requests.length;
    await kit.until(() => server.requests.slice(before).some(({ texts }) => texts.some(isStock)));
    server.will(embeds(MODEL));
    await kit.until(kit.isWhole);
    await kit.until(() => kit.embeddings.isFine());
    expect(kit.embeddings.status()).toBe("made (64 dimensions): all embedded");
  });

  it("are asked for again at once where somebody has changed something, and else not before their time", async () => {
    const { server, kit } = await set(mood);
    await kit.until(() => kit.embeddings.status().includes("does not take (asked again in 1"));
    server.will(embeds(MODEL));
    const before = server.requests.length;
    kit.embeddings.wake();
    await kit.ask("weather forecast");
    expect(server.requests.slice(before).flatMap(({ texts }) => texts.filter(isStock))).toEqual([]);
    kit.embeddings.retry();
    await kit.until(kit.isWhole);
  });

  it("many of them cost a few requests a time: some try it for all, each time others", async () => {
    const { server, kit } = await set(
      refusing(({ texts }) => !texts.every((text) => /^(Look up one order by|Send a short message to)/.test(text))),
      { limits: { refusedMs: 30, refusedMostMs: 30, refusedAtOnce: 2 } },
    );
    await kit.until(() => kit.embeddings.status().includes(`${ECOSYSTEM.length} texts it does not take`));
    const before = server.requests.length;
    const tried = (): Set<string | undefined> => new Set(server.requests.slice(before).map(({ texts }) => texts[1]));
    await kit.until(() => tried().size >= ECOSYSTEM.length);
    server.will(embeds(MODEL));
    await kit.until(kit.isWhole);
  });
});

describe("an endpoint that failed", () => {
  it.each([401, 404, 400, 503])("with status %i says when it is asked again, and is asked at once on demand", async (status) => {
    const { server, kit } = await set(fails(status, "no such model"), { limits: LONG });
    await kit.until(() => kit.embeddings.status().includes("asked again by itself in"));
    expect(kit.embeddings.status()).toMatch(
      /its own words are in the log.*asked again by itself in \d+ min, or with a need before/,
    );
    server.will(embeds(MODEL));
    const before = server.requests.length;
    // A need just after the last try brings none.
    expect((await kit.ask("umbrella today")).notices.join(" ")).toContain(`status ${status}`);
    expect(server.requests).toHaveLength(before);
    kit.embeddings.retry();
    await kit.until(kit.isWhole);
    expect(kit.embeddings.isFine()).toBe(true);
  });

  it("is asked again for a need that comes a while after the last try, not for each one, and not before it asked to be", async () => {
    const { server, kit } = await set(fails(404), { limits: { ...LONG, needRetryMs: 0 } });
    await kit.until(() => kit.embeddings.status().includes("asked again by itself"));
    server.will(embeds(MODEL));
    await kit.ask("umbrella today");
    await kit.until(kit.isWhole);

    const resting = await set(fails(429, "slow", { "retry-after": "300" }), { limits: { ...LONG, needRetryMs: 0 } });
    await resting.kit.until(() => resting.kit.embeddings.status().includes("asked again by itself"));
    const before = resting.server.requests.length;
    for (const need of ["umbrella", "rain", "weather"]) await resting.kit.ask(need);
    expect(resting.server.requests).toHaveLength(before);
  });

  it("for a need is asked again by itself until it answers, though nobody searches", async () => {
    const { server, kit } = await set(embeds(MODEL));
    await kit.until(kit.isWhole);
    server.will(fails(503));
    await kit.ask("umbrella today");
    expect(kit.embeddings.isFine()).toBe(false);
    const before = server.requests.length;
    await kit.until(() => server.requests.length > before + 1);
    expect(server.requests.slice(before).every(({ texts }) => texts.length === 2)).toBe(true);
    server.will(embeds(MODEL));
    await kit.until(() => kit.embeddings.isFine());
    const settled = server.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(server.requests).toHaveLength(settled);
  });

  it("for every need but not for the fixed text is known for it, and left alone after some", async () => {
    const nothing: Mood = embeds(MODEL, (rows) => rows.map((row, i) => (i === 0 ? row : { index: i, embedding: null })));
    const { server, kit } = await set(embeds(MODEL), { limits: { ...LONG, restAfterFaults: 2, restMs: 600_000 } });
    await kit.until(kit.isWhole);
    server.will(nothing);
    await kit.ask("umbrella one");
    expect(kit.embeddings.status()).toMatch(/by words alone: .*no vector/);
    await kit.ask("umbrella two");
    const before = server.requests.length;
    expect((await kit.ask("umbrella three")).notices.join(" ")).toContain("left alone for a while");
    expect(server.requests).toHaveLength(before);
    expect(kit.embeddings.isFine()).toBe(false);
  });

  it("only for needs of some kind says that of the last ones, until one is taken", async () => {
    const { kit } = await set(refusing(({ texts }) => texts.some((text) => text.includes("zebra"))));
    await kit.until(kit.isWhole);
    await kit.ask("zebra today");
    await kit.until(() =>
      kit.embeddings.status().endsWith("the last need went by words (the embeddings endpoint answered with status 400)"),
    );
    expect(kit.embeddings.isFine()).toBe(false);
    await kit.ask("umbrella today");
    expect(kit.embeddings.isFine()).toBe(true);
  });
});

describe("an endpoint that takes one text a request", () => {
  it.each<[string, (input: unknown) => boolean]>([
    ["as a list of one", (input) => listOf(input).length === 1],
    ["as a text alone", (input) => typeof input === "string"],
  ])("%s is asked so, and remembered for it", async (_what, isTaken) => {
    const mood: Mood = (request, response) => {
      const input = request.body["input"];
      if (!isTaken(input)) fails(400, "input must be one string")(request, response);
      else embeds(MODEL)({ ...request, texts: listOf(input) as string[] }, response);
    };
    const { server, kit } = await set(mood);
    await kit.until(kit.isWhole);
    const before = server.requests.length;
    expect((await kit.ask("umbrella today")).tools[0]).toBe("weather/forecast");
    expect(server.requests).toHaveLength(before + 2);
    expect(kit.embeddings.isFine()).toBe(true);
  });

  it("is not taken for one where a text is refused and others are not", async () => {
    const { server, kit } = await set(refusing(({ texts }) => texts.some(isStock)));
    await kit.until(() => kit.embeddings.status().includes("all embedded, 1 text it does not take"));
    const before = server.requests.length;
    await kit.ask("umbrella today");
    expect(server.requests.slice(before).map(({ texts }) => texts.length)).toEqual([2]);
  });
});
