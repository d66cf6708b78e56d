import { afterEach, describe, expect, it } from "vitest";
import type { Event } from "../../src/model/event.js";
import { proposeByRules } from "../../src/maintain/propose.js";
import { createSteward, type Steward } from "../../src/steward.js";
import type { HomeStore } from "../../src/store/store.js";
import { maintenanceInput } from "../../src/world/due.js";
import { rebuild } from "../../src/world/rebuild.js";
import { computeStandings } from "../../src/world/standings.js";
import { nodeFiles } from "../../src/host/files.js";
import { Fault } from "../../src/model/fault.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { Proof } from "../../src/model/ports.js";
import { closeHouses } from "../house.js";
import { run, shopHouse, teach } from "../maintain/runs.js";
import { DEATHS, dyingFiles, failingFiles, type Death } from "../store/dying-files.js";
import { copyOf, open, ownerDied, removeHomes, tempHome } from "../store/home.js";
import { configured, labels, library, NAMES, tools } from "../world/sample.js";

afterEach(async () => {
  await closeHouses();
  removeHomes();
});

const instant = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
const [alpha] = labels;
if (alpha === undefined) throw new Error("the sample has no label");

async function wake(home: string, options: Parameters<typeof open>[1] = {}): Promise<{ store: HomeStore; steward: Steward }> {
  const store = await open(home, options);
  const ground = await store.read();
  const steward = createSteward({ world: rebuild(ground, instant(9)), store, log: () => undefined });
  return { store, steward };
}

const listing = (variant: number, at: number): Event => ({
  kind: "listing",
  at: instant(at),
  label: alpha,
  tools: tools(
    alpha,
    NAMES.map((name, index) => ({ name: index === 0 && variant > 0 ? "fetch_order" : name, variant: index === 1 ? variant : 0 })),
  ),
  problems: [],
  cause: "sync",
});

const maintenance = async (steward: Steward, store: HomeStore): Promise<Event> => {
  const world = steward.world();
  const proofs = await proofsIn(store);
  return {
    kind: "maintenance-proposed",
    at: instant(20),
    id: "mt_test",
    mode: "incremental",
    dryRun: false,
    basis: { catalog: world.catalog.version, library: world.library.revision },
    edits: proposeByRules(maintenanceInput(world, "incremental", instant(20), proofs)),
    accept: ["*"],
    recorded: new Map(proofs.map((proof) => [proof.digest, proof.evidence])),
    tokens: { used: 0, rebuildEstimate: 0 },
  };
};

async function proofsIn(store: HomeStore): Promise<Proof[]> {
  const proofs: Proof[] = [];
  for (const digest of await store.listEvidence()) {
    const evidence = await store.readEvidence(digest);
    if (evidence !== undefined) proofs.push({ digest, evidence, weight: "verified" });
  }
  return proofs;
}

/** A home with verified runs nobody learnt from yet: maintenance extracts skills, promotes a plan and writes tool skills. */
async function taught(): Promise<string> {
  const house = await shopHouse();
  await teach(house, [run(1, { refund: true }), run(2, { refund: true }), run(3)]);
  await house.stop();
  return copyOf(house.home);
}

/** A home with a library verified against its tools; `drifted` also has a catalog that moved on. */
async function prepared(drifted: boolean): Promise<string> {
  const home = tempHome();
  const { store, steward } = await wake(home);
  await steward.post(configured(instant(1)));
  await steward.post({ kind: "skills-written", at: instant(2), by: "starter", written: library(), missing: [] });
  for (const label of labels) {
    await steward.post({
      kind: "listing",
      at: instant(3),
      label,
      tools: tools(
        label,
        NAMES.map((name) => ({ name, variant: 0 })),
      ),
      problems: [],
      cause: "start",
    });
  }
  if (drifted) await steward.post(listing(2, 10));
  await steward.close();
  await store.close();
  return home;
}

/** What must hold of a home whatever happened to it: it starts, its library is one whole revision, its standings are right. */
async function check(home: string): Promise<{ catalog: number; library: number; skills: string }> {
  const { store, steward } = await wake(home);
  const world = steward.world();
  expect(await store.readHandEdits()).toEqual({ written: [], missing: [], problems: [] });
  for (const [name, skill] of world.library.skills) {
    expect(Object.keys(skill.files).sort()).toEqual(Object.keys(world.library.lock.skills[name]?.files ?? {}).sort());
  }
  await steward.post(configuredAs(world));
  const strip = (standings: ReadonlyMap<string, { since: string }>): unknown =>
    [...standings].map(([name, { since: _since, ...rest }]) => [name, rest]).sort();
  expect(strip(steward.world().standings)).toEqual(
    strip(computeStandings(steward.world(), steward.world().library.skills.keys())),
  );
  await steward.close();
  await store.close();
  const skills = [...world.library.skills].map(([name, skill]) => `${name} ${skill.digest}`).sort();
  return { catalog: world.catalog.version, library: world.library.revision, skills: skills.join("\n") };
}

