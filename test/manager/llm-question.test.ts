import { describe, expect, it } from "vitest";
import type { SkillName, ToolKey } from "../../src/model/ids.js";
import type { LineageLink } from "../../src/model/lineage.js";
import { LLM_LIMITS } from "../../src/model/endpoint-limits.js";
import type { DueSkill, MaintenanceInput } from "../../src/model/ports.js";
import type { StandingReason } from "../../src/model/standing.js";
import type { Tool } from "../../src/model/tool.js";
import { editCase, editPrompt } from "../../src/manager/prompt-edit.js";
import { renderBody } from "../../src/skills/body.js";
import { parseSkill, renderSkill } from "../../src/skills/text.js";
import { tool, toolMap } from "../skills/tools.js";

const WAS = tool("shop/cancel", ["order_id", "reason", "note?", "copy_to?"], ["status", "total", "trace"]);
const NEAR = ["shop/void", "shop/abort", "shop/stop", "shop/end", "shop/halt"].map((key) => tool(key, ["order_id"]));

interface Asked {
  readonly present: readonly Tool[];
  readonly reasons: readonly StandingReason[];
  readonly links?: readonly LineageLink[];
}

/** What a model is asked for a skill that sets order_id, reason and note and reads status. */
function question({ present, reasons, links = [] }: Asked): {
  rows: (title: RegExp) => Record<string, unknown>[];
  says: string[];
} {
  const name = "atomic-cancel-order" as SkillName;
  const files = renderSkill({
    name,
    tier: "atomic",
    description: "Cancel an order.",
    body: renderBody({
      whenToUse: "It is asked for.",
      steps: [`Cancel it: \`${WAS.key}\` with order_id from the request, reason from the request and note from the request.`],
    }),
    contract: {
      requires: [
        { tool: WAS.key, contractDigest: WAS.digests.contract, params: ["order_id", "reason", "note"], reads: ["status"] },
      ],
      uses: [],
      produces: [],
      evidence: [],
    },
  });
  const skill = parseSkill({ folder: name, files }, "rules").skill;
  if (skill === undefined) throw new Error("the sample skill reads");
  const due: DueSkill = {
    skill,
    standing: { standing: "inactive", needsReview: false, reasons: [...reasons], since: "" },
    pinned: false,
    verified: new Map([[WAS.key, WAS]]),
  };
  const input: MaintenanceInput = {
    mode: "incremental",
    at: "2026-01-01T00:00:00.000Z",
    due: [due],
    tools: toolMap(...present),
    departed: new Map([[WAS.key, { ...WAS.digests, lastVersion: 3 }]]),
    links,
    skills: new Map([[name, skill]]),
    rejected: new Set(),
    proofs: [],
    planning: "revised",
  };
  const one = editCase(due, input, () => NEAR.map((other) => other.key));
  const { blocks } = editPrompt(one, input, []);
  return {
    rows: (title) => blocks.flatMap((block) => (title.test(block.title) ? block.rows : [])),
    says: blocks.flatMap((block) => (block.title === "Evidence" ? block.rows.map((row) => String(row["says"])) : [])),
  };
}

const reason = (rule: string, text: string, on: string = WAS.key): StandingReason => ({ on, rule, level: "breaking", text });
const left = reason("T3", `${WAS.key} was removed after catalog version 3; shop/void takes over (proposed).`);
const link: LineageLink = {
  id: "l1",
  kind: "renamed",
  from: WAS.key,
  to: ["shop/void"],
  atVersion: 4,
  level: "proposed",
  params: {},
  fixedArguments: {},
  score: 0.6,
  evidence: ["the names are near"],
};

describe("a question about a skill says each thing once", () => {
  it("what left and who took over, by the reason it rests for", () => {
    expect(question({ present: NEAR, reasons: [left], links: [link] }).says).toEqual([
      `T3 (breaking): ${left.text}`,
      "lineage l1 (renamed, proposed): the names are near",
    ]);
  });

  it("and says it all the same where no reason does", () => {
    expect(question({ present: NEAR, reasons: [], links: [link] }).says).toEqual([
      "shop/cancel left the catalog after version 3",
      "lineage l1 (renamed, proposed) to shop/void: the names are near",
    ]);
    const moved = tool(WAS.key, ["order_id", "reason", "shop_id"]);
    expect(question({ present: [moved], reasons: [] }).says).toEqual([
      expect.stringContaining("has another contract than verified"),
    ]);
    expect(question({ present: [moved], reasons: [reason("I1", "`shop_id` is now required")] }).says).toEqual([
      "I1 (breaking) on shop/cancel: `shop_id` is now required",
    ]);
  });

  it("everything one rule found on a tool in one row, as far as a row is shown, with nothing cut and other tools apart", () => {
    const texts = Array.from({ length: 30 }, (_, n) => `minLength of \`part_${n}\` was tightened`);
    const reasons = [...texts.map((text) => reason("I13", text)), reason("I13", "pattern of `x` was tightened", "shop/other")];
    const { says } = question({ present: NEAR, reasons, links: [link] });
    expect(says.length).toBeLessThan(12);
    for (const text of [...texts, "pattern of `x` was tightened"]) expect(says.join("\n")).toContain(text);
    for (const row of says) expect(row.length).toBeLessThanOrEqual(LLM_LIMITS.shownChars);
    expect(says.filter((row) => row.includes("shop/other"))).toEqual([
      "I13 (breaking) on shop/other: pattern of `x` was tightened",
    ]);
  });

  it("a tool as it was by what the skill sets, must set and reads; a tool as it is by all it takes", () => {
    const asked = question({ present: [tool("shop/void", ["order_id", "why?"], ["status"])], reasons: [left], links: [link] });
    expect(asked.rows(/were used/)).toEqual([
      expect.objectContaining({
        tool: WAS.key,
        signature: "(order_id: string, reason: string, note?: string) — Does cancel.",
        returns: ["status"],
      }),
    ]);
    expect(asked.rows(/as they are/)).toEqual([
      expect.objectContaining({ tool: "shop/void", signature: "(order_id: string, why?: string) — Does void." }),
    ]);
  });

  it("tools that are near, few where lineage names a successor", () => {
    const offered = (links: readonly LineageLink[]): unknown[] =>
      question({ present: NEAR, reasons: [left], links })
        .rows(/as they are/)
        .map((row) => row["tool"] as ToolKey);
    expect(offered([{ ...link, to: ["shop/halt"] }])).toEqual(["shop/halt", "shop/void", "shop/abort"]);
    expect(offered([])).toHaveLength(NEAR.length);
  });
});
