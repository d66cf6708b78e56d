import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/host/clock.js";
import type { Outcome } from "../../src/model/episode.js";
import type { Event } from "../../src/model/event.js";
import type { EpisodeId, UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { Tool } from "../../src/model/tool.js";
import { createCalibrating } from "../../src/operations/calibrate.js";
import { createSteward } from "../../src/steward.js";
import { derive, rebuild } from "../../src/world/rebuild.js";
import { isCalibrationDue } from "../../src/world/experience.js";
import { gather } from "../../src/world/turn.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import { ECOSYSTEM, tool } from "../retrieve/made.js";
import { MemoryGround } from "./ground.js";

let minute = 0;
const at = (): string => new Date(Date.UTC(2026, 0, 1, 0, (minute += 1))).toISOString();
const NEED = "has the gizmo arrived at his home";

class Home {
  readonly ground = new MemoryGround();
  readonly steward = createSteward({ world: derive(emptyKnown, new Map()), store: this.ground, log: () => undefined });
  readonly calibrating = createCalibrating(this.steward, systemClock(), (_level, text) => {
    throw new Error(text);
  });
  private episodes = 0;

  async start(): Promise<this> {
    const labels = [...new Set(ECOSYSTEM.map(({ label }) => label))];
    const upstreams = new Map(labels.map((label) => [label, { disabled: false, prefix: label }]));
    await this.steward.post({ kind: "configured", at: at(), starting: true, upstreams, policy: DEFAULT_POLICY });
    for (const label of labels)
      await this.list(
        label,
        ECOSYSTEM.filter((one) => one.label === label),
      );
    return this;
  }

  async list(label: UpstreamLabel, tools: readonly Tool[]): Promise<void> {
    await this.steward.post({ kind: "listing", at: at(), label, tools, problems: [], cause: "sync" });
  }

  /** One task that called tools and ended. */
  async lives(task: string, tools: readonly string[], outcome: Outcome["outcome"], trust: Outcome["trust"]): Promise<EpisodeId> {
    const episode = `ep_${(this.episodes += 1)}` as EpisodeId;
    await this.steward.post({ kind: "episode-opened", at: at(), episode, opening: { task, explicit: true, principal: "local" } });
    const calls = tools.map((called): Extract<Event, { kind: "episode-calls" }>["calls"][number] => ({
      line: {
        at: at(),
        episode,
        tool: called,
        contract: "c",
        args: {},
        redacted: [],
        isError: false,
        bytes: 1,
        shape: [],
        flows: [],
        ms: 1,
      },
    }));
    await this.steward.post({ kind: "episode-calls", at: at(), calls });
    await this.ends(episode, outcome, trust);
    return episode;
  }

  async ends(episode: EpisodeId, outcome: Outcome["outcome"], trust: Outcome["trust"]): Promise<void> {
    const when = at();
    await this.steward.post({
      kind: "episode-finished",
      at: when,
      episode,
      outcome: { outcome, trust, by: "someone", at: when },
      calls: [],
    });
  }

  /** Ten verified tasks that one tool served, and trust found. */
  async learns(served = "shop/get_order", trust: Outcome["trust"] = "state"): Promise<EpisodeId[]> {
    const episodes: EpisodeId[] = [];
    for (const owner of ["Ann", "Bob", "Cid", "Dan", "Eva", "Flo", "Gus", "Hal", "Ida", "Jon"])
      episodes.push(await this.lives(`the gizmo of ${owner} has not arrived at home`, [served], "success", trust));
    await this.weighs();
    return episodes;
  }

  async weighs(): Promise<void> {
    this.calibrating.wake();
    for (;;) {
      const { experience, calibration, catalog } = this.steward.world();
      if (!isCalibrationDue(experience, calibration, catalog)) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  finds(world: World = this.steward.world()): { tools: string[]; reasons: string[] } {
    const { tools } = gather(world, { kind: "retrieve", text: NEED }, { allowed: undefined }).candidates;
    return { tools: tools.map((one) => one.tool.key), reasons: tools.map(({ reason }) => reason) };
  }
}

const open = (): Promise<Home> => new Home().start();

describe("verified episodes", () => {
  it("bring the tools that served them to similar tasks, with the reason", async () => {
    const home = await open();
    expect(home.finds().tools).not.toContain("shop/get_order");
    await home.learns();
    expect(home.finds().tools[0]).toBe("shop/get_order");
    expect(home.finds().reasons[0]).toContain("served 10 similar tasks");
    expect(home.steward.world().calibration).toMatchObject({ memories: 10 });
  });

  it.each<[string, Outcome["outcome"], Outcome["trust"]]>([
    ["an agent's own claim", "success", "claim"],
    ["a verified failure", "failure", "human"],
    ["a task that was given up", "abandoned", "state"],
  ])("do not include %s", async (_what, outcome, trust) => {
    const home = await open();
    for (let n = 0; n < 6; n++) await home.lives(`the gizmo has not arrived at home ${n}`, ["shop/get_order"], outcome, trust);
    await home.weighs();
    expect(home.steward.world().experience.memories.size).toBe(0);
    expect(home.finds().tools).not.toContain("shop/get_order");
  });

  it("are withdrawn where a stronger word says that they failed", async () => {
    const home = await open();
    const [first] = await home.learns("shop/get_order", "replay");
    if (first === undefined) throw new Error("no episode");
    await home.ends(first, "failure", "human");
    expect(home.steward.world().experience.memories.has(first)).toBe(false);
    expect(home.finds().reasons[0]).toContain("served 9 similar tasks");
  });

  it("speak for what took over from a tool that left", async () => {
    const home = await open();
    await home.learns();
    const shop = ECOSYSTEM.filter((one) => one.label === "shop");
    const renamed = shop.map((one) =>
      one.key === "shop/get_order"
        ? tool("shop/getOrder", {
            description: one.description,
            takes: { "order_id!": "Number of the order" },
            readOnly: true,
          })
        : one,
    );
    await home.list("shop" as UpstreamLabel, renamed);
    expect(home.finds().tools[0]).toBe("shop/getOrder");
  });

  it("are remembered by a start, with the trust that was found", async () => {
    const home = await open();
    await home.learns();
    const world = home.steward.world();
    const again = rebuild(home.ground.read(), at());
    const same: World = { ...again, policy: world.policy, prefixes: world.prefixes };
    expect(same.calibration).toEqual(world.calibration);
    expect(home.finds(same)).toEqual(home.finds());
  });
});