/** Between which steps the decision is written where nothing goes wrong, and what the home is like then. */
async function undisturbed(
  home: string,
  event: (steward: Steward, store: HomeStore) => Promise<Event>,
): Promise<{ start: number; end: number; after: Awaited<ReturnType<typeof check>> }> {
  const counter = dyingFiles();
  const done = copyOf(home);
  const { store, steward } = await wake(done, { files: counter });
  const start = counter.steps();
  await steward.post(await event(steward, store));
  const end = counter.steps();
  await store.close();
  return { start, end, after: await check(done) };
}

/** The configuration the home was used with. */
function configuredAs(world: { readonly catalog: { readonly tools: ReadonlyMap<string, unknown> } }): Event {
  const isShop = [...world.catalog.tools.keys()].some((key) => key.startsWith("shop/"));
  if (!isShop) return configured(instant(30));
  const shop = "shop" as UpstreamLabel;
  const upstreams = new Map([[shop, { disabled: false, prefix: shop }]]);
  return { kind: "configured", at: instant(30), starting: true, upstreams, policy: DEFAULT_POLICY };
}

describe.each([
  ["catalog sync", () => prepared(false), async () => listing(2, 10), ""],
  ["maintain", () => prepared(true), maintenance, ""],
  ["maintain that learns skills and a plan from runs", taught, maintenance, "plan-cancel-order-and-refund-order"],
] as const)("a daemon that dies during %s", (_name, prepare, event, made) => {
  it("loses nothing where any write, fsync or rename fails once: the decision is told as failed, and done when it is asked again", async () => {
    const home = await prepare();
    const { start, end, after } = await undisturbed(home, event);
    let told = 0;
    for (const late of [false, true]) {
      for (let at = start + 1; at <= end; at += 1) {
        const copy = copyOf(home);
        const failing = failingFiles(nodeFiles(), { at, code: "EIO", after: late });
        const { store, steward } = await wake(copy, { files: failing });
        const failed = await steward.post(await event(steward, store)).then(
          () => undefined,
          (error: unknown) => error,
        );
        const where = `EIO at ${at}${late ? " after the operation" : ""}`;
        if (failed !== undefined) {
          told += 1;
          expect(failed, where).toBeInstanceOf(Fault);
          expect((failed as Fault).code, where).toBe("home-unwritable");
          await steward.post(await event(steward, store));
        }
        await steward.close();
        await store.close();
        expect(await check(copy), where).toEqual(after);
      }
    }
    // Past the commit point a decision stands; before it, it is told as failed.
    expect(told).toBeGreaterThan(5);
    expect(after.skills).toContain(made);
  });

  it.each(DEATHS)(
    "at every write, fsync and rename (%s) leaves a home that starts with a whole library and nothing acknowledged lost [P01]",
    async (how: Death) => {
      const home = await prepare();
      const before = await check(copyOf(home));
      const { start, end, after } = await undisturbed(home, event);
      expect(end - start).toBeGreaterThan(5);
      const seen = new Set<string>();
      for (let at = start + 1; at <= end; at += 1) {
        const copy = copyOf(home);
        const dying = await wake(copy, { files: dyingFiles(undefined, { at, how }) });
        // Past the commit point the decision is acknowledged even where the process dies before all of it is in its place.
        const asked = await event(dying.steward, dying.store);
        const acknowledged = await dying.steward.post(asked).then(
          () => true,
          () => false,
        );
        await dying.store.close().catch(() => undefined);
        ownerDied(copy);
        const state = await check(copy);
        if (acknowledged) expect(state).toEqual(after);
        // Each number is that of before or that of after, never something in between.
        expect([before.catalog, after.catalog]).toContain(state.catalog);
        expect([before.library, after.library]).toContain(state.library);
        expect(state.catalog === after.catalog && state.library === after.library ? after : before).toEqual(state);
        seen.add(`${state.catalog}/${state.library}`);
      }
      expect(seen.size).toBe(2);
    },
  );
});
