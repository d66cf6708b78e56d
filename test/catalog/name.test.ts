import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exposedName, foreignLabel, labelProblem, nameClashes, suggestLabel } from "../../src/catalog/name.js";
import { splitToolKey, toolKey, type ExposedName, type ToolKey } from "../../src/model/ids.js";

function golden<Row>(file: string): Row[] {
  return JSON.parse(readFileSync(resolve(import.meta.dirname, "../golden/names", file), "utf8")) as Row[];
}

const label = fc.stringMatching(/^[A-Za-z0-9._-]{1,32}$/).filter((text) => labelProblem(text) === undefined);
const toolName = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,60}$/),
  fc.string({ minLength: 1, maxLength: 80, unit: "grapheme" }),
);

describe("exposed names", () => {
  it.each(golden<{ tool: ToolKey; prefix: string; maxLength: number; exposed: string }>("exposed.json"))(
    "$tool with prefix '$prefix' and at most $maxLength is exposed as $exposed",
    ({ tool, prefix, maxLength, exposed }) => {
      expect(exposedName(tool, prefix, maxLength)).toBe(exposed);
    },
  );

  it("are safe for every provider and short enough for a client's own prefix [C07][C08]", () => {
    fc.assert(
      fc.property(label, toolName, fc.integer({ min: 16, max: 64 }), (prefix, name, max) => {
        const exposed = exposedName(toolKey(prefix, name), prefix, max);
        expect(exposed).toMatch(/^[a-zA-Z0-9_-]+$/);
        expect(exposed.length).toBeLessThanOrEqual(max);
      }),
      { numRuns: 500 },
    );
    expect(`mcp__steward__${exposedName(toolKey("s", "x".repeat(300)), "s", 48)}`.length).toBeLessThanOrEqual(64);
  });

  it("tell any two tools apart, also those that share their first 64 characters [C07]", () => {
    const near = fc.tuple(
      label,
      fc.constantFrom("get_order", "get.order", "get order", "_x", "x", `${"y".repeat(64)}a`, `${"y".repeat(64)}b`),
    );
    fc.assert(
      fc.property(fc.oneof(near, fc.tuple(label, toolName)), fc.oneof(near, fc.tuple(label, toolName)), ([l1, n1], [l2, n2]) => {
        const [a, b] = [toolKey(l1, n1), toolKey(l2, n2)];
        if (a === b) expect(exposedName(a, l1, 48)).toBe(exposedName(b, l2, 48));
        else expect(exposedName(a, l1, 48)).not.toBe(exposedName(b, l2, 48));
      }),
      { numRuns: 1_000 },
    );
  });

  it("in the lossless form give the label and the name back", () => {
    fc.assert(
      fc.property(label, fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/), (prefix, name) => {
        const exposed = exposedName(toolKey(prefix, name), prefix, 64);
        if (/[.]/.test(prefix)) return;
        const at = exposed.indexOf("__");
        expect([exposed.slice(0, at), exposed.slice(at + 2)]).toEqual([prefix, name]);
      }),
    );
  });

  it("name both tools where a name was written to look like another's hash form", () => {
    const key = toolKey("shop", "get.order");
    const forged = toolKey("shop", exposedName(key, "shop", 48).slice("shop__".length));
    const names = [key, forged].map((tool): [ToolKey, ExposedName] => [tool, exposedName(tool, "shop", 48)]);
    const [problem] = nameClashes(names);
    expect(problem).toMatchObject({ code: "exposed-name-clash", where: forged });
    expect(problem?.text).toContain(key);
    expect(nameClashes(names.slice(0, 1))).toEqual([]);
  });
});

describe("labels", () => {
  it.each(golden<{ server: string; taken: string[]; label: string }>("labels.json"))(
    "a foreign server '$server' beside $taken is labelled $label",
    ({ server, taken, label: expected }) => {
      expect(foreignLabel(server, new Set(taken))).toBe(expected);
    },
  );

  it.each(["", "a b", "a__b", "a_", "x".repeat(33), "größe", "a/b", "..", "a\u200bb"])(
    "refuses %j and suggests one that is fine",
    (wrong) => {
      const problem = labelProblem(wrong);
      expect(problem?.code).toBe("label-invalid");
      expect(problem?.text).toContain(suggestLabel(wrong));
      expect(labelProblem(suggestLabel(wrong))).toBeUndefined();
    },
  );

  it.each(["github", "a", "my.server-2", "_x", "A_b", "x".repeat(32)])("takes %j", (fine) => {
    expect(labelProblem(fine)).toBeUndefined();
    expect(foreignLabel(fine, new Set([fine]))).toBe(fine.replace(/^_/, ""));
  });

  it("made for foreign servers are always valid", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.string()), (server, taken) => {
        expect(labelProblem(foreignLabel(server, new Set(taken)))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it("split a key at its first slash only", () => {
    expect(splitToolKey("a/b/c")).toEqual({ label: "a", name: "b/c" });
  });
});
