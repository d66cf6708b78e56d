import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { readTextFile } from "../../src/host/text-file.js";

const folder = mkdtempSync(join(tmpdir(), "steward-text-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a text file that a person names", () => {
  it("is read whole up to the bound, packed or not, and one byte more is refused with the way out", async () => {
    for (const [name, pack] of [
      ["plain.jsonl", (text: string) => text],
      ["packed.jsonl.gz", (text: string) => gzipSync(text)],
    ] as const) {
      const path = join(folder, name);
      writeFileSync(path, pack("x".repeat(1_000)));
      expect(await readTextFile(path, 1_000)).toBe("x".repeat(1_000));
      await expect(readTextFile(path, 999)).rejects.toThrow(/999 bytes are read at once; split it at line ends/);
      writeFileSync(path, pack(""));
      expect(await readTextFile(path)).toBe("");
    }
    // A device that says of itself that it is empty.
    await expect(readTextFile("/dev/zero", 100_000)).rejects.toThrow(/it is longer, and at most 100000 bytes/);
  });
});
