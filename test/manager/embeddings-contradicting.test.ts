import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { readEmbeddings } from "../../src/manager/embeddings-translate.js";
import type { JsonObject } from "../../src/model/json.js";
import {
  embeds,
  embedsInTurn,
  embedsNoisily,
  hangs,
  vectorOf,
  type EmbeddingsServer,
  type Model,
  type Mood,
} from "../fixtures/embeddings-server.js";
import { ECOSYSTEM } from "../retrieve/made.js";
import { closeSets, forgetHomes, kitOn, open, set, type Kit } from "./embeddings-kit.js";

const MODEL: Model = { dimension: 64, same: [["umbrella", "rain", "weather", "forecast"]] };
const OTHER: Model = { ...MODEL, seed: "b" };
const NEED = "umbrella today";
/** Nothing is tried again within a test. */
const ONCE = { retryMs: 600_000, retryMostMs: 600_000 };

afterEach(closeSets);
afterAll(forgetHomes);

const folderOf = (kit: Kit): string => join(kit.folder, "state/vectors");
const textsAsked = (server: EmbeddingsServer): number => server.requests.reduce((sum, { texts }) => sum + texts.length - 1, 0);
const warnings = (kit: Kit): string[] => kit.told.filter(({ level }) => level === "warn").map(({ text }) => text);

describe("which vector is whose", () => {
  const row = (index: unknown, i: number): JsonObject => ({
    embedding: [i + 1, 1],
    ...(index === undefined ? {} : { index: index as number }),
  });
  const read = (indexes: readonly unknown[], count: number): ReturnType<typeof readEmbeddings> =>
    readEmbeddings({ data: indexes.map(row) }, count);

  it("is told by the index in any order, and by the order where no row has an index", () => {
    const orders = fc
      .integer({ min: 1, max: 8 })
      .chain((n) => fc.shuffledSubarray([...Array(n).keys()], { minLength: n, maxLength: n }));
    fc.assert(
      fc.property(orders, (order) => {
        const found = read(order, order.length);
        if (found.kind !== "vectors") throw new Error(found.kind);
        const [byIndex, inOrder] = [
          found.vectors,
          read(
            order.map(() => undefined),
            order.length,
          ),
        ];
        order.forEach((index, i) => expect((byIndex[index]?.[0] ?? 0) / (byIndex[index]?.[1] ?? 1)).toBeCloseTo(i + 1));
        expect(inOrder).toMatchObject({ kind: "vectors", rows: order.length });
      }),
    );
  });

  it("is never guessed: an index given twice, beyond the texts, no number or to some rows only spoils the answer", () => {
    const spoilt = fc
      .integer({ min: 2, max: 8 })
      .chain((n) =>
        fc.tuple(
          fc.constant(n),
          fc.nat(n - 1),
          fc.nat(n - 1),
          fc.constantFrom<unknown>("twice", undefined, null, -1, n, 1.5, "0", 1e9),
        ),
      );
    fc.assert(
      fc.property(spoilt, ([n, at, from, how]) => {
        const indexes: unknown[] = [...Array(n).keys()];
        indexes[at] = how === "twice" ? (at === from ? (from + 1) % n : from) : how;
        expect(read(indexes, n).kind).toBe("confused");
      }),
    );
  });

  it("cannot be told of fewer rows than texts without indexes, nor of more", () => {
    expect(read([undefined, undefined], 3).kind).toBe("short");
    expect(read([undefined, undefined, undefined], 2).kind).toBe("confused");
    expect(read([2, 0], 3)).toMatchObject({ kind: "vectors", rows: 2 });
  });
});

