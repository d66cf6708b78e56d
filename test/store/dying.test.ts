import { rmSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { nodeFiles } from "../../src/host/files.js";
import { Fault } from "../../src/model/fault.js";
import type { Change } from "../../src/model/change.js";
import type { SkillName, UpstreamLabel } from "../../src/model/ids.js";
import type { Lock } from "../../src/model/skill.js";
import { DEATHS, dyingFiles, failingFiles, type Death } from "./dying-files.js";
import {
  call,
  catalog,
  copyOf,
  digestsOf,
  episode,
  evidence,
  samples,
  filesIn,
  holds,
  lineage,
  open,
  ownerDied,
  plain,
  presence,
  removeHomes,
  report,
  revision,
  skillText,
  standings,
  tempHome,
  tool,
  view,
} from "./home.js";

afterEach(removeHomes);

const v1 = { "shop/get": tool("get"), "shop/cancel": tool("cancel") };
const v2 = { "shop/get": tool("get", { title: "Get" }), "shop/cancel_order": tool("cancel_order") };
const first = revision(
  undefined,
  { "atomic-get": skillText("atomic-get", "one"), "atomic-cancel": skillText("atomic-cancel", "one") },
  [],
  { "shop/get": digestsOf(tool("get")) },
);
const lock1: Lock = first.record.lock;
const second = revision(
  lock1,
  {
    "atomic-cancel": skillText("atomic-cancel", "two"),
    "plan-return": { ...skillText("plan-return", "new"), "references/deep/notes.md": "notes\n" },
  },
  ["atomic-get"],
);

/** A home with a history, before what the tests do to it. */
async function prepared(): Promise<string> {
  const home = tempHome();
  const store = await open(home);
  await store.persist([catalog(1, v1), presence("shop", "up"), standings({ "atomic-get": "active" })]);
  await store.persist([first, standings({ "atomic-cancel": "active" })]);
  await store.persist([episode("ep_1")]);
  await store.persist([call("ep_1", 1), episode("ep_1", { calls: 1 })]);
  await store.close();
  return home;
}

/** Decisions as the world makes them, one of each shape that the store treats in its own way. */
const decisions: Record<string, Change[]> = {
  "catalog sync": [
    catalog(2, v2, { "shop/cancel": { ...digestsOf(tool("cancel")), lastVersion: 1 } }),
    lineage("l1"),
    holds({ "shop/get": "now writes" }),
    standings({ "atomic-cancel": "inactive" }),
    presence("shop", "up"),
  ],
  maintenance: [second, { kind: "standings", set: new Map(), drop: [] }, standings({ "plan-return": "active" }), report("run_1")],
  "a call": [call("ep_1", 2), episode("ep_1", { calls: 2, tools: ["shop/get_order"] })],
  "a view": [view("vw_1", "ep_2"), episode("ep_2", { views: ["vw_1"], turn: 1 })],
  "one small document": [presence("shop", "away", "lost")],
  "one new document": [report("run_2")],
  "a verified outcome": [
    episode("ep_1", { calls: 1, outcome: { outcome: "success", trust: "state", by: "t", at: "x" } }),
    evidence("ep_1"),
    samples("ep_1"),
    standings({ "atomic-get": "inactive" }),
  ],
};

async function stateOf(home: string): Promise<{ ground: unknown; edits: unknown; calls: unknown; problems: readonly string[] }> {
  const store = await open(home);
  const ground = await store.read();
  const edits = await store.readHandEdits();
  const calls = await store.readCalls("ep_1");
  const reports = await store.listReports();
  await store.close();
  return { ground: { ...(plain(ground) as object), reports }, edits, calls, problems: ground.problems.map(({ code }) => code) };
}

const isWhole = (edits: unknown): void => expect(edits).toEqual({ written: [], missing: [], problems: [] });

describe.each(Object.entries(decisions))("a process that dies while it writes %s", (_name, changes) => {
  it(
    "leaves at every operation a home that reads, with all that was acknowledged and the decision whole or not at all [P01]",
    { timeout: 120_000 },
    async () => {
      const home = await prepared();
      const before = await stateOf(copyOf(home));
      const done = copyOf(home);
      const counter = dyingFiles();
      const reference = await open(done, { files: counter });
      await reference.read();
      const start = counter.steps();
      await reference.persist(changes);
      const end = counter.steps();
      await reference.close();
      const after = await stateOf(done);
      expect(after.ground).not.toEqual(before.ground);

      const seen = { before: 0, after: 0 };
      for (const how of DEATHS) {
        for (let at = start + 1; at <= end; at += 1) {
          if (differs(how, counter.done[at - 1] ?? "", at === end))
            seen[await dieAt(home, changes, { at, how }, before, after)] += 1;
        }
      }
      expect(seen.before).toBeGreaterThan(0);
      expect(seen.after).toBeGreaterThan(0);
    },
  );
});

/** Is this death another one than those tried already? Dying after an operation is dying before the next. */
function differs(how: Death, operation: string, isLast: boolean): boolean {
  const [name] = operation.split(" ");
  if (how === "after") return isLast;
  if (how === "torn") return name === "create" || name === "append";
  if (how === "nulls") return name === "create" || name === "append" || name === "sync" || name === "rename";
  return true;
}

async function dieAt(
  home: string,
  changes: readonly Change[],
  death: { at: number; how: Death },
  before: Awaited<ReturnType<typeof stateOf>>,
  after: Awaited<ReturnType<typeof stateOf>>,
): Promise<"before" | "after"> {
  const copy = copyOf(home);
  const files = dyingFiles(nodeFiles(), death);
  const store = await open(copy, { files });
  await store.read();
  const acknowledged = await store.persist(changes).then(
    () => true,
    () => false,
  );
  ownerDied(copy);
  const where = `${death.how} at ${death.at}: ${files.done.at(-1) ?? ""}`;
  const found = await stateOf(copy);
  const is = JSON.stringify(found.ground) === JSON.stringify(after.ground) ? "after" : "before";
  const whole = is === "after" ? after : before;
  expect(found.ground, where).toEqual(whole.ground);
  expect(found.calls, where).toEqual(whole.calls);
  isWhole(found.edits);
  if (acknowledged) expect(is, where).toBe("after");
  // And the home goes on: the same decision can be written now.
  if (death.at % 5 > 0) return is;
  const again = await open(copy);
  await again.persist(changes);
  await again.close();
  expect((await stateOf(copy)).ground, `again after ${where}`).toEqual(after.ground);
  return is;
}

describe("a power failure after several decisions", () => {
  it("brings no earlier batch back over a later decision that was acknowledged [P01]", { timeout: 120_000 }, async () => {
    const home = tempHome();
    const link = (by: string): Change => lineage("l1", { confirmed: { by, at: "now" } });
    const inOrder: Change[][] = [
      [link("first"), standings({ "atomic-get": "inactive" })],
      // A document and a log outside of state/: what makes these durable says nothing about the batch before.
      [link("second")],
      [episode("ep_1")],
      [presence("shop", "away", "third"), standings({ "atomic-get": "active" }), link("third")],
      [link("fourth")],
      [call("ep_1", 1)],
      [presence("shop", "up", "fifth")],
    ];
    // States after none, one, two, … of them.
    const whole = async (at: string): Promise<string> => {
      const { ground, calls } = await stateOf(at);
      return JSON.stringify([ground, calls]);
    };
    const states: string[] = [await whole(copyOf(home))];
    const done = copyOf(home);
    for (const changes of inOrder) {
      const store = await open(done);
      await store.persist(changes);
      await store.close();
      states.push(await whole(done));
    }
    for (const how of ["power", "nulls"] as const) {
      for (let at = 1; ; at += 1) {
        const copy = copyOf(home);
        const files = dyingFiles(nodeFiles(), { at, how });
        let acknowledged = 0;
        await open(copy, { files })
          .then(async (store) => {
            for (const changes of inOrder) {
              await store.persist(changes);
              acknowledged += 1;
            }
          })
          .catch(() => undefined);
        ownerDied(copy);
        const found = states.indexOf(await whole(copy));
        const where = `${how} at ${at} (${files.done.at(-1) ?? ""}), ${acknowledged} acknowledged`;
        expect(found, where).toBeGreaterThanOrEqual(acknowledged);
        expect(found, where).toBeLessThanOrEqual(acknowledged + 1);
        rmSync(copy, { recursive: true, force: true });
        if (!files.dead) break;
      }
    }
  });
});

describe("a process that dies while it finishes what the last one left", () => {
  it("is finished by the next one, however often that happens [P01]", async () => {
    const home = await prepared();
    const changes = [...(decisions["catalog sync"] ?? []), ...(decisions["maintenance"] ?? []), ...(decisions["a call"] ?? [])];
    const done = copyOf(home);
    const reference = await open(done);
    await reference.persist(changes);
    await reference.close();
    const after = await stateOf(done);

    // Dead right after the commit: pending.json is in place and nothing of it is applied.
    const counter = dyingFiles();
    const probe = await open(copyOf(home), { files: counter });
    await probe.persist(changes);
    const commit = counter.done.findLastIndex((step) => step.startsWith("rename") && step.includes(".pending.json")) + 2;
    await probe.close();
    const committed = copyOf(home);
    const dying = await open(committed, { files: dyingFiles(nodeFiles(), { at: commit, how: "after" }) });
    await dying.persist(changes).catch(() => undefined);
    ownerDied(committed);
    expect(Object.keys(filesIn(committed))).toContain("state/pending.json");

    for (const how of ["before", "power"] as const) {
      for (let at = 12; ; at += 2) {
        const copy = copyOf(committed);
        const files = dyingFiles(nodeFiles(), { at, how });
        await open(copy, { files })
          .then((store) => store.read())
          .catch(() => undefined);
        ownerDied(copy);
        const found = await stateOf(copy);
        expect(found.ground, `${how} at ${at}`).toEqual(after.ground);
        isWhole(found.edits);
        if (!files.dead) break;
      }
    }
  });
});

describe("a write that fails", () => {
  it("rejects the decision and leaves memory and disc agreed, so that it can be written later [P01]", async () => {
    const home = await prepared();
    const before = await stateOf(copyOf(home));
    for (const name of ["catalog sync", "a call", "one small document", "one new document"]) {
      const changes = decisions[name] ?? [];
      const done = copyOf(home);
      const reference = await open(done);
      await reference.persist(changes);
      await reference.close();
      const after = await stateOf(done);
      for (const late of [false, true]) {
        for (let at = 1; ; at += 1) {
          const copy = copyOf(home);
          const inner = nodeFiles();
          const files = { ...inner };
          const opened = await open(copy, { files });
          await opened.read();
          const failing = failingFiles(inner, { at, code: "ENOSPC", times: 3, after: late });
          Object.assign(files, failing);
          const error: unknown = await opened.persist(changes).then(
            () => undefined,
            (reason: unknown) => reason,
          );
          const reached = failing.steps() >= at;
          const where = `${name}, ENOSPC at ${at}${late ? " after the operation" : ""}`;
          if (error !== undefined) {
            expect(error, where).toBeInstanceOf(Fault);
            expect((error as Fault).code, where).toBe("home-unwritable");
            expect((error as Fault).message, where).toContain("The disc is full");
          }
          // The disc has room again: the next decision is written, a rejected one is not there.
          Object.assign(files, inner);
          const expected = error === undefined ? after : before;
          // Decisions of several documents: they would take the place of a batch that was forgotten.
          const pin = (at: { at: string; by: string } | undefined): Change => ({
            kind: "pinned",
            skill: "other" as SkillName,
            pin: at,
          });
          await opened.persist([presence("other", "up"), pin({ at: "x", by: "y" })]);
          await opened.persist([{ kind: "presence", label: "other" as UpstreamLabel, presence: undefined }, pin(undefined)]);
          await opened.close();
          const found = await stateOf(copy);
          expect(found.ground, where).toEqual(expected.ground);
          expect(found.calls, where).toEqual(expected.calls);
          rmSync(copy, { recursive: true, force: true });
          if (!reached) break;
        }
      }
    }
  });

  it("says which file, what the system said and what to do where the disc stays full", async () => {
    const home = await prepared();
    const inner = nodeFiles();
    const files = { ...inner };
    const store = await open(home, { files });
    await store.read();
    Object.assign(files, failingFiles(inner, { at: 1, code: "ENOSPC", times: 1_000 }));
    await expect(store.persist([episode("ep_9")])).rejects.toMatchObject({ code: "home-unwritable", retryable: true });
    await expect(store.persist([presence("shop", "away")])).rejects.toThrow(/free some space/);
    Object.assign(files, inner);
    await store.persist([episode("ep_9")]);
    await store.close();
    expect(((await stateOf(home)).ground as { episodes: unknown[] }).episodes).toHaveLength(2);
  });
});
