/**
 * A small honest Operations in memory: tools that run, episodes that count, faults where the real ones come.
 * Surfaces are tested against it alone.
 */
import { createHash } from "node:crypto";
import { Fault } from "../../src/model/fault.js";
import type { CallAnswer, Counted } from "../../src/model/facade.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import type {
  Announcement,
  Caller,
  DirectTool,
  Operations,
  ServedSkill,
  SkillDetail,
  SkillSummary,
} from "../../src/model/operations.js";
import type { CallOptions, UpstreamStatus } from "../../src/model/ports.js";
import type { Standing } from "../../src/model/standing.js";
import type { View } from "../../src/model/view.js";

const NOW = "2026-11-30T00:00:00.000Z";
const DIGEST = "0".repeat(64);

export type FakeTool = (args: JsonObject, options: CallOptions, caller: Caller) => Promise<JsonObject> | JsonObject;
export type FakePass = (method: string, params: JsonObject, options: CallOptions) => Promise<JsonObject> | JsonObject;

export interface FakeUpstream {
  readonly label: string;
  readonly prefix?: string;
  readonly state?: UpstreamStatus["presence"]["state"];
  readonly capabilities?: JsonObject;
  readonly instructions?: string;
  /** name → what it does; `document` overrides the listed definition. */
  readonly tools?: Readonly<Record<string, FakeTool>>;
  readonly documents?: Readonly<Record<string, JsonObject>>;
  readonly pass?: FakePass;
}

export interface FakeCall {
  readonly tool: string;
  readonly args: JsonValue | undefined;
  readonly caller: Caller;
  readonly meta: JsonObject | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly origin: string | undefined;
  readonly capabilities: JsonObject | undefined;
  readonly direct: boolean;
  readonly signal: AbortSignal;
  readonly requestState: string | undefined;
  readonly logLevel: string | undefined;
  readonly episode: string | undefined;
}

export interface Fake extends Operations {
  readonly calls: FakeCall[];
  readonly passed: { label: string; method: string; params: JsonObject }[];
  announce(what: Announcement): void;
  resourceUpdated(label: string, uri: string): void;
  /** Moves the catalog: facts change, and the version with them. */
  evolve(upstreams: readonly FakeUpstream[]): void;
  readonly results: Map<string, { mimeType: string; text: string }>;
}

export const text = (content: string): JsonObject => ({ content: [{ type: "text", text: content }] });

export const SHOP: FakeUpstream = {
  label: "shop",
  tools: {
    get_order: (args) => ({
      content: [{ type: "text", text: `order ${String(args["order_id"])}` }],
      structuredContent: { id: args["order_id"] ?? null, status: "open" },
      _meta: { "shop/trace": 7 },
    }),
    cancel_order: () => ({ content: [{ type: "text", text: "too late" }], isError: true }),
    crash: () => {
      throw new Error("secret path /home/me/code.ts");
    },
    away: () => {
      throw new Fault("tool-unavailable", "shop is away.", { label: "shop" });
    },
  },
};

