import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXIT } from "../../../src/surfaces/cli/access.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../../house.js";
import { footprint, openDesk, type Desk, type Said } from "./stand.js";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(async () => {
  desk.drop();
  await closeHouses();
});

const FIND = tool("find_order", { description: "Finds an order.", required: ["id"] });
const CANCEL = tool("cancel_order", { description: "Cancels an order.", required: ["id"], writes: true });
const SKILL = '---\nname: "find"\ndescription: "Find an order."\n---\n\n1. Call `shop/find_order` with id from the request.\n';

/** A home with five catalog versions, and a skill from the second on. */
async function history(): Promise<string> {
  const home = makeHome(["shop"]);
  const house = await openHouse(home);
  await list(house, "shop", [FIND]);
  await list(house, "shop", [FIND, CANCEL]);
  await house.operations.importSkills([{ folder: "find", files: { "SKILL.md": SKILL } }], person);
  for (const text of ["Finds one.", "Finds any.", "Finds all."])
    await list(house, "shop", [{ ...FIND, description: text }, CANCEL]);
  await house.stop();
  return home;
}

const manifest = (home: string, version: number): string => join(home, `catalog/versions/00000${version}.json`);

/** Every door that takes the number of a catalog version and shows something. */
const READING: readonly (readonly [string, (version: number) => string[]])[] = [
  ["catalog show --at", (version) => ["catalog", "show", "--at", `${version}`]],
  ["retrieve --at", (version) => ["retrieve", "find an order", "--at", `${version}`]],
  ["skills list --at", (version) => ["skills", "list", "--at", `${version}`]],
  ["catalog drift <from>", (version) => ["catalog", "drift", `${version}`, "5"]],
  ["catalog drift <to>", (version) => ["catalog", "drift", "5", `${version}`]],
  ["catalog lineage <from>", (version) => ["catalog", "lineage", `${version}`, "5"]],
  ["catalog drift <file>", (version) => ["catalog", "drift", desk.file("file.json", []), `${version}`]],
  ["check --against", (version) => ["check", "--against", `${version}`]],
];
const PIN: (typeof READING)[number] = ["catalog pin", (version) => ["catalog", "pin", `${version}`]];
const ANSWERED: readonly number[] = [EXIT.fine, EXIT.review, EXIT.inactive, EXIT.safety];

async function each(doors: typeof READING, home: string, version: number): Promise<[string, Said][]> {
  const said: [string, Said][] = [];
  for (const [door, argv] of doors) said.push([door, await desk.run(...argv(version), "--home", home)]);
  return said;
}

describe("catalog version 0, which every history begins with", { timeout: 60_000 }, () => {
  it("is shown by every door that shows versions, as the empty catalog", async () => {
    const home = await history();
    for (const [door, said] of await each(READING, home, 0))
      expect([door, ANSWERED.includes(said.code), said.err]).toEqual([door, true, ""]);
    const shown = JSON.parse((await desk.run("catalog", "show", "--at", "0", "--json", "--home", home)).out);
    expect(shown).toMatchObject({ version: 0, tools: [] });
    const house = await openHouse(home);
    expect(await house.operations.version(0)).toMatchObject({ version: 0, tools: {}, digest: shown.digest });
    expect((await house.operations.drift({ from: 0, to: 1 })).added).toEqual(["shop/find_order"]);
    await house.stop();
  });

  it("is nothing to stay with, and that is said as what it is, with the way to end a pin", async () => {
    const home = await history();
    const said = await desk.run("catalog", "pin", "0", "--home", home);
    expect([said.code, said.err]).toEqual([EXIT.usage, expect.stringMatching(/offered no tool at all.*catalog pin none/)]);
    expect(said.err).not.toContain("not kept");
    expect((await desk.run("catalog", "pin", "--home", home)).out).toContain("Nobody is pinned.");
  });
});

