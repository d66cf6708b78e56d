/** Reading what an upstream lists is work on the thread that serves everybody: others come between, and the outcome is the same. */
import { describe, expect, it } from "vitest";
import { readListing } from "../../src/catalog/intake.js";
import type { Event } from "../../src/model/event.js";
import { createLister, type Lister } from "../../src/upstream/lister.js";
import type { Session } from "../../src/upstream/session.js";
import { label } from "./stand.js";

const TOOLS = Array.from({ length: 40 }, (_, n) =>
  n % 10 === 9 ? { description: "no name" } : { name: `tool-${n}`, description: `Does ${n}.`, inputSchema: { type: "object" } },
);

/** A lister over a session with these tools; each look at the clock is 15 ms after the one before. */
function listing(events: Event[]): Lister {
  let nowMs = 0;
  const session = { greeting: { capabilities: { tools: {} } }, request: () => Promise.resolve({ tools: TOOLS }) };
  return createLister({
    label: label("shop"),
    session: () => session as unknown as Session,
    post: (event) => void events.push(event),
    known: () => new Map(),
    now: () => "2026-01-01T00:00:00.000Z",
    elapsedMs: () => (nowMs += 15),
    timeoutMs: () => 1_000,
    pollMs: 0,
    onListed: () => undefined,
    onUnlistable: () => undefined,
    onFlapping: () => undefined,
  });
}

describe("reading a listing", () => {
  it("lets others in between its tools, and comes to what it comes to in one go", async () => {
    const events: Event[] = [];
    let between = 0;
    let reading = true;
    const count = (): void => {
      between += 1;
      if (reading) setImmediate(count);
    };
    setImmediate(count);
    await listing(events).now("start");
    reading = false;
    expect(between).toBeGreaterThan(10);
    expect(events).toMatchObject([{ kind: "listing", cause: "start", ...readListing(label("shop"), TOOLS) }]);
  });

  it("brings nothing of an upstream that was taken out meanwhile", async () => {
    const events: Event[] = [];
    const lister = listing(events);
    const done = lister.now("start");
    setImmediate(() => lister.stop());
    await done;
    expect(events).toEqual([]);
  });
});
