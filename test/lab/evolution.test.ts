import { describe, it, expect } from "vitest";
import { starterLibrary } from "../../scripts/starter.js";
import { toTool } from "../../src/catalog/intake.js";
import { SHOP_LINEAGE } from "../../src/lab/worlds/shop/catalogs.js";
import { createShop, SHOP_PARTS } from "../../src/lab/worlds/shop/shop.js";
import type { ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import type { Skill } from "../../src/model/skill.js";
import type { Tool } from "../../src/model/tool.js";
import { lintSkill } from "../../src/skills/lint.js";
import { rewriteTool } from "../../src/skills/rewrite.js";
import { parseSkill } from "../../src/skills/text.js";
import { EXAMPLES } from "./examples.js";
import { follow, succeed } from "./follow.js";
import { findField, runShop } from "./running-shop.js";

const catalog = (version: number): ReadonlyMap<string, Tool> =>
  new Map(
    SHOP_PARTS.flatMap((part) =>
      createShop({ part, version })
        .tools()
        .map((listed) => toTool(part as string as UpstreamLabel, listed)),
    ).map((tool) => [tool.key, tool]),
  );

/** The starter's atomic and tool skills as the true lineage rewrites them for a catalog version. */
function evolved(version: number): { skills: Map<string, Skill>; touched: Set<string> } {
  const skills = new Map([...starterLibrary().skills].map(([name, skill]) => [name as string, skill]));
  const touched = new Set<string>();
  for (let v = 2; v <= version; v += 1) {
    const tools = catalog(v);
    for (const link of SHOP_LINEAGE.filter((one) => one.atVersion === v)) {
      for (const [name, skill] of skills) {
        if (!skill.contract.requires.some((need) => need.tool === link.from)) continue;
        const to = link.to.flatMap((key) => tools.get(key) ?? []);
        const result = rewriteTool(skill, { from: link.from as ToolKey, to, params: {}, fixedArguments: link.fixedArguments });
        if (result.kind === "refused") throw new Error(`${name}: ${result.why}`);
        const read = parseSkill({ folder: name, files: result.files }, skill.provenance).skill;
        if (read === undefined) throw new Error(`${name} cannot be read`);
        skills.set(name, read);
        touched.add(name);
      }
    }
  }
  return { skills, touched };
}

/** The request as the seeded examples have it, brought to a version by calls that exist there. */
function shopFor(name: string, version: number) {
  const shop = runShop(version);
  for (const [tool, args] of EXAMPLES[name]?.before ?? []) succeed(shop, tool, args);
  return shop;
}

describe("the starter library, rewritten along the true lineage", () => {
  it.each([2, 3])("names at v%i only tools that are there, with every digest right and lint still clean", (version) => {
    const tools = catalog(version);
    for (const skill of evolved(version).skills.values()) {
      expect(lintSkill(skill), skill.name).toEqual([]);
      for (const need of skill.contract.requires) expect(tools.has(need.tool), `${skill.name} ${need.tool}`).toBe(true);
    }
    const touched = evolved(version).touched;
    for (const name of touched) {
      for (const need of evolved(version).skills.get(name)?.contract.requires ?? []) {
        // Only what was rebound is of now; what the skill names besides keeps its own digest.
        if (SHOP_LINEAGE.some((link) => link.to.includes(need.tool) && link.atVersion === version)) {
          expect(need.contractDigest).toBe(tools.get(need.tool)?.digests.contract);
        }
      }
    }
  });

  const cases = [2, 3].flatMap((version) =>
    [...evolved(version).skills.values()]
      // A new required parameter is no rename: nobody can say its value for the skill.
      .filter((skill) => skill.tier === "atomic" && skill.name !== "atomic-open-return")
      .map((skill) => [skill.name, version, skill] as const),
  );
  it.each(cases)("%s still works at v%i by following its text", (name, version, skill) => {
    const answers = follow(skill, EXAMPLES[name]?.request ?? {}, shopFor(name, version));
    for (const produced of skill.contract.produces) {
      expect(
        answers.some((answer) => findField(answer, produced) !== undefined),
        produced,
      ).toBe(true);
    }
  });

  it("reads as a person would have written it", () => {
    const { skills } = evolved(3);
    const steps = (name: string) => skills.get(name)?.steps.map((step) => step.text);
    expect(steps("atomic-ship-order")).toEqual([
      "Get the address: `shop/get_order` with order_id from the request.",
      "Send the parcel (1 of 2): `depot/pack_order` with order_id from the request and warehouse_id from the request.",
      "Send the parcel (2 of 2): `depot/dispatch_shipment` with carrier from the request, delivery_address from step 1 and shipment_id from step 2.",
    ]);
    expect(steps("atomic-reject-return")).toEqual([
      'Reject it: `shop/manage_return` with action = "reject", return_id from the request and note from the request.',
    ]);
    expect(steps("atomic-find-customer")).toEqual(["Find the customer: `shop/lookup_customer` with email from the request."]);
  });
});