export function fakeOperations(
  given: readonly FakeUpstream[] = [SHOP],
  skills: readonly SkillDetail[] = [plan("plan-cancel-order")],
): Fake {
  let upstreams = given;
  let version = 1;
  let episodes = 0;
  const listeners = new Set<(what: Announcement) => void>();
  const updates = new Set<(label: string, uri: string) => void>();
  const running = new Map<string, string>();
  const calls: FakeCall[] = [];
  const passed: Fake["passed"] = [];
  const results = new Map<string, { mimeType: string; text: string }>();

  const count = (): number => upstreams.reduce((sum, upstream) => sum + Object.keys(upstream.tools ?? {}).length, 0);
  const exposed = (upstream: FakeUpstream, name: string): string =>
    upstream.prefix === "" ? name : `${upstream.label}__${name}`;

  function episodeOf(asked: string | undefined, caller: Caller): string {
    if (asked !== undefined) {
      if (!asked.startsWith("ep_")) throw new Fault("episode-unknown", asked);
      return asked;
    }
    const known = caller.session === undefined ? undefined : running.get(caller.session);
    if (known !== undefined) return known;
    episodes += 1;
    return `ep_${episodes}`;
  }
  function find(tool: string): { upstream: FakeUpstream; name: string; run: FakeTool } {
    for (const upstream of upstreams) {
      for (const [name, run] of Object.entries(upstream.tools ?? {})) {
        if (tool === `${upstream.label}/${name}` || tool === exposed(upstream, name)) return { upstream, name, run };
      }
    }
    throw new Fault("tool-unknown", `"${tool}" is not in the catalog.`, { instead: [] });
  }
  function view(kind: string, asked: string, episode: string | undefined): View {
    const tools = upstreams.flatMap((upstream) =>
      Object.keys(upstream.tools ?? {})
        .filter((name) => asked.includes(name) || kind === "start")
        .map((name) => ({
          tool: `${upstream.label}/${name}`,
          name: exposed(upstream, name),
          signature: `${upstream.label}/${name}(order_id: string) — A tool.`,
          reason: "its name matches",
          score: 1,
          marks: [],
        })),
    );
    return {
      view: `vw_${asked.length}`,
      ...(episode === undefined ? {} : { episode }),
      basis: { catalog: `${version}:abc`, library: 1, evidence: 0, presence: "p", policy: "q", embedder: "none" },
      tools,
      budgets: {
        tokens: { used: 10, limit: 4000 },
        explore: { used: 0, limit: 3 },
        skill_chars: { used: 0, limit: 4000 },
      },
      manager: { by: "rules" },
    };
  }
  const status = (upstream: FakeUpstream): UpstreamStatus =>
    ({
      label: upstream.label,
      presence: { state: upstream.state ?? "up", since: NOW, reason: undefined },
      transport: "stdio",
      era: "legacy",
      server: { name: upstream.label, version: "1" },
      capabilities: upstream.capabilities ?? { tools: {} },
      instructions: upstream.instructions,
      pid: 1,
      calls: 0,
      failures: 0,
      stderrTail: "",
      noiseLines: 0,
      answersWithoutId: 0,
      prefix: upstream.prefix,
    }) as unknown as UpstreamStatus;
  const skillOf = (name: string): SkillDetail => {
    const found = skills.find((skill) => skill.name === name);
    if (found === undefined) throw new Fault("skill-unknown", name);
    return found;
  };
  const edited = <Kind extends "add" | "modify" | "skip" | "keep">(kind: Kind) => {
    return { kind, skill: `of-${kind}`, cause: "c", signature: "s", by: "rules" as const, evidence: [] };
  };
  const report = {
    format: "maintenance-report/1",
    id: "m1",
    at: NOW,
    mode: "incremental" as const,
    dryRun: false,
    basis: { catalog: 1, library: 1 },
    library: 1,
    applied: [edited("modify"), edited("add")],
    skipped: [edited("skip"), edited("keep"), edited("skip")],
    proposed: [edited("modify")],
    refused: [],
    revived: [],
    stillInactive: [
      {
        skill: "plan-return",
        reason: "shop/old was removed.",
        tried: "Nothing is known to have taken over.",
        way: "`steward x`",
      },
    ],
    tokens: { used: 0, rebuildEstimate: 0 },
    looked: { due: 0, all: 1 },
  };
  const episode = {
    format: "episode/1",
    episode: "ep_1",
    opened: NOW,
    moved: NOW,
    task: "cancel",
    explicit: true,
    principal: "local",
    turn: 1,
    explored: 0,
    skillChars: 0,
    views: [],
    calls: 0,
    tools: [],
  };
  const link = {
    now: "followed" as const,
    id: "l1",
    kind: "renamed" as const,
    from: "shop/old",
    to: ["shop/get_order"],
    atVersion: 1,
    level: "proposed" as const,
    params: {},
    fixedArguments: {},
    score: 0.9,
    evidence: [],
  };

  const fake = {
    calls,
    passed,
    results,
    announce: (what: Announcement) => listeners.forEach((listener) => listener(what)),
    resourceUpdated: (label: string, uri: string) => updates.forEach((listener) => listener(label, uri)),
    evolve(next: readonly FakeUpstream[]) {
      upstreams = next;
      version += 1;
      fake.announce("tools");
    },

    startTask: async (input: { task: string; episode?: string | undefined }, caller: Caller) => {
      episodes += 1;
      const id = input.episode ?? `ep_${episodes}`;
      if (caller.session !== undefined) running.set(caller.session, id);
      return { body: view("start", input.task, id), episode: id };
    },
    retrieveTools: async (input: { query: string; episode?: string | undefined }, caller: Caller) => ({
      body: view("retrieve", input.query, undefined),
      episode: episodeOf(input.episode, caller),
    }),
    exploreCapabilities: async (input: { need: string; episode?: string | undefined }, caller: Caller) => ({
      body: view("explore", input.need, undefined),
      episode: episodeOf(input.episode, caller),
    }),
    describeTools: async (input: { tools: string[]; episode?: string | undefined }, caller: Caller) => ({
      body: {
        tools: input.tools.map((tool) => {
          const { upstream, name } = find(tool);
          return { tool: `${upstream.label}/${name}`, name: exposed(upstream, name), definition: { name }, marks: [], notes: [] };
        }),
        missing: [],
      },
      episode: episodeOf(input.episode, caller),
    }),
    async callTool(
      input: { tool: string; arguments?: JsonValue | undefined; episode?: string | undefined },
      caller: Caller,
      options: CallOptions & { direct: boolean },
    ): Promise<Counted<CallAnswer>> {
      const { upstream, name, run } = find(input.tool);
      calls.push({
        tool: input.tool,
        args: input.arguments,
        caller,
        meta: options.meta,
        headers: options.headers,
        origin: options.origin,
        capabilities: options.capabilities,
        direct: options.direct,
        signal: options.signal,
        requestState: options.requestState,
        logLevel: options.logLevel,
        episode: input.episode,
      });
      const result = await run((input.arguments ?? {}) as JsonObject, options, caller);
      return { body: { result, tool: `${upstream.label}/${name}` }, episode: episodeOf(input.episode, caller) };
    },
    finishTask: async (input: { episode: string; outcome: string }) => {
      episodeOf(input.episode, { session: undefined } as Caller);
      return {
        body: {
          episode: input.episode,
          outcome: input.outcome,
          trust: "claim",
          recorded: { calls: calls.length, tools: [], views: 1 },
          note: "recorded",
        },
        episode: input.episode,
      };
    },
    facadeFacts: () => ({
      catalogVersion: version,
      servers: upstreams.map((upstream) => ({
        label: upstream.label,
        tools: Object.keys(upstream.tools ?? {}).length,
        title: undefined,
      })),
      tools: count(),
      skills: skills.length,
    }),
    directTools: (caller: Caller): readonly DirectTool[] =>
      upstreams
        .filter((upstream) => caller.upstreams === undefined || caller.upstreams.has(upstream.label))
        .flatMap((upstream) =>
          Object.keys(upstream.tools ?? {}).map((name) => {
            const shown = exposed(upstream, name);
            const document = upstream.documents?.[name] ?? { inputSchema: { type: "object" } };
            return { name: shown, document: { ...document, name: shown } };
          }),
        ),
    inputSchema: (tool: string) =>
      upstreams
        .flatMap((upstream) =>
          Object.entries(upstream.documents ?? {}).map(([name, one]) => [exposed(upstream, name), one] as const),
        )
        .find(([name]) => name === tool)?.[1]["inputSchema"] as JsonObject | undefined,
    keptResult(id: string) {
      const kept = results.get(id);
      if (kept === undefined) throw new Fault("result-unknown", id);
      return kept;
    },
    onAnnounce(listener: (what: Announcement) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onResourceUpdated(listener: (label: string, uri: string) => void) {
      updates.add(listener);
      return () => void updates.delete(listener);
    },

    catalog: async () => ({
      version,
      digest: DIGEST,
      time: NOW,
      tools: upstreams.flatMap((upstream) =>
        Object.keys(upstream.tools ?? {}).map((name) => ({
          tool: `${upstream.label}/${name}`,
          name: exposed(upstream, name),
          title: undefined,
          description: "A tool.",
          signature: `${upstream.label}/${name}()`,
          annotations: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
          digests: { contract: DIGEST, text: DIGEST, document: DIGEST },
          marks: [],
        })),
      ),
      problems: [{ code: "tool-without-name", where: "shop", text: "A tool has no name." }],
    }),
    versions: async () => [
      { version, time: NOW, cause: "listing of shop", digest: DIGEST, tools: count(), added: count(), removed: 0, changed: 0 },
    ],
    async version(asked: number) {
      if (asked > version) throw new Fault("version-unknown", String(asked));
      return { format: "catalog-manifest/1", version: asked, time: NOW, cause: "start", digest: DIGEST, tools: {}, departed: {} };
    },
    searchCatalog: async () => ({ version: 1, tools: [], unmatched: [] }),
    catalogPins: async () => [],
    pinCatalog: async ({ version: pinned, token }: { version: number | undefined; token?: string }) => ({
      pinned: pinned === undefined ? null : { token, version: pinned, tools: 1, gone: [], changed: [] },
    }),
    drift: async () => ({
      from: 1,
      to: version,
      added: [],
      removed: [],
      changed: [],
      changes: [],
      unclassified: 0,
      lineage: [link],
      causes: [],
      held: [],
      skills: [],
    }),
    lineage: async () => [link],
    async lineageLink(id: string) {
      if (id !== link.id) throw new Fault("lineage-unknown", id);
      return link;
    },
    async judgeLineage(id: string) {
      if (id !== link.id) throw new Fault("lineage-unknown", id);
      return { ...link, skills: { changed: [], resting: [] }, held: [], released: [] };
    },
    stateTakeover: async () => ({
      links: [link],
      remarks: [],
      held: [],
      released: [],
      skills: { changed: [], resting: [], marked: [] },
    }),
    sync: async (label?: string) => ({ version, results: [{ label: label ?? "shop", ok: true }] }),
    approveTool: async (input: { tool: string; dryRun?: boolean }) => ({
      tool: input.tool,
      approved: input.dryRun !== true,
      difference: {
        digests: { contract: DIGEST, text: DIGEST, document: DIGEST },
        held: true,
        reasons: [],
        known: true,
        changes: [],
        texts: [],
        findings: [],
      },
      standing: ["callable"],
    }),

    skills: async (filter: { tier?: string; standing?: string }): Promise<readonly SkillSummary[]> =>
      skills
        .filter((skill) => filter.tier === undefined || skill.tier === filter.tier)
        .filter((skill) => filter.standing === undefined || skill.standing.standing === filter.standing)
        .map(summary),
    skill: async (name: string) => skillOf(name),
    skillWithheld: () => undefined,
    servedSkills: () => ({
      skills: skills.filter((skill) => skill.standing.standing === "active").map(served),
      leftOut: [],
    }),
    servedFile: (name: string, path: string) => {
      if (skillOf(name).standing.standing !== "active") throw new Fault("skill-unknown", `${name} rests.`);
      return skillOf(name).files[path];
    },
    skillHistory: async (name: string) => [
      { revision: 1, time: NOW, cause: "starter", edit: undefined, files: skillOf(name).files },
    ],
    approveSkill: async (name: string) => summary(skillOf(name)),
    pinSkill: async (name: string, pinned: boolean) => ({ ...summary(skillOf(name)), pinned }),
    removeSkill: async (name: string) => ({ removed: skillOf(name).name, revision: 2 }),
    importSkills: async (folders: readonly { folder: string }[]) => ({
      imported: folders.map(({ folder }) => folder),
      problems: [],
      revision: 2,
    }),
    revert: async (options: { to: number }) => ({
      revision: options.to + 1,
      changed: [],
      resting: [],
      keptSince: [],
      keptPinned: [],
    }),
    lintSkills: async () => [],
    graph: async () => ({ nodes: [], edges: [] }),
    graphGexf: async () => "<gexf/>",
    why: async (skill: string) => ({ skill, standing: active, paths: [] }),
    maintain: async (_options: unknown, _caller: unknown, tell?: (progress: unknown) => void) => {
      tell?.({ run: "m1", mode: "incremental", phase: "edits", done: 0, of: 2 });
      return report;
    },
    compareModes: async () => ({
      basis: { catalog: 2, library: 1 },
      modes: ["incremental", "rebuild", "frozen"].map((mode) => ({
        mode,
        edits: [],
        skipped: 0,
        proposed: 0,
        refused: 0,
        tokens: { used: 0, rebuildEstimate: 0 },
        ms: 1,
        effect: { active: 1, resting: 0, needsReview: 0, tasks: { asked: 0, whole: 0, tools: 0, shown: 0 } },
      })),
    }),
    reports: async () => [report],
    async report(id: string) {
      if (id !== "m1") throw new Fault("report-unknown", id);
      return report;
    },
    episodes: async () => [episode],
    async episode(id: string) {
      if (id !== "ep_1") throw new Fault("episode-unknown", id);
      return { episode, calls: [] };
    },
    verifyEpisode: async (
      _id: string,
      verdict: { outcome: "success" | "failure" | "abandoned"; trust: "state" | "replay" | "human" },
      caller: Caller,
    ) => ({ ...episode, outcome: { ...verdict, by: caller.principal, at: NOW } }),
    importEpisodes: async () => ({
      imported: ["ep_2"],
      known: 0,
      verdicts: { taken: [], left: [] },
      skipped: [],
      calls: { taken: 1, left: 0 },
      verified: 0,
      unknown: [],
    }),
    async viewRecord(id: string) {
      if (id !== "vw_1") throw new Fault("view-unknown", id);
      const shown = view("start", "cancel", "ep_1");
      return {
        format: "view/1",
        at: NOW,
        request: { kind: "start", text: "cancel" },
        before: { turn: 0, explored: 0, skillChars: 0 },
        named: false,
        episode: "ep_1",
        found: {
          catalogVersion: 1,
          libraryRevision: 1,
          marks: {},
          names: {},
          substitutions: [],
          alternatives: [],
          unmatched: [],
          notices: [],
          leftOut: [],
          limits: {},
        },
        decisions: { by: "rules", skills: [], tools: [] },
        view: shown,
      };
    },
    replay: async () => ({ view: view("start", "cancel", "ep_1"), same: true, differences: [] }),
    upstreams: () => upstreams.map(status),
    async passThrough(label: string, method: string, params: JsonObject, _caller: Caller, options: CallOptions) {
      passed.push({ label, method, params });
      const upstream = upstreams.find((one) => one.label === label);
      if (upstream?.pass === undefined) throw new Fault("upstream-failed", `${label} has no ${method}.`);
      return upstream.pass(method, params, options);
    },
    health: () => ({
      version: "0.0.0",
      pid: 1,
      home: "/somewhere",
      started: NOW,
      ready: true,
      catalog: version,
      library: 1,
      tools: count(),
      skills: { active: skills.length, inactive: 0 },
      upstreams: upstreams.map((upstream) => ({ label: upstream.label, presence: upstream.state ?? "up" })),
      problems: [],
      retrieval: { vectors: "none", fine: true },
      maintenance: { runs: 1, applied: 2, skipped: 3, proposed: 1, refused: 0 },
      manager: { kind: "rules" as const, state: "reachable" as const },
    }),
  };
  return fake as unknown as Fake;
}

const active: Standing = { standing: "active", needsReview: false, reasons: [], since: NOW };

export function plan(name: string, standing: Standing = active): SkillDetail {
  return {
    name,
    tier: "planning",
    description: "Cancel an order for a customer.",
    provenance: "starter",
    revision: 1,
    standing,
    pinned: false,
    tools: ["shop/get_order"],
    text: "## Steps\n1. Look it up: `shop/get_order`.",
    files: {
      "SKILL.md": `---\nname: ${name}\ndescription: Cancel an order for a customer.\n---\n\n## Steps\n`,
      "references/contract.json": "{}\n",
    },
    contract: { format: "contract/1", requires: [], uses: [], produces: [], evidence: [] },
    problems: [],
    successors: [],
  };
}

function served({ name, description, files }: SkillDetail): ServedSkill {
  const listed = Object.entries(files).map(([path, body]) => ({
    path,
    digest: createHash("sha256").update(body).digest("hex"),
    size: Buffer.byteLength(body),
  }));
  return { name, description, frontMatter: { name, description }, files: listed };
}

function summary(skill: SkillDetail): SkillSummary {
  const { name, tier, description, provenance, revision, standing, pinned, tools } = skill;
  return { name, tier, description, provenance, revision, standing, pinned, tools };
}
