import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolKey } from "../../src/model/ids.js";
import { createAdvice } from "../../src/provision/advice.js";
import { readSpoken } from "../../src/provision/spoken.js";
import { tool } from "../retrieve/made.js";

const NAMES = ["alpha", "beta", "gamma", "delta"] as const;

describe("advice on what a tool needs first", () => {
  it("never leads from one tool to another and back, whoever could supply whom", () => {
    const edges = fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 12 });
    fc.assert(
      fc.property(edges, (pairs) => {
        const needs = (n: number): number[] => [...new Set(pairs.filter(([to]) => to === n).map(([, from]) => from))];
        const tools = NAMES.map((name, n) =>
          tool(`desk/${name}`, { takes: Object.fromEntries(needs(n).map((from) => [`${NAMES[from] ?? ""}_id!`, "Its id"])) }),
        );
        const lookup = {
          suppliers: (key: ToolKey) =>
            needs(tools.findIndex((one) => one.key === key)).map((from) => ({
              tool: `desk/${NAMES[from] ?? ""}` as ToolKey,
              supplies: `${NAMES[from] ?? ""}_id`,
            })),
        };
        const advice = createAdvice({ lookup } as never, readSpoken("do it"), new Set(tools.map((one) => one.key)));
        const leads = new Map<string, string[]>();
        for (const one of tools) {
          const said = advice(one);
          expect(said).toHaveLength(needs(tools.indexOf(one)).length);
          leads.set(
            one.key,
            said.flatMap((text) => /\(from (\S+)\)/.exec(text)?.[1] ?? []),
          );
        }
        const reach = (from: string, seen: Set<string>): Set<string> => {
          for (const next of leads.get(from) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
          return seen;
        };
        for (const one of tools) expect(reach(one.key, new Set()).has(one.key)).toBe(false);
      }),
    );
  });

  it("still names the one who supplies where the other way round is not asked for", () => {
    const cancel = tool("desk/cancel", { takes: { "case_id!": "Its id" } });
    const lookup = { suppliers: () => [{ tool: "desk/find" as ToolKey, supplies: "case_id" }] };
    expect(createAdvice({ lookup } as never, readSpoken("cancel it"), new Set())(cancel)).toEqual(["case_id (from desk/find)"]);
  });
});