describe("an endpoint that does not agree with itself", () => {
  it("is not believed where it gives every vector the same index: search goes by words, says why, and mends", async () => {
    const { server, kit } = await set(embeds(MODEL, (rows) => rows.map((row) => ({ ...(row as object), index: 0 }))));
    await kit.until(() => kit.embeddings.status().includes("index 0"));
    expect(kit.world().vectors.tools.count).toBe(0);
    expect((await kit.ask(NEED)).notices.join(" ")).toMatch(/two vectors under index 0/);
    server.will(embeds(MODEL));
    await kit.until(kit.isWhole);
    expect((await kit.ask(NEED)).byVectors).toBe(true);
  });

  it("by noise embeds nothing over and over, keeps what is there, and says so once to the operator and in each answer", async () => {
    const { server, kit } = await set(embeds(MODEL), { limits: ONCE });
    await kit.until(kit.isWhole);
    const [{ embedder }, asked] = [kit.world().vectors, textsAsked(server)];
    server.will(embedsNoisily(MODEL));
    for (const need of ["umbrella one", "umbrella two", "umbrella three", "umbrella four"]) {
      const answer = await kit.ask(need);
      expect(answer.byVectors).toBe(false);
      expect(answer.notices.join(" ")).toMatch(/another embedder answers|does not agree with itself/);
      await kit.until(() => kit.embeddings.status().includes("does not agree with itself"));
    }
    expect((await kit.ask("umbrella five")).notices.join(" ")).toMatch(/does not agree with itself/);
    expect(kit.world().vectors).toMatchObject({ embedder, tools: { count: ECOSYSTEM.length } });
    // The needs that were asked, and no text of a tool.
    expect(textsAsked(server) - asked).toBeLessThanOrEqual(5);
    expect(warnings(kit).filter((text) => text.includes("does not agree with itself"))).toHaveLength(1);
    expect(readdirSync(folderOf(kit))).toHaveLength(1);
    server.will(embeds(MODEL));
    await kit.until(async () => (await kit.ask("umbrella six")).byVectors);
    expect(kit.embeddings.status()).toMatch(/all embedded; within the last hour, .*does not agree with itself/);
  });

  it("by noise from the start asks for its texts with growing pauses, not without end", async () => {
    const { server, kit } = await set(embedsNoisily(MODEL), { limits: ONCE });
    await kit.until(() => kit.embeddings.status().includes("does not agree with itself"));
    const { length } = server.requests;
    kit.embeddings.wake();
    await kit.ask(NEED);
    expect(length).toBeLessThanOrEqual(4);
    expect(server.requests.length - length).toBeLessThanOrEqual(3);
  });

  it("by replicas asked in turn is used as the one that answered first, until all is embedded by it", async () => {
    const { server, kit } = await set(embedsInTurn(MODEL, OTHER));
    await kit.until(() => kit.world().vectors.tools.count > 0);
    const { embedder } = kit.world().vectors;
    await kit.until(kit.isWhole);
    await kit.until(async () => (await kit.ask(`${NEED} ${server.requests.length}`)).byVectors);
    expect(kit.world().vectors.embedder).toBe(embedder);
    expect(readdirSync(folderOf(kit))).toHaveLength(1);
    expect(warnings(kit).filter((text) => text.includes("does not agree with itself"))).toHaveLength(1);
    // A change that lasts is followed all the same.
    server.will(embeds({ ...MODEL, seed: "c" }));
    await kit.ask("something else");
    await kit.until(() => kit.world().vectors.embedder !== embedder && kit.isWhole());
  });

  it("by turning into one model after the other is followed a few times, then held to it: texts are not embedded anew for ever", async () => {
    const { server, kit } = await set(embeds(MODEL), { limits: ONCE });
    await kit.until(kit.isWhole);
    const isUnsteady = (): boolean => kit.embeddings.status().includes("does not agree with itself");
    const once = textsAsked(server);
    let last = { ...MODEL };
    for (let n = 0; n < 12; n++) {
      const { embedder } = kit.world().vectors;
      const next = { ...MODEL, seed: `turn ${n}` };
      server.will(embeds(next));
      await kit.ask(`umbrella ${n}`);
      await kit.until(() => isUnsteady() || (kit.world().vectors.embedder !== embedder && kit.isWhole()));
      if (kit.world().vectors.embedder !== embedder) last = next;
    }
    expect(last.seed).toBe("turn 4");
    expect(textsAsked(server)).toBeLessThanOrEqual(6 * once + 12);
    expect(warnings(kit).filter((text) => text.includes("does not agree with itself"))).toHaveLength(1);
    // Back to the one that is in force, all is well.
    server.will(embeds(last));
    await kit.until(async () => (await kit.ask("umbrella again")).byVectors);
  });

  it("at each start takes none of the vectors away that an embedder which holds its word had made", async () => {
    const { server, kit } = await set(embeds(MODEL));
    await kit.until(kit.isWhole);
    const { embedder } = kit.world().vectors;
    await kit.stop();
    for (const seed of ["n1", "n2", "n3", "n4", "n5"]) {
      server.will(embedsInTurn({ ...MODEL, seed }, { ...MODEL, seed: `${seed} and` }, { ...MODEL, seed: `${seed} more` }));
      const restarted = await kitOn(server, { folder: kit.folder, limits: ONCE });
      await restarted.until(() => restarted.embeddings.status().includes("does not agree with itself"));
      await restarted.stop();
    }
    expect(readdirSync(folderOf(kit)).length).toBeLessThanOrEqual(3);
    server.will(embeds(MODEL));
    const asked = textsAsked(server);
    const again = await kitOn(server, { folder: kit.folder });
    open.push(again);
    await again.until(again.isWhole);
    expect(again.world().vectors.embedder).toBe(embedder);
    expect(textsAsked(server)).toBe(asked);
  });
});

