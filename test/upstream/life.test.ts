import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Fault } from "../../src/model/fault.js";
import { UPSTREAM_LIMITS } from "../../src/model/policy.js";
import { createLifeWatch } from "../../src/upstream/life.js";
import { Unanswered } from "../../src/upstream/session.js";
import type { Session, SessionRequest } from "../../src/upstream/session.js";
import { fixture, stand, textOf, until } from "./stand.js";

const posix = process.platform !== "win32";

describe.skipIf(!posix)("a spawned upstream", () => {
  const faultOf = (call: Promise<unknown>): Promise<Fault | undefined> =>
    call.then(
      () => undefined,
      (error: unknown) => error as Fault,
    );

  it("that is frozen is ended and started anew while calls keep coming, and says why [T23]", async () => {
    const one = stand(fixture("silent.mjs", ["frozen"], { callTimeoutMs: 400 }));
    await one.reach("up");
    const { pid } = one.status();
    const calls: Promise<unknown>[] = [];
    // There is always one in flight: the next is sent before the last is given up.
    while (one.status().pid === pid) {
      calls.push(faultOf(one.call("freeze")));
      await sleep(150);
    }
    await one.reach("away");
    expect(one.status().presence.reason).toMatch(/no sign of life: call after call was not answered, and no message came/);
    await until(async () => (await one.call("pid").then(textOf, () => String(pid))) !== String(pid), "a new one answers");
    const told = (await Promise.all(calls)) as (Fault | undefined)[];
    expect(told.map((fault) => fault?.code)).toContain("call-timeout");
    expect(told.every((fault) => fault?.blame === "upstream")).toBe(true);
  });

  it("that answers nothing but says something is slow, and is left as it is", async () => {
    const one = stand(fixture("silent.mjs", ["talks"], { callTimeoutMs: 300 }));
    await one.reach("up");
    const { pid } = one.status();
    for (let at = 0; at < 8; at += 1) {
      void faultOf(one.call("freeze"));
      await sleep(200);
    }
    await faultOf(one.call("freeze"));
    await sleep(700);
    expect(textOf(await one.call("pid"))).toBe(String(pid));
    expect(one.presences()).toEqual(["connecting", "up"]);
  });

  it("that reads no more is started anew, and what it did not take is said to be its fault", async () => {
    const one = stand(fixture("silent.mjs", ["deaf"], { callTimeoutMs: 400 }));
    await one.reach("up");
    const { pid } = one.status();
    const text = "x".repeat(16 * 1024 * 1024);
    const asked = [one.call("freeze"), ...Array.from({ length: 6 }, () => one.call("pid", { text }))].map(faultOf);
    await sleep(50);
    const refused = await faultOf(one.call("pid"));
    expect(refused).toMatchObject({ code: "upstream-busy", blame: "upstream", retryable: true });
    expect(refused?.detail).toContain("does not read its input");
    await Promise.all(asked);
    await until(() => one.status().pid !== undefined && one.status().pid !== pid, "a new process", undefined, 20_000);
    const away = one.events.find((event) => event.kind === "presence" && event.state === "away");
    expect(away).toMatchObject({ reason: expect.stringContaining("no sign of life: it does not read its input") as string });
  });
});

describe("the watch over signs of life", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watched(pings: (request: SessionRequest) => Promise<object>) {
    const state = { inFlight: 0, heardMs: 0, dead: [] as string[], pinged: 0 };
    const session = {
      greeting: { era: "legacy" },
      inFlight: () => state.inFlight,
      heardMs: () => state.heardMs,
      request: (request: SessionRequest) => {
        state.pinged += 1;
        expect(state.inFlight).toBe(0);
        return pings(request);
      },
    } as unknown as Session;
    const life = createLifeWatch({
      current: () => session,
      elapsedMs: () => Date.now(),
      callTimeoutMs: () => 60_000,
      onDead: (_, reason) => void state.dead.push(reason),
    });
    const timedOut = (sentMs: number): void => {
      life.unanswered(session, new Unanswered("timeout", "late", false, { sentMs }));
      life.settled(session);
    };
    return { state, session, life, timedOut };
  }
  const unanswered = async ({ timeoutMs }: SessionRequest): Promise<never> => {
    await sleepFake(timeoutMs);
    throw new Unanswered("timeout", "late", false, { sentMs: 0 });
  };
  const sleepFake = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
  const begin = Date.now() + 1_000;

  it("never pings while a call runs, and takes calls that were given up together for one silence", () => {
    const { state, timedOut } = watched(unanswered);
    vi.setSystemTime(begin + 60_000);
    state.inFlight = 3;
    timedOut(begin);
    timedOut(begin + 1);
    expect(state).toMatchObject({ pinged: 0, dead: [] });
    vi.setSystemTime(begin + 60_000 + UPSTREAM_LIMITS.pingMs);
    timedOut(begin + UPSTREAM_LIMITS.pingMs);
    expect(state.dead).toHaveLength(1);
  });

  it("begins anew with whatever comes between", () => {
    const { state, timedOut } = watched(unanswered);
    state.inFlight = 1;
    for (let at = 1; at < 20; at += 1) {
      vi.setSystemTime(begin + at * 60_000);
      timedOut(begin + (at - 1) * 60_000);
      state.heardMs = begin + at * 60_000 + 1;
    }
    expect(state).toMatchObject({ pinged: 0, dead: [] });
  });

  it("holds an unanswered ping against it though a call came meanwhile, where all was silent since the call that was given up", async () => {
    for (const said of [false, true]) {
      const { state, timedOut } = watched(unanswered);
      vi.setSystemTime(begin + 60_000);
      if (said) state.heardMs = begin + 30_000;
      timedOut(begin);
      state.inFlight = 1;
      await vi.advanceTimersByTimeAsync(UPSTREAM_LIMITS.pingMs + 1);
      expect(state.pinged).toBe(1);
      expect(state.dead).toHaveLength(said ? 0 : 1);
    }
  });

  it("asks twice where the input is full: it may be read, only slowly", async () => {
    let full = true;
    const { state, session, life } = watched(() =>
      full ? Promise.reject(new Unanswered("busy", "full", true)) : Promise.resolve({}),
    );
    const refused = (): void => {
      life.unanswered(session, new Unanswered("busy", "full", true));
      life.settled(session);
    };
    refused();
    full = false;
    await vi.advanceTimersByTimeAsync(UPSTREAM_LIMITS.pingMs + 1);
    expect(state).toMatchObject({ pinged: 2, dead: [] });
    full = true;
    refused();
    await vi.advanceTimersByTimeAsync(UPSTREAM_LIMITS.pingMs + 1);
    expect(state.dead).toEqual([expect.stringContaining("it does not read its input")]);
  });
});
