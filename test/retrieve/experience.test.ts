import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolKey } from "../../src/model/ids.js";
import { startCalibration } from "../../src/retrieve/calibrate.js";
import {
  experienceChannel,
  moveExperience,
  nearestTasks,
  NO_EXPERIENCE,
  NO_TRUST,
  votesOf,
  weightFor,
  type Experience,
  type Memory,
  type Present,
  type Trust,
} from "../../src/retrieve/experience.js";
import { buildToolIndex, searchTools, textRanking } from "../../src/retrieve/tools.js";
import { ECOSYSTEM, key, tool } from "./made.js";

const memory = (id: string, task: string, ...served: string[]): Memory => ({
  id,
  at: `2026-01-${id.padStart(2, "0")}`,
  task,
  served,
});
const remember = (...put: Memory[]): Experience => moveExperience(NO_EXPERIENCE, { put, removed: [] });
const asServed: Present<ToolKey> = ({ served }) => served.map(key);
const index = buildToolIndex(ECOSYSTEM);
const TRUST: Trust = { weight: 1, from: 0.05, to: 0.35 };

function ask(experience: Experience, need: string, trust: Trust = TRUST, present = asServed): ReturnType<typeof searchTools> {
  return searchTools(index, need, { limit: 5, channels: [experienceChannel(experience, trust, present)] });
}

describe("experience", () => {
  const gizmos = remember(
    memory("1", "where is my gizmo now", "shop/search_orders", "shop/get_order"),
    memory("2", "my gizmo has not arrived at home", "shop/get_order"),
    memory("3", "tell the customer about the delay", "mail/send_message"),
  );

  it("finds what served similar tasks although no word of theirs is in its texts, and says why [R05]", () => {
    expect(searchTools(index, "has the gizmo arrived", { limit: 5 }).hits).toEqual([]);
    const { hits } = ask(gizmos, "has the gizmo arrived");
    expect(hits[0]?.key).toBe("shop/get_order");
    expect(hits[0]?.reason).toBe("served 2 similar tasks");
  });

  it("shows nobody another one's words", () => {
    expect(JSON.stringify(ask(gizmos, "has the gizmo arrived"))).not.toMatch(/at home|where is my/);
  });

  it("says nothing without trust, but for a task that is remembered word for word", () => {
    const plain = searchTools(index, "has the gizmo arrived", { limit: 5 });
    expect(ask(gizmos, "has the gizmo arrived", NO_TRUST)).toEqual(plain);
    expect(ask(gizmos, "the gizmo has not arrived at my home", NO_TRUST).hits[0]?.key).toBe("shop/get_order");
  });

  it("speaks for what took over, and not for what is gone", () => {
    const renamed: Present<ToolKey> = ({ served }) =>
      served.flatMap((one) => (one === "shop/get_order" ? [key("shop/get_stock")] : []));
    expect(ask(gizmos, "has the gizmo arrived", TRUST, renamed).hits.map((hit) => hit.key)).toEqual(["shop/get_stock"]);
  });

  it("holds back where the text's best are tools that it has never seen", () => {
    const guarded = weightFor(TRUST, { nearest: 0.5, known: 0.2 });
    expect(guarded).toBeLessThan(0.05);
    expect(weightFor(TRUST, { nearest: 0.5, known: 1 })).toBe(1);
    expect(weightFor(TRUST, { nearest: 1, known: 0 })).toBe(4);
  });

  it("forgets the oldest beyond its limit", () => {
    const put = Array.from({ length: 9 }, (_, n) => memory(String(n + 1), `task number ${n}`, "a/b"));
    const kept = moveExperience(NO_EXPERIENCE, { put: put.toReversed(), removed: [] }, 3);
    expect([...kept.memories.keys()].sort()).toEqual(["7", "8", "9"]);
  });

  const word = fc.constantFrom("gizmo", "invoice", "refund", "weather", "send", "late", "customer", "please");
  const made = fc.record({
    id: fc.constantFrom("1", "2", "3", "4", "5"),
    task: fc.array(word, { maxLength: 5 }).map((words) => words.join(" ")),
    served: fc.subarray(["shop/get_order", "mail/send_message", "gone/tool"]),
  });
  const move = fc.record({ put: fc.array(made, { maxLength: 3 }), removed: fc.subarray(["1", "2", "3"]) });

  it("answers after any history exactly like one built afresh, and is not moved by what moves nothing", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 6 }), fc.array(word, { maxLength: 4 }), (moves, words) => {
        let moved = NO_EXPERIENCE;
        const present = new Map<string, Memory>();
        for (const { put, removed } of moves) {
          const memories = put.map(({ id, task, served }) => memory(id, task, ...served));
          moved = moveExperience(moved, { put: memories, removed });
          for (const id of removed) present.delete(id);
          for (const one of memories) present.set(one.id, one);
        }
        const afresh = remember(...present.values());
        const need = words.join(" ");
        expect(nearestTasks(moved, need, 9)).toEqual(nearestTasks(afresh, need, 9));
        expect(ask(moved, need)).toEqual(ask(afresh, need));
        expect(moveExperience(moved, { put: [], removed: ["9"] })).toBe(moved);
      }),
    );
  });

  it("gives shares that add up over the tasks that are near", () => {
    fc.assert(
      fc.property(fc.array(made, { maxLength: 5 }), fc.array(word, { minLength: 1, maxLength: 4 }), (memories, words) => {
        const near = nearestTasks(remember(...memories.map((one) => ({ ...one, at: "" }))), words.join(" "), 20);
        near.forEach(({ nearness }, i) => {
          expect(nearness).toBeGreaterThan(0);
          expect(nearness).toBeLessThanOrEqual(1 + 1e-9);
          expect(nearness).toBeLessThanOrEqual(near[i - 1]?.nearness ?? Number.POSITIVE_INFINITY);
        });
        for (const { share, nearest } of votesOf(near, asServed).values()) {
          expect(share).toBeLessThanOrEqual(1 + 1e-9);
          expect(nearest).toBeGreaterThan(0);
        }
      }),
    );
  });
});

