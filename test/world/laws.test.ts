import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exportGraph } from "../../src/graph/export.js";
import { Fault } from "../../src/model/fault.js";
import type { Event } from "../../src/model/event.js";
import type { SkillName } from "../../src/model/ids.js";
import type { Prepared } from "../../src/model/ports.js";
import { searchSkills } from "../../src/retrieve/skills.js";
import { searchTools } from "../../src/retrieve/tools.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import { preparationsOf } from "../../src/world/prepared.js";
import { derive, rebuild } from "../../src/world/rebuild.js";
import { computeStandings } from "../../src/world/standings.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import { MemoryGround } from "./ground.js";
import { configured, labels, library, NAMES, stepArbitrary, toEvent, tools, type Step } from "./sample.js";

const RUNS = Number(process.env["STEWARD_LAW_RUNS"] ?? 60);
const instant = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 5 * 3_600_000).toISOString();

class Play {
  world: World = derive(emptyKnown, new Map());
  readonly ground = new MemoryGround();
  private n = 0;
  private before: World = this.world;

  async post(event: Event): Promise<void> {
    const decision = decide(this.world, event);
    await this.ground.persist(decision.changes);
    this.world = advance(this.world, decision.changes);
  }

  at(): string {
    this.n += 1;
    return instant(this.n);
  }

  async start(): Promise<void> {
    await this.post(configured(this.at()));
    await this.post({ kind: "skills-written", at: this.at(), by: "starter", written: library(), missing: [] });
    for (const label of labels) await this.list(label, 0);
  }

  async list(label: (typeof labels)[number], variant: number, names: readonly string[] = NAMES): Promise<void> {
    await this.post({
      kind: "listing",
      at: this.at(),
      label,
      tools: tools(
        label,
        names.map((name) => ({ name, variant })),
      ),
      problems: [],
      cause: "poll",
    });
  }

  async step(step: Step): Promise<void> {
    const event = toEvent(step, this.world, this.ground, this.at(), this.before);
    if (step.kind !== "maintain") this.before = this.world;
    if (event === undefined) return;
    try {
      await this.post(event);
    } catch (error) {
      // A refused request changes nothing; anything else is a bug.
      if (!(error instanceof Fault)) throw error;
    }
  }

  standings(): Record<string, string> {
    return Object.fromEntries(
      [...this.world.standings].map(([name, standing]) => [name, `${standing.standing} ${standing.because ?? ""}`.trim()]),
    );
  }
}

const QUERIES = ["get the order record", "customer", "stock returns list", "find_stock"];

