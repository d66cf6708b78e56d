import { describe, expect, it } from "vitest";
import { toTool } from "../../src/catalog/intake.js";
import { canonicalJson, sha256 } from "../../src/catalog/canonical.js";
import type { Effect } from "../../src/model/change.js";
import type { CallLine } from "../../src/model/episode.js";
import type { Event } from "../../src/model/event.js";
import type { EpisodeId, SkillName, ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { DEFAULT_POLICY, SAMPLE_LIMITS } from "../../src/model/policy.js";
import type { Contract, WrittenSkill } from "../../src/model/skill.js";
import type { Standing } from "../../src/model/standing.js";
import { renderBody } from "../../src/skills/body.js";
import { renderSkill } from "../../src/skills/text.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import { derive, rebuild } from "../../src/world/rebuild.js";
import { withoutRedacted } from "../../src/catalog/usage.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import { MemoryGround } from "./ground.js";

const at = "2026-01-01T00:00:00.000Z";
const desk = "desk" as UpstreamLabel;
const FIND = "desk/find" as ToolKey;
const SKILL = "atomic-find" as SkillName;

function skill(params: readonly string[], evidence: Contract["evidence"] = []): WrittenSkill {
  const files = renderSkill({
    name: SKILL,
    tier: "atomic",
    description: "Find cases by their state.",
    body: renderBody({ whenToUse: "Cases are asked for.", steps: [`Call \`${FIND}\` with state from the request.`] }),
    contract: {
      requires: [{ tool: FIND, contractDigest: "", params: [...params], reads: [] }],
      uses: [],
      produces: [],
      evidence: [...evidence],
    },
  });
  return { folder: SKILL, files };
}

const BEFORE: JsonObject = {
  type: "object",
  properties: { state: { type: "string" }, limit: { type: "number" }, api_key: { type: "string" } },
};
const withProperties = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...BEFORE,
  properties: { ...(BEFORE["properties"] as JsonObject), ...properties },
  ...more,
});

class House {
  world: World = derive(emptyKnown, new Map());
  readonly ground = new MemoryGround();
  effects: Effect[] = [];
  private episodes = 0;

  constructor(params: readonly string[], evidence: Contract["evidence"] = []) {
    const upstreams = new Map([[desk, { disabled: false, prefix: "desk" }]]);
    this.post({ kind: "configured", at, starting: true, upstreams, policy: DEFAULT_POLICY });
    this.list(BEFORE);
    this.post({ kind: "skills-written", at, by: "starter", written: [skill(params, evidence)], missing: [] });
  }
  post(event: Event): void {
    const { changes, effects } = decide(this.world, event);
    void this.ground.persist(changes);
    this.world = advance(this.world, changes);
    this.effects = [...effects];
  }
  list(inputSchema: JsonObject, more: JsonObject = {}): void {
    const tool = toTool(desk, { name: "find", description: "Finds cases.", inputSchema, ...more });
    this.post({ kind: "listing", at, label: desk, tools: [tool], problems: [], cause: "poll" });
  }
  /** An episode with these calls of the tool, and what became of it. Answers with the digest of its evidence. */
  episode(
    calls: readonly { args: JsonObject; redacted?: string[]; isError?: boolean }[],
    outcome: "success" | "failure" = "success",
    trust: "claim" | "state" | "human" = "state",
    episode = `ep_${(this.episodes += 1)}`,
  ): string {
    const contract = this.world.catalog.tools.get(FIND)?.digests.contract ?? "";
    for (const { args, redacted = [], isError = false } of calls) {
      const seq = (this.world.episodes.get(episode)?.calls ?? 0) + 1;
      const line = { at, episode, tool: FIND, contract, args, redacted, isError, bytes: 1, shape: [], flows: [], ms: 1 };
      this.post({ kind: "episode-calls", at, calls: [{ line, open: { task: "find", explicit: true, principal: "local" } }] });
      this.lines.push({ format: "call/1", seq, ...line });
    }
    const told = { outcome, trust, by: "ana", at };
    const mine = this.lines.filter((line) => line.episode === episode);
    this.post({ kind: "episode-finished", at, episode: episode as EpisodeId, outcome: told, calls: mine });
    return sha256(
      canonicalJson({ format: "evidence/1", episode, task: "find", calls: mine, outcome: told } as unknown as JsonValue),
    );
  }
  private readonly lines: CallLine[] = [];
  standing(): Standing {
    const standing = this.world.standings.get(SKILL);
    if (standing === undefined) throw new Error("no standing");
    return standing;
  }
  questions(): readonly { pattern: string; text: string }[] {
    return this.effects.flatMap((effect) => (effect.kind === "run-patterns" ? effect.questions : []));
  }
  answer(run: (pattern: string, text: string) => boolean | undefined): void {
    const answers = this.questions().map((question) => ({ ...question, matches: run(question.pattern, question.text) }));
    this.post({ kind: "patterns-run", at, answers });
  }
  restarted(): World {
    const { policy, prefixes } = this.world;
    const again = rebuild(this.ground.read(), this.world.now);
    return derive({ ...again, policy, prefixes }, again.episodes);
  }
}

