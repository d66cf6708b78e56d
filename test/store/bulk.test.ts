import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { nodeFiles } from "../../src/host/files.js";
import type { Change } from "../../src/model/change.js";
import { dyingFiles, failingFiles, type Death } from "./dying-files.js";
import {
  catalog,
  copyOf,
  open,
  ownerDied,
  plain,
  presence,
  removeHomes,
  revision,
  skillText,
  standings,
  tempHome,
  tool,
} from "./home.js";

afterEach(removeHomes);

const bulkFrom = 4;
const many = (count: number, more: object = {}): Record<string, ReturnType<typeof tool>> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`shop/tool_${n}`, tool(`tool_${n}`, more)]));
/** Decisions whose objects are written in bulk: a first sync, and a library. */
const bulky: Record<string, Change[]> = {
  "a first sync": [catalog(1, many(5)), presence("shop", "up")],
  "a library": [revision(undefined, { "atomic-a": skillText("atomic-a", "one"), "atomic-b": skillText("atomic-b", "two") })],
};

/** Everything but standings, which only stand for "a later decision" here. */
async function groundOf(home: string): Promise<string> {
  const store = await open(home, { bulkFrom });
  const ground = plain(await store.read()) as object;
  await store.close();
  return JSON.stringify({ ...ground, standings: undefined });
}

/** A home that was opened before, and how many operations opening it again takes. */
async function prepared(): Promise<{ home: string; opening: number }> {
  const home = tempHome();
  await (await open(home)).close();
  const files = dyingFiles();
  const store = await open(copyOf(home), { files });
  await store.read();
  const opening = files.steps();
  await store.close();
  return { home, opening };
}

/** The home after a decision that was acknowledged, its files not settled, at the moment of a death. */
async function dies(
  home: string,
  death: { at: number; how: Death },
  run: (store: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<{ copy: string; dead: boolean; where: string }> {
  const copy = copyOf(home);
  const files = dyingFiles(nodeFiles(), death);
  const store = await open(copy, { files, bulkFrom });
  await store
    .read()
    .then(() => run(store))
    .catch(() => undefined);
  const where = `${death.how} at ${death.at}: ${files.done.at(-1) ?? ""}`;
  if (!files.dead) await store.close().catch(() => undefined);
  ownerDied(copy);
  return { copy, dead: files.dead, where };
}

describe.each(Object.entries(bulky))("objects written in bulk: %s", (_name, changes) => {
  it("are whole or not at all, whenever the process dies or the power fails [P01]", { timeout: 120_000 }, async () => {
    const { home, opening } = await prepared();
    const before = await groundOf(copyOf(home));
    const done = copyOf(home);
    const store = await open(done, { bulkFrom });
    await store.persist(changes);
    await store.close();
    const after = await groundOf(done);
    const seen = new Set<string>();
    // Dying between two operations is dying torn in the next with less written: dying.test.ts has it.
    for (const how of ["torn", "power", "nulls"] as const) {
      for (let at = opening + 1; ; at += 1) {
        // What was acknowledged has to outlive a failure in any later decision and in settling, too.
        let first = false;
        const { copy, dead, where } = await dies(home, { at, how }, async (opened) => {
          await opened.persist(changes);
          first = true;
          await opened.persist([standings({ "atomic-z": "active" })]);
          await opened.settle();
          await opened.persist([standings({})]);
        });
        const found = await groundOf(copy);
        seen.add(found === after ? "after" : "before");
        expect(found, where).toBe(first || found === after ? after : before);
        if (!dead) break;
      }
    }
    expect([...seen].sort()).toEqual(["after", "before"]);
  });

  it("are there for a later decision that found them written, also where the one that wrote them failed [P01]", async () => {
    const { home, opening } = await prepared();
    const reference = copyOf(home);
    const whole = await open(reference, { bulkFrom });
    await whole.persist(changes);
    await whole.close();
    const after = await groundOf(reference);
    /** The write `fail` fails, the decision is tried again, and the power fails at operation `at`. */
    async function run(fail: number, at: number): Promise<{ copy: string; acknowledged: boolean; steps: number }> {
      const copy = copyOf(home);
      const power = dyingFiles(nodeFiles(), { at, how: "power" });
      const store = await open(copy, { files: failingFiles(power, { at: fail, code: "ENOSPC", after: true }), bulkFrom });
      await store.read();
      const again = (): Promise<void> => store.persist(changes);
      const acknowledged = await again()
        .catch(again)
        .then(() => true)
        .catch(() => false);
      const steps = power.steps();
      await store.persist([standings({ "atomic-z": "active" })]).catch(() => undefined);
      if (!power.dead) await store.close().catch(() => undefined);
      ownerDied(copy);
      return { copy, acknowledged, steps };
    }
    let tried = 0;
    for (let fail = opening + 1; fail < opening + 30; fail += 1) {
      const { steps, acknowledged } = await run(fail, 1_000_000);
      if (!acknowledged) continue;
      const { copy } = await run(fail, steps + 1);
      expect(await groundOf(copy), `failure at ${fail}`).toBe(after);
      tried += 1;
    }
    expect(tried).toBeGreaterThan(10);
  });
});

describe("a large batch", () => {
  async function syncs(count: number): Promise<number> {
    const home = tempHome();
    const files = dyingFiles();
    const store = await open(home, { files });
    await store.read();
    const before = files.steps();
    await store.persist([catalog(1, many(count)), presence("shop", "up")]);
    const done = files.done.slice(before).filter((operation) => operation.startsWith("sync"));
    await store.close();
    return done.length;
  }

  it("costs as many fsyncs as a batch of a hundred", async () => {
    expect(await syncs(1_000)).toBe(await syncs(100));
  });

  it("leaves no record behind once its files are durable, and is not written again", async () => {
    const home = tempHome();
    const store = await open(home, { bulkFrom });
    await store.read();
    await store.persist([catalog(1, many(9))]);
    expect(readdirSync(join(home, "state/bulk"))).toHaveLength(1);
    await store.settle();
    expect(readdirSync(join(home, "state/bulk"))).toEqual([]);
    await store.persist([catalog(2, many(9))]);
    expect(readdirSync(join(home, "state/bulk"))).toEqual([]);
    await store.close();
  });

  it("is brought back by the next start where its files are gone or empty, record by record", async () => {
    const home = tempHome();
    const store = await open(home, { bulkFrom });
    await store.persist([catalog(1, many(5))]);
    await store.persist([catalog(2, { ...many(5), ...many(9, { title: "Later" }) })]);
    await store.close();
    const after = await groundOf(home);
    const tools = join(home, "catalog/tools");
    const contents = readdirSync(tools).map((name) => [name, readFileSync(join(tools, name), "utf8")] as const);
    for (const [name] of contents) writeFileSync(join(tools, name), "");
    expect(await groundOf(home)).toBe(after);
    for (const [name, text] of contents) expect(readFileSync(join(tools, name), "utf8"), name).toBe(text);
  });

  it("whose record is damaged is named, set aside, and read from its files", async () => {
    const home = tempHome();
    const store = await open(home, { bulkFrom });
    await store.persist([catalog(1, many(5))]);
    await store.close();
    writeFileSync(
      join(home, "state/bulk/000001.json"),
      '{"format": "bulk-objects/1", "objects": [{"place": "../x", "text": ""}]}',
    );
    const again = await open(home, { bulkFrom });
    const ground = await again.read();
    await again.close();
    expect(ground.problems.map(({ code, where }) => [code, where])).toEqual([["document-damaged", "state/bulk/000001.json"]]);
    expect(ground.documents.size).toBe(5);
  });
});
