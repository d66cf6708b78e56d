import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactArgs } from "../../src/host/redact.js";
import type { Change } from "../../src/model/change.js";
import type { CallLine } from "../../src/model/episode.js";
import type { EpisodeId, ToolKey } from "../../src/model/ids.js";
import { createCallLog, type Answered, type CallLog } from "../../src/operations/call-log.js";
import { createSteward, type Steward } from "../../src/steward.js";
import { derive } from "../../src/world/rebuild.js";
import { emptyKnown } from "../../src/world/world.js";
import { levels } from "../model/deep.js";

const at = "2026-01-01T00:00:00.000Z";

/** A disc that keeps lines, counts its writes, and refuses those it is told to refuse. */
class Disc {
  readonly lines: CallLine[] = [];
  writes = 0;
  constructor(private readonly refuses: (write: number) => boolean = () => false) {}

  async persist(changes: readonly Change[]): Promise<void> {
    this.writes += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (this.refuses(this.writes)) throw new Error("the disc is full");
    for (const change of changes) if (change.kind === "call") this.lines.push(change.line);
  }

  linesOf(episode: string): CallLine[] {
    return this.lines.filter((line) => line.episode === episode);
  }
}

function open(disc: Disc): { calls: CallLog; steward: Steward; errors: string[] } {
  const errors: string[] = [];
  const log = (level: string, text: string): void => void (level === "error" && errors.push(text));
  const steward = createSteward({ world: derive(emptyKnown, new Map()), store: disc, log });
  const clock = { now: () => at, elapsedMs: () => performance.now() };
  const calls = createCallLog({ steward, clock, redact: (value) => redactArgs(value), log, flowKey: "key" });
  return { calls, steward, errors };
}

function call(episode: string, args: Answered["args"], result?: Answered["result"]): Answered {
  return {
    at,
    episode: episode as EpisodeId,
    open: undefined,
    view: undefined,
    tool: "shop/get" as ToolKey,
    contract: "0",
    args,
    result,
    ms: 1,
  };
}

const text = (value: string): Answered["result"] => ({ content: [{ type: "text", text: value }] });

