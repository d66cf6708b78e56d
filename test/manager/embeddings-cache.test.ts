import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { nodeFiles } from "../../src/host/files.js";
import { openVectorCache, type Space, type VectorCache } from "../../src/manager/embeddings-cache.js";
import { vectorOf } from "../fixtures/embeddings-server.js";

const home = mkdtempSync(join(tmpdir(), "steward-vector-cache-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const files = nodeFiles();
afterAll(() => files.close());

const unit = (seed: string): Float32Array => {
  const vector = Float32Array.from(vectorOf("probe", { seed }));
  return vector.map((value) => value / Math.hypot(...vector));
};

async function used(cache: VectorCache, seed: string): Promise<Space> {
  const space = await cache.spaceOf({ url: "http://127.0.0.1/v1", model: "made", probe: unit(seed) });
  await space.keep(new Map(["a", "b"].map((text) => [text.repeat(64), unit(text)])));
  return space;
}

describe("vectors of several embedders, kept in one folder", () => {
  it.runIf(existsSync("/proc/self/fd"))("leave no file open, however often one gives way to another", async () => {
    const cache = openVectorCache({ folder: join(home, "often"), files, log: () => undefined });
    const turn = async (): Promise<number> => {
      for (const seed of ["a", "b", "c", "d"]) await used(cache, seed);
      // What is closed is gone from the list a moment later.
      await new Promise((resolve) => setTimeout(resolve, 20));
      return readdirSync("/proc/self/fd").length;
    };
    const first = await turn();
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(await turn()).toBeLessThanOrEqual(first + 4);
  });

  it("are found again beside files and folders of a fitting name that are none of theirs", async () => {
    const folder = join(home, "strange");
    const told: string[] = [];
    mkdirSync(join(folder, "0123456789abcdef.jsonl"), { recursive: true });
    for (const [name, text] of Object.entries({ 1: "", 2: "{", 3: "\n\n", 4: '{"format":"vectors/1"}\n', 5: "\u0000" }))
      writeFileSync(join(folder, `${name.repeat(16)}.jsonl`), text);
    // The oldest of all: what goes first.
    utimesSync(join(folder, "0123456789abcdef.jsonl"), 1, 1);
    const cache = openVectorCache({ folder, files, log: (_level, text) => told.push(text) });
    const { identity } = await used(cache, "a");
    const again = await openVectorCache({ folder, files, log: (_level, text) => told.push(text) }).spaceOf({
      url: "http://127.0.0.1/v1",
      model: "made",
      probe: unit("a"),
    });
    expect({ identity: again.identity, has: again.has("a".repeat(64)), told }).toEqual({ identity, has: true, told: [] });
  });
});