/** Everything of a world that can be asked, in a comparable form. */
function faceOf(world: World): unknown {
  return {
    catalog: {
      version: world.catalog.version,
      digest: world.catalog.digest,
      tools: [...world.catalog.tools.keys()],
      departed: [...world.catalog.departed],
    },
    definitions: [...world.definitions.keys()].sort(),
    lineage: [...world.lineage.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    hints: world.hints,
    holds: world.holds,
    catalogPins: [...world.catalogPins].sort(),
    presence: [...world.presence].sort(),
    library: {
      revision: world.library.revision,
      lock: world.library.lock,
      skills: [...world.library.skills].map(([name, skill]) => [name, skill.digest, skill.provenance]).sort(),
    },
    past: [...world.past].map(([name, states]) => [name, states.map((state) => state.revision)]).sort(),
    standings: [...world.standings].sort(),
    pinned: [...world.pinned].sort(),
    rejected: [...world.rejected].sort(),
    samples: [...world.samples].sort(),
    patterns: [...world.patterns].sort(),
    evidence: world.evidence,
    flows: [...world.flows].sort(),
    episodes: [...world.episodes].sort(),
    graph: exportGraph(world.graph),
    exposed: [...world.exposed].sort(),
    answers: QUERIES.map((query) => [
      searchTools(world.toolIndex, query, { limit: 5 }),
      ...[world.activeSkills, world.restingSkills].map((index) =>
        searchSkills(index, query, { limit: 5 }).hits.map((hit) => [hit.name, hit.score, hit.raw]),
      ),
    ]),
  };
}

/** What a run leaves of its world for the next, through the bytes that a home keeps it in. */
function preparedOf(world: World): Prepared {
  return new Map(preparationsOf(world, 0).map(([name, make]) => [name, new Uint8Array(make() ?? [])]));
}

describe("laws of the world", () => {
  it("advancing one event at a time answers like rebuilding from the ground state", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: 1, maxLength: 25 }), async (steps) => {
        const play = new Play();
        await play.start();
        for (const step of steps) await play.step(step);
        const known = { ...play.world };
        const again = rebuild(play.ground.read(), play.world.now);
        // Policy, prefixes and intake problems come with events at every start.
        const same = derive({ ...again, policy: known.policy, prefixes: known.prefixes, intake: known.intake }, again.episodes);
        expect(faceOf(same)).toEqual(faceOf(play.world));
      }),
      { numRuns: RUNS },
    );
  });

  it(
    "what an earlier run prepared makes the same world, whatever moved since, and is taken where nothing did",
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(stepArbitrary, { minLength: 1, maxLength: 25 }), fc.nat(25), async (steps, until) => {
          const play = new Play();
          await play.start();
          let prepared: Prepared = new Map();
          for (const [at, step] of steps.entries()) {
            if (at === Math.min(until, steps.length - 1)) prepared = preparedOf(play.world);
            await play.step(step);
          }
          for (const kept of [prepared, preparedOf(play.world)]) {
            const again = rebuild({ ...play.ground.read(), prepared: kept }, play.world.now);
            const plain = rebuild(play.ground.read(), play.world.now);
            expect(faceOf(again)).toEqual(faceOf(plain));
            expect([...again.library.skills]).toEqual([...plain.library.skills]);
            const isTaken = kept !== prepared;
            if (isTaken)
              expect([again.toolIndex.operations, again.activeSkills.operations, again.restingSkills.operations]).toEqual([
                0, 0, 0,
              ]);
          }
        }),
        { numRuns: Math.ceil(RUNS / 3) },
      );
    },
  );

  it("no order of events leaves a standing other than the present ground state says", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: 1, maxLength: 25 }), async (steps) => {
        const play = new Play();
        await play.start();
        for (const step of steps) await play.step(step);
        // A tick makes due what waits on time.
        await play.post({ kind: "tick", at: play.at() });
        const due = computeStandings(play.world, play.world.library.skills.keys());
        const strip = (standings: ReadonlyMap<SkillName, { since: string }>): unknown =>
          [...standings].map(([name, { since: _since, ...rest }]) => [name, rest]).sort();
        expect(strip(play.world.standings)).toEqual(strip(due));
      }),
      { numRuns: RUNS },
    );
  });

  it("a tool that leaves and returns restores every standing", { timeout: 120_000 }, async () => {
    const leaving = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: NAMES.length });
    await fc.assert(
      fc.asyncProperty(
        leaving,
        fc.integer({ min: 0, max: 6 }),
        fc.boolean(),
        fc.boolean(),
        async (gone, variant, changed, maintained) => {
          const play = new Play();
          await play.start();
          const before = play.standings();
          const [label] = labels;
          if (label === undefined) return;
          if (changed) await play.list(label, variant);
          await play.list(
            label,
            0,
            NAMES.filter((name) => !gone.includes(name)),
          );
          if (maintained) await play.step({ kind: "maintain", mode: "incremental", dryRun: false, late: false });
          await play.list(label, 0);
          expect(play.standings()).toEqual(before);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("an upstream that is away changes no standing before the grace period is over, and all of its skills after", async () => {
    const play = new Play();
    await play.start();
    const before = play.standings();
    const at = play.at();
    await play.post({ kind: "presence", at, label: labels[0] ?? ("alpha" as never), state: "away", reason: "gone" });
    expect(play.standings()).toEqual(before);
    await play.post({ kind: "tick", at: new Date(Date.parse(at) + 23 * 3_600_000).toISOString() });
    expect(play.standings()).toEqual(before);
    await play.post({ kind: "tick", at: new Date(Date.parse(at) + 24 * 3_600_000).toISOString() });
    const after = Object.entries(play.standings());
    expect(after.filter(([name]) => name.includes("alpha")).every(([, standing]) => standing.startsWith("inactive"))).toBe(true);
    expect(after.filter(([name]) => name.includes("beta")).every(([, standing]) => standing === "active")).toBe(true);
  });
});