describe("an endpoint that was not heard yet", () => {
  it("is said to be so in each answer, not passed over", async () => {
    const { kit } = await set(hangs, { limits: { needMs: 120 } });
    const asked = await kit.ask("weather forecast");
    expect(asked).toMatchObject({ byVectors: false, tools: ["weather/forecast"] });
    expect(asked.notices).toEqual(["Searched by words alone: the embeddings endpoint has not answered yet."]);
    expect(kit.embeddings.status()).toBe("made: asked, no answer yet");
  });
});

describe("vectors that no text is to blame for", () => {
  const short = (row: unknown, i: number): unknown => (i === 0 ? row : { index: i, embedding: vectorOf("x", { dimension: 8 }) });
  it.each<[string, Mood, RegExp]>([
    [
      "all but the first are of another length",
      embeds(MODEL, (rows) => rows.map(short)),
      /8 numbers for one text and 64 for another/,
    ],
    ["only the first one comes", embeds(MODEL, (rows) => rows.slice(0, 1)), /only 1 vector for 2 texts/],
    [
      "only the first one comes, and no row has an index",
      embeds(MODEL, (rows) => rows.slice(0, 1).map((row) => ({ embedding: (row as JsonObject)["embedding"] }))),
      /only 1 vector for 2 texts/,
    ],
    [
      "all but the first are nothing",
      embeds(MODEL, (rows) => rows.map((row, i) => (i === 0 ? row : { index: i, embedding: null }))),
      /no vector/,
    ],
  ])("%s: the endpoint is named as the cause, with a pause, and no text is given up", async (_what, mood, why) => {
    const { server, kit } = await set(mood, { limits: { retryMs: 20, retryMostMs: 40 } });
    await kit.until(() => why.test(kit.embeddings.status()));
    expect(kit.embeddings.status()).not.toContain("does not take");
    expect((await kit.ask(NEED)).notices.join(" ")).toMatch(/Searched by words alone/);
    expect(warnings(kit).some((text) => text.includes("takes one text not"))).toBe(false);
    server.will(embeds(MODEL));
    await kit.until(kit.isWhole);
    expect(kit.world().vectors.tools.count).toBe(ECOSYSTEM.length);
    expect(kit.embeddings.status()).toBe("made (64 dimensions): all embedded");
  });
});

describe("a file of vectors that was cut", () => {
  it("anywhere is whole again after one start, and no start makes it longer", async () => {
    const { server, kit } = await set(embeds(MODEL));
    await kit.until(kit.isWhole);
    await kit.stop();
    const path = join(folderOf(kit), readdirSync(folderOf(kit))[0] ?? "");
    const whole = readFileSync(path);
    const head = whole.indexOf(0x0a);
    const cuts = [1, head >> 1, head, head + 1, head + 40, head + 150, whole.length >> 1, whole.length - 1];
    for (const cut of cuts) {
      writeFileSync(path, whole);
      truncateSync(path, cut);
      const sizes: number[] = [];
      for (let start = 0; start < 3; start++) {
        const asked = textsAsked(server);
        const again = await kitOn(server, { folder: kit.folder });
        await again.until(again.isWhole);
        await again.stop();
        sizes.push(statSync(path).size);
        if (start > 0) {
          expect(textsAsked(server) - asked).toBe(0);
          expect(again.told.filter(({ text }) => text.includes("damaged"))).toEqual([]);
        }
      }
      expect(sizes).toEqual([whole.length, whole.length, whole.length]);
      const lines = readFileSync(path, "utf8").trimEnd().split("\n");
      expect(lines.every((line) => typeof (JSON.parse(line) as JsonObject)["format"] === "string")).toBe(true);
    }
  });

  it("grows only by what is appended to it, also behind a line of something else", async () => {
    const { server, kit } = await set(embeds(MODEL));
    await kit.until(kit.isWhole);
    await kit.stop();
    const path = join(folderOf(kit), readdirSync(folderOf(kit))[0] ?? "");
    appendFileSync(path, "nothing\n{");
    const again = await kitOn(server, { folder: kit.folder });
    open.push(again);
    await again.until(again.isWhole);
    expect(readFileSync(path, "utf8").endsWith("nothing\n")).toBe(true);
  });
});
