import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";

afterEach(closeHouses);

const find = (text: string) => tool("find_order", { description: text });
const cancel = tool("cancel_order", { description: "Cancels an order.", required: ["order_id"], writes: true });
const versionsIn = (home: string): string => join(home, "catalog/versions");
const manifest = (home: string, version: number): string => join(versionsIn(home), `${String(version).padStart(6, "0")}.json`);
const present = (house: House): number => house.steward.world().catalog.version;

/** What may happen to a home between two listings. */
const HAPPENINGS = ["nothing", "damage", "damage, restart", "empty, restart", "restart", "put back"] as const;

describe("the number of a catalog version", () => {
  it("is never given twice, whatever manifests are damaged, set aside or put back at run time or before a start", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...HAPPENINGS), { minLength: 2, maxLength: 8 }), async (happenings) => {
        const home = makeHome(["shop"]);
        let house = await openHouse(home);
        const texts = new Map<number, string>();
        for (const [n, happening] of happenings.entries()) {
          await list(house, "shop", [find(`Finds ${n}.`)]);
          const given = present(house);
          expect([...texts.keys()].every((earlier) => earlier < given)).toBe(true);
          texts.set(given, readFileSync(manifest(home, given), "utf8"));
          if (happening.startsWith("damage")) writeFileSync(manifest(home, given), "{ torn");
          if (happening.startsWith("empty")) writeFileSync(manifest(home, given), "");
          if (happening === "put back") for (const [version, text] of texts) writeFileSync(manifest(home, version), text);
          if (happening.endsWith("restart")) {
            await house.stop();
            house = await openHouse(home);
          }
        }
        await house.stop();
        // Nothing else was ever written under a number: it is what was given with it, or what it was damaged to.
        for (const name of readdirSync(versionsIn(home)))
          expect([texts.get(Number.parseInt(name, 10)), "{ torn", ""]).toContain(
            readFileSync(join(versionsIn(home), name), "utf8"),
          );
      }),
      { numRuns: 8 },
    );
  });

  it("is above that of a newest manifest which a start set aside, and the one put back later is what it was", async () => {
    const home = makeHome(["shop"]);
    const first = await openHouse(home);
    await list(first, "shop", [find("Finds one.")]);
    await list(first, "shop", [find("Finds two.")]);
    await first.stop();
    const good = readFileSync(manifest(home, 2), "utf8");
    writeFileSync(manifest(home, 2), "{ torn");
    const house = await openHouse(home);
    expect(present(house)).toBe(1);
    await list(house, "shop", [find("Finds three.")]);
    expect(present(house)).toBe(3);
    await expect(house.operations.catalog({ at: 2 })).rejects.toMatchObject({ code: "version-damaged" });
    // The last two that there are.
    expect(await house.operations.drift({})).toMatchObject({ from: 1, to: 3, changed: ["shop/find_order"] });
    writeFileSync(manifest(home, 2), good);
    const shown = async (at: number): Promise<unknown> => (await house.operations.catalog({ at })).tools[0]?.description;
    expect([await shown(1), await shown(2), await shown(3)]).toEqual(["Finds one.", "Finds two.", "Finds three."]);
  });

  it("is above one that only a pin, a takeover or the library still names", async () => {
    for (const name of [
      (house: House) => house.operations.pinCatalog({ version: 2 }, person),
      (house: House) => list(house, "shop", [find("Finds two."), { ...cancel, name: "cancel_an_order" }]),
      (house: House) =>
        house.operations.importSkills(
          [{ folder: "a", files: { "SKILL.md": "---\nname: a\ndescription: Does it.\n---\nDo it.\n" } }],
          person,
        ),
    ]) {
      const home = makeHome(["shop"]);
      const first = await openHouse(home);
      await list(first, "shop", [find("Finds one."), cancel]);
      await list(first, "shop", [find("Finds two."), cancel]);
      await name(first);
      const named = present(first);
      await first.stop();
      rmSync(manifest(home, named));
      const house = await openHouse(home);
      await list(house, "shop", [find("Finds three."), cancel]);
      expect(present(house)).toBe(named + 1);
      await house.stop();
    }
  });

  it("that was lost leaves a takeover found at it in force, once, with what was said of it", async () => {
    const home = makeHome(["shop"]);
    const first = await openHouse(home);
    const renamed = [find("Finds."), { ...cancel, name: "cancel_an_order" }];
    await list(first, "shop", [find("Finds."), cancel]);
    await list(first, "shop", renamed);
    const [link] = await first.operations.lineage();
    await first.operations.judgeLineage(link?.id ?? "", "confirm", person);
    await first.stop();
    writeFileSync(manifest(home, 2), "");
    const house = await openHouse(home);
    await list(house, "shop", renamed);
    expect(present(house)).toBe(3);
    expect((await house.operations.lineage()).map(({ id, confirmed, now }) => [id, confirmed?.by, now])).toEqual([
      [link?.id, "local", "followed"],
    ]);
  });
});
