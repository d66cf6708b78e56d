import { describe, expect, it } from "vitest";
import type { Event } from "../../src/model/event.js";
import type { EpisodeId } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import { derive } from "../../src/world/rebuild.js";
import { emptyKnown, type World } from "../../src/world/world.js";

const DAY = 24 * 3_600_000;
const START = Date.parse("2026-01-01T00:00:00.000Z");
const day = (n: number): string => new Date(START + n * DAY).toISOString();
const kept = DEFAULT_POLICY.episodesKeptMs / DAY;

const post = (world: World, event: Event): World => advance(world, decide(world, event).changes);

function opened(world: World, id: string, at: string): World {
  const opening = { task: "refund an order", explicit: true, principal: "local" };
  return post(world, { kind: "episode-opened", at, episode: id as EpisodeId, opening });
}

function finished(world: World, id: string, at: string, trust: "claim" | "human"): World {
  const outcome = { outcome: "success" as const, trust, by: "somebody", at };
  return post(world, { kind: "episode-finished", at, episode: id as EpisodeId, outcome, calls: [] });
}

describe("episodes past their time", () => {
  it("are forgotten where nobody verified them, and stay for ever where somebody did", () => {
    let world = derive(emptyKnown, new Map());
    for (const id of ["ep_open", "ep_claimed", "ep_verified", "ep_young"])
      world = opened(world, id, day(id === "ep_young" ? 1 : 0));
    world = finished(world, "ep_claimed", day(0), "claim");
    world = finished(world, "ep_verified", day(0), "human");
    world = post(world, { kind: "tick", at: day(kept) });
    expect([...world.episodes.keys()].sort()).toEqual(["ep_claimed", "ep_open", "ep_verified", "ep_young"]);
    world = post(world, { kind: "tick", at: day(kept + 0.5) });
    expect([...world.episodes.keys()].sort()).toEqual(["ep_verified", "ep_young"]);
    world = post(world, { kind: "tick", at: day(kept + 2) });
    expect([...world.episodes.keys()]).toEqual(["ep_verified"]);
  });

  it("go after a day where nothing but searches is in them, unless somebody may still go on with them", () => {
    const opening = { task: "", explicit: false, principal: "local" };
    const open = (world: World, id: string, at: string): World =>
      post(world, { kind: "episode-opened", at, episode: id as EpisodeId, opening });
    const begin = (policy: Partial<typeof DEFAULT_POLICY>): World => {
      let world = derive({ ...emptyKnown, policy: { ...DEFAULT_POLICY, ...policy } }, new Map());
      for (const id of ["ep_searched", "ep_said"]) world = open(world, id, day(0));
      world = finished(world, "ep_said", day(0), "claim");
      return open(opened(world, "ep_task", day(0)), "ep_later", day(1));
    };
    let world = post(begin({}), { kind: "tick", at: day(1) });
    expect(world.episodes.size).toBe(4);
    world = post(world, { kind: "tick", at: day(1.1) });
    expect([...world.episodes.keys()].sort()).toEqual(["ep_later", "ep_said", "ep_task"]);
    const idle = post(begin({ episodeIdleMs: 3 * DAY }), { kind: "tick", at: day(2) });
    expect(idle.episodes.has("ep_searched" as EpisodeId)).toBe(true);
  });

  it("say how many they were, and nothing is said or written where there are none", () => {
    let world = derive(emptyKnown, new Map());
    for (let n = 0; n < 3; n += 1) world = opened(world, `ep_${n}`, day(0));
    const due = decide(world, { kind: "tick", at: day(kept + 1) });
    expect(due.changes.filter((change) => change.kind === "episode")).toHaveLength(3);
    expect(due.effects).toContainEqual(
      expect.objectContaining({ kind: "log", text: expect.stringMatching(/^3 episodes/) as string }),
    );
    world = advance(world, due.changes);
    expect(decide(world, { kind: "tick", at: day(kept + 2) }).effects).toEqual([]);
  });

  it("are as many as a policy of days says", () => {
    let world = derive({ ...emptyKnown, policy: { ...DEFAULT_POLICY, episodesKeptMs: 7 * DAY } }, new Map());
    world = opened(world, "ep_a", day(0));
    expect(post(world, { kind: "tick", at: day(6) }).episodes.size).toBe(1);
    expect(post(world, { kind: "tick", at: day(8) }).episodes.size).toBe(0);
  });
});