describe("two catalog versions in the order that time did not go", { timeout: 60_000 }, () => {
  it("are compared as they are named: nobody is said to take over who came before", async () => {
    const home = makeHome(["shop"]);
    const house = await openHouse(home);
    await list(house, "shop", [FIND, CANCEL]);
    await list(house, "shop", [{ ...FIND, name: "find_orders" }, CANCEL]);
    const [link] = await house.operations.lineage();
    expect(link).toMatchObject({ from: "shop/find_order", to: ["shop/find_orders"] });
    expect((await house.operations.drift({ from: 1, to: 2 })).lineage).toHaveLength(1);
    expect((await house.operations.drift({ from: 2, to: 1 })).lineage).toEqual([]);
    await house.stop();
    const lineage = async (...sides: string[]): Promise<string> =>
      (await desk.run("catalog", "lineage", ...sides, "--home", home)).out;
    expect(await lineage("1", "2")).toMatch(/shop\/find_order → shop\/find_orders/);
    expect(await lineage("2", "1")).toMatch(/shop\/find_orders → shop\/find_order /);
    // One version alone is the older side, as it is for drift.
    expect(await lineage("1")).toBe(await lineage("1", "2"));
  });
});

describe("a catalog version that is not kept", { timeout: 60_000 }, () => {
  it("is named by every door with the versions there are and the verb that lists them, and as a wrong use", async () => {
    const home = await history();
    for (const [door, said] of await each([...READING, PIN], home, 99)) {
      expect([door, said.code]).toEqual([door, EXIT.usage]);
      expect([door, said.err]).toEqual([
        door,
        expect.stringContaining("Version 99 is not kept: there are 1 to 5. `steward catalog log` lists them."),
      ]);
    }
    rmSync(manifest(home, 3));
    for (const [door, said] of await each([...READING, PIN], home, 3))
      expect([door, said.err]).toEqual([door, expect.stringContaining("Version 3 is not kept: there are 1 to 2 and 4 to 5.")]);
  });
});

