import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { viewSchema } from "../../src/model/view.js";
import { turnOf, type TurnSketch } from "./turn.js";

const root = resolve(import.meta.dirname, "../golden/views");

describe("golden views: what was found, and the view it becomes", () => {
  for (const name of readdirSync(root).sort()) {
    it(name.replaceAll("-", " "), () => {
      const sketch = JSON.parse(readFileSync(join(root, name, "input.json"), "utf8")) as TurnSketch;
      const { view } = turnOf(sketch);
      const path = join(root, name, "expected.json");
      if (process.env["GOLDEN_WRITE"] === "1" || !existsSync(path)) writeFileSync(path, `${JSON.stringify(view, null, 2)}\n`);
      expect(`${JSON.stringify(view, null, 2)}\n`).toBe(readFileSync(path, "utf8"));
      expect(viewSchema.parse(view)).toEqual(view);
    });
  }
});