describe("the call log", () => {
  it("writes every call once, in the order of the answers, numbered without a gap in its episode", async () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom("ep_a", "ep_b", "ep_c") },
      { weight: 1, arbitrary: fc.constant("settle") },
      { weight: 1, arbitrary: fc.constant("pause") },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const disc = new Disc();
        const { calls, steward } = open(disc);
        const added: number[] = [];
        for (const [n, kind] of steps.entries()) {
          if (kind === "settle") await calls.settled();
          else if (kind === "pause") await new Promise((resolve) => setImmediate(resolve));
          else {
            calls.add(call(kind, { n }));
            added.push(n);
          }
          if (kind === "settle") expect(disc.lines).toHaveLength(added.length);
        }
        await calls.settled();
        expect(disc.lines.map((line) => (line.args as { n: number }).n)).toEqual(added);
        for (const [id, episode] of steward.world().episodes) {
          expect(disc.linesOf(id).map((line) => line.seq)).toEqual(Array.from({ length: episode.calls }, (_, n) => n + 1));
        }
      }),
      { numRuns: 60 },
    );
  });

  it("needs few writes for many calls", async () => {
    const disc = new Disc();
    const { calls } = open(disc);
    for (let n = 0; n < 512; n += 1) calls.add(call(`ep_${n % 7}`, { n }));
    await calls.settled();
    expect(disc.lines).toHaveLength(512);
    expect(disc.writes).toBeLessThan(128);
  });

  it("names the call a value came from, also when both calls are written together", async () => {
    const disc = new Disc();
    const { calls } = open(disc);
    calls.add(call("ep_a", {}, text("O-1001")));
    calls.add(call("ep_a", { order: "O-1001" }));
    calls.add(call("ep_b", { order: "O-1001" }));
    await calls.settled();
    calls.add(call("ep_a", { id: "O-1001" }));
    await calls.settled();
    const from = { seq: 1, path: "", tool: "shop/get" };
    expect(disc.linesOf("ep_a").map((line) => line.flows)).toEqual([
      [],
      [{ to: "/args/order", from }],
      [{ to: "/args/id", from }],
    ]);
    expect(disc.linesOf("ep_b")[0]?.flows).toEqual([]);
  });

  it("says what a full disc lost, numbers what follows without a gap, and names no lost line as a source", async () => {
    const disc = new Disc((write) => write === 1);
    const { calls, steward, errors } = open(disc);
    calls.add(call("ep_a", { n: 1 }, text("value-1")));
    await calls.settled();
    expect(errors.join()).toContain("1 calls could not be written to the call log: Error: the disc is full");
    calls.add(call("ep_a", { n: 2, seen: "value-1" }));
    await calls.settled();
    expect(disc.lines).toMatchObject([{ seq: 1, args: { n: 2 }, flows: [] }]);
    expect(steward.world().episodes.get("ep_a")?.calls).toBe(1);
  });

  it("loses a call of which no line can be made, loudly, and none of those beside it", async () => {
    const disc = new Disc();
    const { calls, errors } = open(disc);
    const unprintable = JSON.parse(levels(100_000)) as Answered["args"];
    calls.add(call("ep_a", { n: 1 }));
    calls.add(call("ep_a", { n: 2 }, { structuredContent: unprintable }));
    calls.add(call("ep_a", { n: 3 }));
    await calls.settled();
    calls.add(call("ep_a", { n: 4 }));
    await calls.settled();
    expect(disc.lines.map(({ seq, args }) => [seq, args])).toEqual([
      [1, { n: 1 }],
      [2, { n: 3 }],
      [3, { n: 4 }],
    ]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain("A call of shop/get could not be written to the call log");
  });

  it("reads a result's text that is nested without end as a text", async () => {
    const disc = new Disc();
    const { calls, errors } = open(disc);
    calls.add(call("ep_a", {}, text(levels(50_000))));
    await calls.settled();
    expect(errors).toEqual([]);
    expect(disc.lines[0]?.shape).toEqual([{ path: "", type: "string" }]);
  });

  it("is settled by what was added before, however many calls come after", async () => {
    const disc = new Disc();
    const { calls } = open(disc);
    let more = true;
    const traffic = (async () => {
      for (let n = 0; more; n += 1) {
        calls.add(call("ep_busy", { n }));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    calls.add(call("ep_a", { n: 1 }));
    await calls.settled();
    expect(disc.linesOf("ep_a")).toHaveLength(1);
    more = false;
    await traffic;
    await calls.settled();
    expect(disc.linesOf("ep_busy").length).toBeGreaterThan(0);
  });

  it("keeps arguments without their secrets, and how a call ended", async () => {
    const disc = new Disc();
    const { calls } = open(disc);
    calls.add(call("ep_a", { password: "hunter22", id: 7 }, { content: [], isError: true }));
    calls.add({ ...call("ep_a", {}), fault: "call-timeout" });
    calls.add({ ...call("ep_a", {}), refused: true });
    calls.add(call("ep_a", {}, text("fine")));
    await calls.settled();
    expect(disc.lines[0]).toMatchObject({ args: { password: "[redacted]", id: 7 }, redacted: ["/password"] });
    expect(disc.lines.map(({ isError, fault }) => [isError, fault])).toEqual([
      [true, undefined],
      [true, "call-timeout"],
      [true, undefined],
      [false, undefined],
    ]);
  });

  it("counts a result exactly, and a large one by the bytes it came in; texts that no argument can be are not looked into", async () => {
    const disc = new Disc();
    const { calls } = open(disc);
    const rows = JSON.stringify({ rows: [{ id: "R-77", note: "x".repeat(2_000_000) }] });
    const dump = JSON.stringify({ rows: [{ id: "R-88", note: "x".repeat(5_000_000) }] });
    calls.add({ ...call("ep_a", {}, text("é")), bytes: 999 });
    calls.add({ ...call("ep_a", {}, text(rows)), bytes: 2_000_123 });
    calls.add({ ...call("ep_a", {}, text(dump)), bytes: 5_000_123 });
    calls.add(call("ep_a", { near: "R-77", far: "R-88" }, text(rows)));
    await calls.settled();
    const [small, large, larger, last] = disc.lines;
    expect(small?.bytes).toBe(Buffer.byteLength(JSON.stringify(text("é"))));
    expect(large).toMatchObject({
      bytes: 2_000_123,
      shape: [
        { path: "/rows/*/id", type: "string" },
        { path: "/rows/*/note", type: "string" },
      ],
    });
    expect(larger).toMatchObject({ bytes: 5_000_123, shape: [{ path: "", type: "string" }] });
    expect(last?.flows.map(({ to }) => to)).toEqual(["/args/near"]);
    expect(last?.bytes).toBe(Buffer.byteLength(JSON.stringify(text(rows))));
  });
});
