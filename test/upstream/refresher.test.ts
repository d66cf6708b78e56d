import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { UPSTREAM_LIMITS } from "../../src/model/policy.js";
import { createRefresher } from "../../src/upstream/refresher.js";
import type { RefreshCause, Refresher } from "../../src/upstream/refresher.js";

interface Watched {
  readonly refresher: Refresher;
  /** The list's state, the one that was seen last; how often it was read, how often for news, how many readings at once. */
  readonly state: { at: number; seen: number; runs: number; news: number; most: number; told: (number | undefined)[] };
}

describe("the refresher", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A list that moves; what a refresh saw is what stood when it began. */
  function watched(takesMs = 0): Watched {
    const state: Watched["state"] = { at: 0, seen: 0, runs: 0, news: 0, most: 0, told: [] };
    let under = 0;
    const refresh = async (_: RefreshCause): Promise<boolean> => {
      const saw = state.at;
      state.runs += 1;
      under += 1;
      state.most = Math.max(state.most, under);
      await new Promise((done) => setTimeout(done, takesMs));
      under -= 1;
      const news = saw !== state.seen;
      state.seen = saw;
      state.news += news ? 1 : 0;
      return news;
    };
    const onFlapping = (slowedMs: number | undefined): void => void state.told.push(slowedMs);
    return { refresher: createRefresher({ refresh, elapsedMs: () => Date.now(), onFlapping }), state };
  }

  it("never loses the last change, never runs twice at once, whatever the timing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 40 }),
        fc.integer({ min: 0, max: 700 }),
        async (pauses, takesMs) => {
          const { refresher, state } = watched(takesMs);
          for (const pause of pauses) {
            await vi.advanceTimersByTimeAsync(pause);
            state.at += 1;
            refresher.ask("list_changed");
          }
          await vi.advanceTimersByTimeAsync(130_000);
          expect(state.seen).toBe(state.at);
          expect(state.most).toBeLessThanOrEqual(1);
          refresher.stop();
        },
      ),
      { numRuns: 60 },
    );
  });

  it("waits longer and longer while nothing changes, and is prompt again after news", async () => {
    const { refresher, state } = watched(0);
    const timer = setInterval(() => refresher.ask("list_changed"), 20);
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    const calm = state.runs;
    expect(calm).toBeLessThan(25);
    state.at += 1;
    const before = state.runs;
    while (state.seen !== state.at) await vi.advanceTimersByTimeAsync(100);
    state.at += 1;
    await vi.advanceTimersByTimeAsync(600);
    expect(state.seen).toBe(state.at);
    expect(state.runs).toBe(before + 2);
    clearInterval(timer);
    refresher.stop();
  });

  it("looks less and less often at a list that is another each time, or every other time, and sees its last word", async () => {
    for (const other of [1, 2, 3]) {
      const { refresher, state } = watched(0);
      let told = 0;
      const timer = setInterval(() => {
        told += 1;
        if (told % (other * 25) < 25) state.at += 1;
        refresher.ask("list_changed");
      }, 20);
      await vi.advanceTimersByTimeAsync(15_000);
      expect(state.runs).toBeLessThanOrEqual(9);
      clearInterval(timer);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(state.seen).toBe(state.at);
      refresher.stop();
    }
  });

  it("sees a single change at once, also of a list that flapped before", async () => {
    const { refresher, state } = watched(0);
    for (let at = 0; at < 500; at += 1) {
      state.at += 1;
      refresher.ask("list_changed");
      await vi.advanceTimersByTimeAsync(20);
    }
    for (const calmMs of [20_000, 9_000, 600_000]) {
      await vi.advanceTimersByTimeAsync(calmMs);
      state.at += 1;
      refresher.ask("list_changed");
      await vi.advanceTimersByTimeAsync(UPSTREAM_LIMITS.refreshDelayMs + 10);
      expect(state.seen).toBe(state.at);
    }
    refresher.stop();
  });

  const DAY_MS = 24 * 3_600_000;
  /** Of a day: some at once, one for each cooling, and those until the wait is longest. */
  const most = UPSTREAM_LIMITS.flapFew + DAY_MS / UPSTREAM_LIMITS.flapCoolMs + 12;

  /** A list that moves after each of these pauses, in turn, and says so. */
  async function flap({ refresher, state }: Watched, pauses: readonly number[], forMs: number): Promise<void> {
    const endMs = Date.now() + forMs;
    for (let turn = 0; Date.now() < endMs; turn += 1) {
      await vi.advanceTimersByTimeAsync(pauses[turn % pauses.length] ?? 1);
      state.at += 1;
      refresher.ask("list_changed");
    }
  }

  it("sees some hundreds of changes in a day, whatever their spacing, and the last of them", async () => {
    const pause = fc.oneof(fc.integer({ min: 1_000, max: 9_000 }), fc.integer({ min: 9_000, max: 400_000 }));
    await fc.assert(
      fc.asyncProperty(fc.array(pause, { minLength: 1, maxLength: 4 }), async (pauses) => {
        const one = watched();
        await flap(one, pauses, DAY_MS);
        expect(one.state.news).toBeLessThanOrEqual(most);
        await vi.advanceTimersByTimeAsync(UPSTREAM_LIMITS.flapSlowMaxMs);
        expect(one.state.seen).toBe(one.state.at);
        one.refresher.stop();
      }),
      { numRuns: 12, examples: [[[1_000]], [[2_100]], [[8_100]], [[33_000]]] },
    );
  });

  it("holds to that also where changes are found by looking, and where half of the looks find the same list", async () => {
    const looked = watched();
    const timer = setInterval(() => {
      looked.state.at += 1;
      looked.refresher.ask("poll");
    }, 30_000);
    await vi.advanceTimersByTimeAsync(DAY_MS);
    clearInterval(timer);
    expect(looked.state.news).toBeLessThanOrEqual(most);
    looked.refresher.stop();

    const halved = watched();
    const away = setInterval(() => {
      halved.state.at = 1 - halved.state.at;
      halved.refresher.ask("list_changed");
    }, 7_000);
    await vi.advanceTimersByTimeAsync(DAY_MS);
    clearInterval(away);
    expect(halved.state.news).toBeLessThanOrEqual(most);
    expect(halved.state.runs).toBeLessThanOrEqual(2 * most);
    halved.refresher.stop();
  });

  it("sees each of a few dozen ordinary changes at once", async () => {
    const { refresher, state } = watched();
    for (let change = 0; change < UPSTREAM_LIMITS.flapFew; change += 1) {
      state.at += 1;
      refresher.ask("list_changed");
      await vi.advanceTimersByTimeAsync(UPSTREAM_LIMITS.refreshDelayMs + 10);
      expect(state.seen).toBe(state.at);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(state.told).toEqual([]);
    expect(refresher.slowedMs()).toBeUndefined();
    refresher.stop();
  });

  it("tells once that a list flaps and how long it waits, and once that it is calm; then changes are seen at once again", async () => {
    const one = watched();
    await flap(one, [3_000], DAY_MS / 4);
    expect(one.state.told).toEqual([expect.any(Number)]);
    expect(one.refresher.slowedMs()).toBeGreaterThan(60_000);
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(one.refresher.slowedMs()).toBeUndefined();
    for (let change = 0; change < 3; change += 1) {
      one.state.at += 1;
      one.refresher.ask("list_changed");
      await vi.advanceTimersByTimeAsync(UPSTREAM_LIMITS.refreshDelayMs + 10);
      expect(one.state.seen).toBe(one.state.at);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(one.state.told).toEqual([expect.any(Number), undefined]);
    one.refresher.stop();
  });

  it("reads a flapping list at once where somebody asks for it", async () => {
    const one = watched();
    await flap(one, [3_000], DAY_MS / 4);
    one.state.at += 1;
    const asked = one.refresher.now("sync");
    await vi.advanceTimersByTimeAsync(1);
    await asked;
    expect(one.state.seen).toBe(one.state.at);
    one.refresher.stop();
  });
});
