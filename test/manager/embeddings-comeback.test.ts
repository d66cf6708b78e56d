import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { embeds, fails, vectorOf, type EmbeddingsRequest, type Model, type Mood } from "../fixtures/embeddings-server.js";
import { ECOSYSTEM } from "../retrieve/made.js";
import { closeSets, forgetHomes, set } from "./embeddings-kit.js";

const MODEL: Model = { dimension: 64 };
const OTHER: Model = { dimension: 32, seed: "b" };
const FEW = ECOSYSTEM.slice(0, 3);
const QUICK = { retryMs: 1, retryMostMs: 2 };

afterEach(closeSets);
afterAll(forgetHomes);

/** Every text but the probe gets this row in place of its own. */
const rest = (row: (index: number) => JsonObject): Mood =>
  embeds(MODEL, (rows) => rows.map((kept, index) => (index === 0 ? kept : row(index))));
/** Whatever has a text beside the probe is refused. */
const probeOnly = (status: number): Mood => {
  return (request, response) => (request.texts.length > 1 ? fails(status) : embeds(MODEL))(request, response);
};

/** Ways in which an endpoint serves no text at all, though its probe may be served. */
const SERVES_NONE: readonly (readonly [string, Mood])[] = [
  ["nothing", rest((index) => ({ index, embedding: null }))],
  ["zeros", rest((index) => ({ index, embedding: new Array<number>(64).fill(0) }))],
  ["another length", rest((index) => ({ index, embedding: vectorOf("x", { dimension: 8 }) }))],
  ["no rows", embeds(MODEL, (rows) => rows.slice(0, 1))],
  ["a refusal of each text", probeOnly(400)],
  ["a refusal of their size", probeOnly(413)],
  ["a fault", fails(503)],
];

describe("an endpoint that serves no text and comes back", () => {
  it("between any two of its requests, whatever it served before, has every text embedded and none given up for it", async () => {
    const cases = SERVES_NONE.flatMap(([what, mood]) => [1, 2, 3, 4, 5, 6, 7, 8].map((bad) => ({ what, mood, bad })));
    for (const { what, mood, bad } of cases) {
      let asked = 0;
      const mends: Mood = (request, response) => (++asked <= bad ? mood : embeds(MODEL))(request, response);
      const { kit } = await set(mends, { limits: QUICK, tools: FEW });
      const givenUp = (): boolean => kit.told.some(({ text }) => text.includes("takes one text not"));
      await kit.until(() => kit.isWhole() || givenUp());
      expect({ what, bad, status: kit.embeddings.status() }).toEqual({ what, bad, status: "made (64 dimensions): all embedded" });
      await closeSets();
    }
  });

  it("and goes again, in any order, is not asked without a pause and has every text once it stays", async () => {
    const turns = fc.array(fc.boolean(), { minLength: 4, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...SERVES_NONE.slice(0, 6)), turns, async ([, mood], serves) => {
        let asked = 0;
        const { kit } = await set(
          (request, response) => ((serves[asked++] ?? true) ? embeds(MODEL) : mood)(request, response),
          // What was given up by an endpoint that served all in between is asked for again soon.
          { limits: { ...QUICK, refusedMs: 5, refusedMostMs: 10 }, tools: FEW },
        );
        await kit.until(kit.isWhole);
        expect(kit.world().vectors.tools.count).toBe(FEW.length);
        expect(asked).toBeLessThanOrEqual(serves.length + 3 * FEW.length + 10);
        await closeSets();
      }),
      { numRuns: 20 },
    );
  });
});

describe("a need that is on its way while another embedder comes into force", () => {
  it("is never taken for one of the new embedder's, neither now nor when it is asked again", async () => {
    const held: (() => void)[] = [];
    const isHeld = (request: EmbeddingsRequest): boolean => request.texts.includes("umbrella") && held.length === 0;
    let model = MODEL;
    const { kit } = await set((request, response) => {
      const answer = embeds(model);
      if (isHeld(request)) held.push(() => answer(request, response));
      else answer(request, response);
    });
    await kit.until(kit.isWhole);
    const { embedder } = kit.world().vectors;
    const first = kit.embeddings.embed("umbrella");
    await kit.until(() => held.length > 0);
    model = OTHER;
    await kit.embeddings.embed("rain");
    await kit.until(() => kit.world().vectors.embedder !== embedder && kit.isWhole());
    held[0]?.();
    expect(await first).toMatchObject({ kind: "vector", embedder });
    const again = await kit.embeddings.embed("umbrella");
    expect(again).toMatchObject({ kind: "vector", embedder: kit.world().vectors.embedder });
    expect(again.kind === "vector" && again.vector.length).toBe(32);
  });
});