describe("a catalog version whose manifest is damaged", { timeout: 60_000 }, () => {
  it("is called damaged by every door, with the file, why, where a good copy goes and what may be taken instead", async () => {
    const home = await history();
    const good = readFileSync(manifest(home, 3), "utf8");
    for (const [door, argv] of [...READING, PIN]) {
      writeFileSync(manifest(home, 3), "{ torn");
      const said = await desk.run(...argv(3), "--home", home);
      expect([door, said.code]).toEqual([door, EXIT.failed]);
      for (const text of [
        "The manifest of version 3 is damaged (catalog/versions/000003.json",
        "it is not JSON",
        "Put a good copy back as catalog/versions/000003.json, or take version 2 or 4; `steward doctor`",
      ])
        expect([door, said.err]).toEqual([door, expect.stringContaining(text)]);
      expect([door, said.err]).not.toEqual([door, expect.stringContaining("not kept")]);
    }
    // Those that only look leave it where it lies; a daemon sets it aside, and the version is there again with a good copy.
    writeFileSync(manifest(home, 3), good);
    expect((await desk.run("catalog", "show", "--at", "3", "--home", home)).code).toBe(EXIT.fine);
  });

  it("stays named in the log and by the doctor as long as nothing good is put back, also after another start", async () => {
    const home = await history();
    const good = readFileSync(manifest(home, 3), "utf8");
    writeFileSync(manifest(home, 3), "");
    const house = await openHouse(home);
    await expect(house.operations.catalog({ at: 3 })).rejects.toMatchObject({ code: "version-damaged" });
    const now = (await house.operations.versions()).find(({ version }) => version === 3);
    expect(now?.damaged).toMatch(/000003\.json\.damaged-1: it is empty/);
    const problems = (): string[] => house.operations.health(person).problems.map(({ where, text }) => `${where}: ${text}`);
    expect(problems().join()).toContain("catalog/versions/000003.json: The file is damaged");
    await house.stop();
    expect((await desk.run("catalog", "log", "--home", home)).out).toMatch(/3 .*damaged \(.*000003\.json\.damaged-1/);
    expect((await desk.run("doctor", "--home", home)).out).toMatch(
      /000003\.json\.damaged-1: It was the manifest of catalog version 3 and is damaged: it is empty\. .*put back as catalog\/versions\/000003\.json/,
    );
    writeFileSync(manifest(home, 3), good);
    expect((await desk.run("doctor", "--home", home)).out).not.toContain("damaged");
    expect((await desk.run("catalog", "log", "--home", home)).out).not.toContain("damaged");
  });

  it("is left where it lies by verbs that only look", async () => {
    const home = await history();
    writeFileSync(manifest(home, 5), "{ torn");
    const before = footprint(home);
    const said = await desk.run("check", "--against", "4", "--home", home);
    expect([ANSWERED.includes(said.code), said.err]).toEqual([true, ""]);
    expect(footprint(home)).toEqual(before);
  });
});

describe("a catalog version with a definition that is not there", { timeout: 60_000 }, () => {
  it("is never shown, compared or checked without that tool, which would read as removed", async () => {
    const home = await history();
    const { tools } = JSON.parse(readFileSync(manifest(home, 3), "utf8")) as { tools: Record<string, { document: string }> };
    const file = `catalog/tools/${tools["shop/find_order"]?.document ?? ""}.json`;
    rmSync(join(home, file));
    rmSync(join(home, "state/cache"), { recursive: true, force: true });
    expect(readdirSync(join(home, "catalog/tools")).length).toBeGreaterThan(0);
    for (const [door, said] of await each(READING, home, 3)) {
      expect([door, said.code]).toEqual([door, EXIT.failed]);
      expect([door, said.err]).toEqual([door, expect.stringContaining(file)]);
      expect([door, said.err]).toEqual([door, expect.stringMatching(/Put a good copy back|put a good copy back/)]);
    }
    for (const [door, said] of await each(READING, home, 2)) expect([door, ANSWERED.includes(said.code)]).toEqual([door, true]);
  });
});

describe("one tool of the catalog, asked for by name", { timeout: 60_000 }, () => {
  it("is shown by its key, its exposed name, or its bare name where no other tool has it, now and as of a version", async () => {
    const home = makeHome(["shop", "depot"]);
    const house = await openHouse(home);
    await list(house, "shop", [FIND, CANCEL]);
    await list(house, "depot", [FIND]);
    await house.stop();
    const show = (...argv: string[]): Promise<Said> => desk.run("catalog", "show", ...argv, "--home", home);
    for (const name of ["shop/cancel_order", "shop__cancel_order", "cancel_order"]) {
      const [now, then] = [await show(name), await show(name, "--at", "2", "--json")];
      expect([name, now.code, JSON.parse(now.out).tools[0]?.tool]).toEqual([name, EXIT.fine, "shop/cancel_order"]);
      expect([name, then.code, JSON.parse(then.out).tool]).toEqual([name, EXIT.fine, "shop/cancel_order"]);
    }
    for (const at of [[], ["--at", "2"]]) {
      const several = await show("find_order", ...at);
      expect([several.code, several.out]).toEqual([EXIT.usage, ""]);
      expect(several.err).toContain(
        "Several tools are called find_order: depot/find_order, shop/find_order. Name one by its key.",
      );
      const slip = await show("cancel_ordre", ...at);
      expect([slip.code, slip.err]).toEqual([EXIT.usage, expect.stringMatching(/Did you mean shop\/cancel_order/)]);
    }
    // In version 1 only one of them had the name.
    expect(JSON.parse((await show("find_order", "--at", "1", "--json")).out).tool).toBe("shop/find_order");
  });
});

describe("a search as of a version", { timeout: 60_000 }, () => {
  it("says where it gives fewer tools than were asked for, and nothing where it gives as many", async () => {
    const home = makeHome(["shop"]);
    const house = await openHouse(home);
    await list(
      house,
      "shop",
      Array.from({ length: 15 }, (_one, n) => ({ ...FIND, name: `find_order_${n}` })),
    );
    await house.stop();
    const search = (limit: string): Promise<Said> =>
      desk.run("retrieve", "find an order", "--at", "1", "--limit", limit, "--home", home);
    const [many, ten] = [await search("12"), await search("10")];
    expect([many.code, many.err]).toEqual([EXIT.fine, expect.stringContaining("limit 12 was cut to 10.")]);
    expect([ten.code, ten.err]).toEqual([EXIT.fine, ""]);
    const answer = JSON.parse((await desk.run("retrieve", "order", "--at", "1", "--limit", "12", "--json", "--home", home)).out);
    expect(answer).toMatchObject({ notices: [{ code: "limit-cut" }] });
  });
});