const NARROWED = withProperties({ state: { type: "string", enum: ["open", "closed"] } });

describe("a skill whose tool's parameters were narrowed", () => {
  it("needs a look where nothing is known of what it sends", () => {
    const house = new House(["state"]);
    house.list(NARROWED);
    expect(house.standing()).toMatchObject({ standing: "active", needsReview: true });
  });

  it("stays as it is where all that verified calls sent still fits, and says so", () => {
    const house = new House(["state"]);
    house.episode([{ args: { state: "open" } }]);
    house.list(NARROWED);
    expect(house.standing()).toMatchObject({ standing: "active", needsReview: false, safeByUsage: true });
    expect(house.standing().reasons).toMatchObject([{ on: FIND, level: "compatible" }]);
    expect(house.standing().reasons[0]?.text).toContain("safe by usage, the recorded call fits all the same");
    expect(house.restarted().standings.get(SKILL)).toEqual(house.standing());
  });

  it("rests where one of them does not fit", () => {
    const house = new House(["state"]);
    house.episode([{ args: { state: "open" } }, { args: { state: "waiting" } }]);
    house.list(NARROWED);
    expect(house.standing()).toMatchObject({ standing: "inactive", because: "broken" });
  });

  it("is judged anew when evidence comes after the change", () => {
    const house = new House(["state"]);
    const [before] = [house.world.catalog.tools.get(FIND)?.digests.contract ?? ""];
    house.list(NARROWED);
    expect(house.standing().needsReview).toBe(true);
    // The call was made before the tool moved and is verified after.
    const line = { at, episode: "ep_old", tool: FIND, contract: before, args: { state: "open" }, redacted: [] };
    const whole = { ...line, isError: false, bytes: 1, shape: [], flows: [], ms: 1 };
    house.post({ kind: "episode-calls", at, calls: [{ line: whole, open: { task: "", explicit: true, principal: "local" } }] });
    const outcome = { outcome: "success", trust: "human", by: "ana", at } as const;
    const calls = [{ format: "call/1", seq: 1, ...whole }];
    house.post({ kind: "episode-finished", at, episode: "ep_old" as EpisodeId, outcome, calls });
    expect(house.standing()).toMatchObject({ needsReview: false, safeByUsage: true });
  });

  it("is told in the maintenance report", () => {
    const house = new House(["state"]);
    house.episode([{ args: { state: "open" } }]);
    house.list(NARROWED);
    const decision = decide(house.world, {
      kind: "maintenance-proposed",
      at,
      id: "mt_1",
      mode: "incremental",
      dryRun: true,
      basis: { catalog: house.world.catalog.version, library: house.world.library.revision },
      edits: [],
      accept: [],
      tokens: { used: 0, rebuildEstimate: 0 },
    });
    expect(decision.answer["report"]).toMatchObject({ safeByUsage: [SKILL] });
  });
});