describe("how far experience is trusted", () => {
  const tools = Array.from({ length: 12 }, (_, n) => tool(`x/tool_${n}`, { description: `Does thing ${n}.` }));
  const made = buildToolIndex(tools);
  const trustIn = (memories: readonly Memory[]): Trust => {
    const found = startCalibration(remember(...memories), (need) => textRanking(made, need), asServed);
    while (!found.advance(3));
    return found.trust();
  };
  const say = ["pears", "apples", "plums"];

  it("is found where similar tasks were served alike", () => {
    const memories = Array.from({ length: 60 }, (_, n) =>
      memory(String(n), `bring ${say[n % 3] ?? ""} number${n}`, `x/tool_${n % 3}`),
    );
    expect(trustIn(memories).weight).toBeGreaterThan(0);
  });

  it("is nothing where similar tasks were served otherwise, and where there are fewer than three", () => {
    // Every tool has one task: whatever is similar was served by another tool.
    const apart = Array.from({ length: 12 }, (_, n) =>
      memory(String(n), `bring ${say[n % 3] ?? ""} with thing ${n}`, `x/tool_${n}`),
    );
    expect(trustIn(apart)).toEqual(NO_TRUST);
    expect(trustIn([memory("1", "bring pears", "x/tool_1"), memory("2", "bring pears", "x/tool_1")])).toEqual(NO_TRUST);
  });

  it("is nothing for tools that are all gone", () => {
    const memories = Array.from({ length: 20 }, (_, n) => memory(String(n), `bring pears ${n}`, "gone/tool"));
    const found = startCalibration(
      remember(...memories),
      (need) => textRanking(made, need),
      () => [],
    );
    while (!found.advance(50));
    expect(found.trust()).toEqual(NO_TRUST);
  });

  it("is the same however it is cut into steps", () => {
    const memories = Array.from({ length: 30 }, (_, n) =>
      memory(String(n), `bring ${say[n % 3] ?? ""} number${n}`, `x/tool_${n % 3}`),
    );
    const whole = startCalibration(remember(...memories), (need) => textRanking(made, need), asServed);
    expect(whole.advance(1_000)).toBe(true);
    expect(trustIn(memories)).toEqual(whole.trust());
  });
});
