/** What a home keeps only to start faster: right where it is sound, and as if it were not there where it is not. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { sha256 } from "../../src/catalog/canonical.js";
import { nodeFiles } from "../../src/host/files.js";
import { readPack, SKILL_PACK } from "../../src/store/packs.js";
import { places } from "../../src/store/places.js";
import { readPrepared, writePrepared } from "../../src/store/prepared.js";
import { homeOfSkills, open, removeHomes, tempHome } from "./home.js";

afterEach(removeHomes);

/** As many as are worth a pack. */
const SKILLS = 500;

/** Reads the home as a start does, and answers the texts of its skills. */
async function textsOf(home: string): Promise<unknown> {
  const store = await open(home);
  const { skills, problems } = await store.read();
  expect(problems).toEqual([]);
  await store.close();
  return [...skills].sort();
}

describe("the pack of skills", () => {
  it("is made at the first start with many skills, and later starts read the same from it alone", async () => {
    const home = await homeOfSkills(SKILLS);
    const texts = await textsOf(home);
    const pack = readPack<string>(home, SKILL_PACK);
    expect(pack.size).toBeGreaterThan(SKILLS);
    for (const [digest, text] of pack) expect(sha256(text)).toBe(digest);
    rmSync(join(home, places.objects), { recursive: true });
    mkdirSync(join(home, places.objects));
    expect(await textsOf(home)).toEqual(texts);
  });

  it("is as good as absent where a byte of it moved, wherever that is", async () => {
    const home = await homeOfSkills(SKILLS);
    const texts = await textsOf(home);
    const path = join(home, SKILL_PACK.place);
    const sound = readFileSync(path);
    for (const share of [0.001, 0.5]) {
      const broken = Buffer.from(sound);
      const at = Math.floor(share * (broken.length - 1));
      broken[at] = (broken[at] ?? 0) ^ 1;
      writeFileSync(path, broken);
      expect(await textsOf(home)).toEqual(texts);
      expect(readFileSync(path)).toEqual(sound);
    }
  });
});

describe("what was prepared for the next start", () => {
  const files = nodeFiles();
  const parts = fc.dictionary(fc.string({ unit: "grapheme", maxLength: 20 }), fc.uint8Array({ maxLength: 40 }));
  const plain = (prepared: ReadonlyMap<string, Uint8Array>): unknown => [...prepared].map(([name, bytes]) => [name, [...bytes]]);

  it("comes back as it was, each part at a place where numbers can be read", async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (given) => {
        const home = tempHome();
        mkdirSync(join(home, places.cache), { recursive: true });
        const prepared = new Map(Object.entries(given));
        await writePrepared(home, files, "this code", prepared);
        const back = readPrepared(home, "this code");
        expect(plain(back)).toEqual(plain(prepared));
        for (const part of back.values()) expect(part.byteOffset % 8).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it("is taken by no other code, nor cut short, nor with a byte moved, nor where there is none", async () => {
    const home = tempHome();
    expect(readPrepared(home, "this code").size).toBe(0);
    mkdirSync(join(home, places.cache), { recursive: true });
    await writePrepared(
      home,
      files,
      "this code",
      new Map([
        ["one", Buffer.from("1234567")],
        ["two", Buffer.from("x")],
      ]),
    );
    expect(readPrepared(home, "other code").size).toBe(0);
    const path = join(home, places.prepared);
    const sound = readFileSync(path);
    for (let at = 0; at < sound.length; at += 1) {
      const broken = Buffer.from(sound);
      broken[at] = (broken[at] ?? 0) ^ 1;
      writeFileSync(path, at % 2 === 0 ? broken : sound.subarray(0, at));
      const read = readPrepared(home, "this code");
      expect(read.size).toBe(0);
    }
  });

  it("is not taken after several crashes in a row, and not kept by a store that knows no code", async () => {
    const home = tempHome();
    const store = await open(home, { stamp: "this code" });
    await store.keepPrepared(new Map([["one", Buffer.from("1")]]));
    await store.close();
    const again = await open(home, { stamp: "this code" });
    expect([...(await again.read()).prepared.keys()]).toEqual(["one"]);
    await again.close();
    const without = await open(home);
    rmSync(join(home, places.prepared));
    expect((await without.read()).prepared.size).toBe(0);
    await without.keepPrepared(new Map([["one", Buffer.from("1")]]));
    await without.close();
    expect(existsSync(join(home, places.prepared))).toBe(false);
  });
});