describe("what counts as a recorded call", () => {
  it.each([
    ["an agent's own word", (house: House) => house.episode([{ args: { state: "open" } }], "success", "claim")],
    ["a verified failure", (house: House) => house.episode([{ args: { state: "open" } }], "failure")],
    ["a call that was refused", (house: House) => house.episode([{ args: { state: "open" }, isError: true }])],
    ["a call that sets what the skill does not", (house: House) => house.episode([{ args: { state: "open", limit: 3 } }])],
  ])("is not %s", (_what, play) => {
    const house = new House(["state"]);
    play(house);
    house.list(NARROWED);
    expect(house.standing()).toMatchObject({ needsReview: true });
  });

  it("is taken back when the episode is told to have failed after all", () => {
    const house = new House(["state"]);
    house.episode([{ args: { state: "waiting" } }], "success", "state", "ep_x");
    house.list(NARROWED);
    expect(house.standing().standing).toBe("inactive");
    house.episode([], "failure", "human", "ep_x");
    expect(house.world.samples.size).toBe(0);
    expect(house.standing()).toMatchObject({ standing: "active", needsReview: true });
  });

  it("is what the skill's own evidence has, whatever other calls there were", () => {
    const house = new House(["state", "limit"]);
    const cited = house.episode([{ args: { state: "open", limit: 3, api_key: "k" } }, { args: { state: "gone" } }]);
    house.episode([{ args: { state: "waiting" } }]);
    const evidence = [{ trajectory: cited, steps: [1], verifier: "state" }];
    house.post({ kind: "skills-written", at, by: "human", written: [skill(["state", "limit"], evidence)], missing: [] });
    house.list(NARROWED);
    expect(house.standing()).toMatchObject({ standing: "active", safeByUsage: true });
  });

  it("is kept as long as a skill cites it, however many came since", () => {
    const house = new House(["state"]);
    const cited = house.episode([{ args: { state: "first" } }]);
    const evidence = [{ trajectory: cited, steps: [], verifier: "state" }];
    house.post({ kind: "skills-written", at, by: "human", written: [skill(["state"], evidence)], missing: [] });
    for (let n = 0; n < SAMPLE_LIMITS.perTool + 5; n += 1) house.episode([{ args: { state: `s${n}` } }]);
    const samples = house.world.samples.get(FIND) ?? [];
    expect(samples).toHaveLength(SAMPLE_LIMITS.perTool + 1);
    expect(samples.at(-1)?.args).toEqual({ state: "first" });
  });

  it("lacks what was redacted, and that counts as given", () => {
    const house = new House(["state", "api_key"]);
    house.episode([{ args: { state: "open", api_key: "[redacted]" }, redacted: ["/api_key"] }]);
    house.list(withProperties({ api_key: { type: "string", minLength: 40 } }, { required: ["api_key"] }));
    expect(house.world.samples.get(FIND)?.[0]).toMatchObject({ args: { state: "open" }, redacted: ["api_key"] });
    expect(house.standing().standing).toBe("active");
  });
});

describe("redacted leaves", () => {
  it("are taken out of objects, and whole lists go with an item", () => {
    const args = { a: { b: "x", "c/d": "[redacted]" }, list: [{ k: "[redacted]" }, 2], kept: [1] };
    expect(withoutRedacted(args, ["/a/c~1d", "/list/0/k"])).toEqual({
      args: { a: { b: "x" }, kept: [1] },
      redacted: new Set(["a.c/d", "list"]),
    });
  });
});

describe("a pattern that bears on recorded texts", () => {
  const PATTERNED = withProperties({ state: { type: "string", pattern: "^(open|closed)$" } });
  const run = (pattern: string, text: string): boolean => new RegExp(pattern).test(text);

  it("is asked for, not run, and the skill stays under review until it is answered", () => {
    const house = new House(["state"]);
    house.episode([{ args: { state: "open" } }]);
    house.list(PATTERNED);
    expect(house.questions()).toEqual([{ pattern: "^(open|closed)$", text: "open" }]);
    expect(house.standing()).toMatchObject({ standing: "active", needsReview: true });
    house.answer(run);
    expect(house.questions()).toEqual([]);
    expect(house.standing()).toMatchObject({ needsReview: false, safeByUsage: true });
    expect(house.restarted().standings.get(SKILL)).toEqual(house.standing());
  });

  it("that refuses one rests the skill", () => {
    const house = new House(["state"]);
    house.episode([{ args: { state: "waiting" } }]);
    house.list(PATTERNED);
    house.answer(run);
    expect(house.standing()).toMatchObject({ standing: "inactive", because: "broken" });
  });

  it("that did not end in time stays undecided and is not asked again", () => {
    const house = new House(["state"]);
    house.episode([{ args: { state: "open" } }]);
    house.list(PATTERNED);
    house.answer(() => undefined);
    expect(house.questions()).toEqual([]);
    expect(house.standing()).toMatchObject({ standing: "active", needsReview: true });
  });

  it("is asked again by the next start where the answer was lost on the way", () => {
    const house = new House(["state"]);
    house.episode([{ args: { state: "open" } }]);
    house.list(PATTERNED);
    const upstreams = new Map([[desk, { disabled: false, prefix: "desk" }]]);
    house.post({ kind: "configured", at, starting: true, upstreams, policy: DEFAULT_POLICY });
    expect(house.questions()).toHaveLength(1);
  });
});

describe("a safety change", () => {
  it("holds the tool whatever was sent", () => {
    const house = new House(["state"]);
    house.list(BEFORE, { annotations: { readOnlyHint: true } });
    house.episode([{ args: { state: "open" } }]);
    house.list(NARROWED, { annotations: { readOnlyHint: false } });
    expect(house.standing()).toMatchObject({ standing: "inactive", because: "held" });
  });
});
