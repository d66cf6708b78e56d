import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it, expect } from "vitest";
import { starterFiles, starterTools } from "../../scripts/starter.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import { lockFormat, type Skill } from "../../src/model/skill.js";
import type { ToolKey, SkillName } from "../../src/model/ids.js";
import { fileDigests } from "../../src/skills/digest.js";
import { lintLibrary } from "../../src/skills/lint.js";
import { parseStepCall } from "../../src/skills/step-call.js";
import { parseSkill } from "../../src/skills/text.js";
import { EXAMPLES } from "./examples.js";
import { follow, succeed } from "./follow.js";
import { findField, runShop, type RunningShop } from "./running-shop.js";
import { publicValidatorProblems } from "../skills/public-validators.js";

const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "skills");

/** The library as it lies in the repository, not as the generator would write it. */
const skills = new Map<SkillName, Skill>();
for (const entry of readdirSync(folder, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue;
  const names = readdirSync(join(folder, entry.name), { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const files = Object.fromEntries(
    names.map((file) => {
      const path = join(file.parentPath, file.name);
      return [path.slice(join(folder, entry.name).length + 1), readFileSync(path, "utf8")];
    }),
  );
  const { skill, problems } = parseSkill({ folder: entry.name, files }, "starter");
  if (skill === undefined) throw new Error(JSON.stringify(problems));
  skills.set(skill.name, skill);
}
const lock = lockFormat.schema.parse(JSON.parse(readFileSync(join(folder, "steward.lock.json"), "utf8")));
const tools = starterTools();
const ofTier = (tier: Skill["tier"]): Skill[] => [...skills.values()].filter((skill) => skill.tier === tier);

function example(skill: Skill): { request: JsonObject; shop: RunningShop } {
  const found = EXAMPLES[skill.name];
  if (found === undefined) throw new Error(`${skill.name} has no grounded example`);
  const shop = runShop(1);
  for (const [tool, args] of found.before ?? []) succeed(shop, tool, args);
  return { request: found.request, shop };
}

const produced = (skill: Skill, answers: readonly JsonObject[]): void => {
  for (const name of skill.contract.produces) {
    expect(
      answers.some((answer) => findField(answer, name) !== undefined),
      `${skill.name} yields ${name}`,
    ).toBe(true);
  }
};

describe("the starter home", () => {
  it("is what its sources generate, file for file", () => {
    const files = starterFiles();
    for (const [path, text] of files)
      expect(existsSync(join(root, path)) && readFileSync(join(root, path), "utf8"), path).toBe(text);
    const kept = [...skills.values()].flatMap((skill) => Object.keys(skill.files).map((path) => `skills/${skill.name}/${path}`));
    for (const path of kept) expect(files.has(path), path).toBe(true);
  });

  it("has at least 6 planning and 15 atomic skills and one tool skill for each tool of the shop", () => {
    expect(ofTier("planning").length).toBeGreaterThanOrEqual(6);
    expect(ofTier("atomic").length).toBeGreaterThanOrEqual(15);
    const described = ofTier("tool").flatMap((skill) => skill.contract.requires.map((requirement) => requirement.tool));
    expect(described.sort()).toEqual([...tools.keys()].sort());
  });

  it("passes every lint rule and both public validators' rules", () => {
    const library = { revision: lock.revision, skills, lock };
    expect(lintLibrary(library)).toEqual([]);
    for (const skill of skills.values())
      expect(publicValidatorProblems(skill.name, skill.files["SKILL.md"] ?? ""), skill.name).toEqual([]);
  });

  it("can be listed whole within what hosts give to skill lists", () => {
    const listed = [...skills.values()].reduce((sum, skill) => sum + skill.name.length + skill.description.length, 0);
    expect(listed).toBeLessThan(8_000);
  });

  it("states digests, parameters and fields that the shop's tools at v1 really have", () => {
    for (const skill of skills.values()) {
      for (const need of skill.contract.requires) {
        const tool = tools.get(need.tool as ToolKey);
        expect(need.contractDigest, `${skill.name} ${need.tool}`).toBe(tool?.digests.contract);
        const params = tool?.inputSchema["properties"];
        for (const name of need.params)
          expect(isJsonObject(params) && Object.hasOwn(params, name), `${skill.name} ${need.tool} ${name}`).toBe(true);
        for (const path of need.reads) expect(hasPath(tool?.outputSchema, path), `${skill.name} ${need.tool} ${path}`).toBe(true);
        const required = tool?.inputSchema["required"];
        for (const name of Array.isArray(required) ? required : [])
          expect(need.params, `${skill.name} ${need.tool}`).toContain(name);
      }
      for (const used of skill.contract.uses) expect(skills.has(used as SkillName), `${skill.name} uses ${used}`).toBe(true);
    }
  });

  it("reads of an answer only what its contract says it reads", () => {
    for (const skill of ofTier("atomic")) {
      const calls = skill.steps.map((step) => parseStepCall(step.text));
      for (const call of calls) {
        for (const { name, source } of call?.arguments ?? []) {
          if (source.kind !== "step") continue;
          const from = calls[source.step - 1]?.tool ?? "";
          const reads = skill.contract.requires.filter((need) => need.tool === from).flatMap((need) => need.reads);
          const leaf = source.field ?? name;
          expect(
            reads.some((path) => path === leaf || path.endsWith(`.${leaf}`)),
            `${skill.name}: ${leaf} of ${from}`,
          ).toBe(true);
        }
      }
    }
  });

  it("is locked byte for byte, verified against the tools it names", () => {
    expect(Object.keys(lock.skills).sort()).toEqual([...skills.keys()].sort());
    for (const skill of skills.values()) {
      const entry = lock.skills[skill.name];
      expect(entry?.files).toEqual(fileDigests(skill.files));
      expect(entry?.tier).toBe(skill.tier);
      const verified = skill.contract.requires.map(
        (need) => [need.tool, { ...tools.get(need.tool as ToolKey)?.digests }] as const,
      );
      expect(entry?.verified).toEqual(Object.fromEntries(verified));
    }
  });
});

describe("each starter skill, replayed on the shop", () => {
  it.each(ofTier("atomic").map((skill) => [skill.name, skill] as const))("%s does what its steps say", (_name, skill) => {
    const { request, shop } = example(skill);
    produced(skill, follow(skill, request, shop));
  });

  it.each(ofTier("planning").map((skill) => [skill.name, skill] as const))(
    "%s does what its atomic skills do in turn",
    (_name, skill) => {
      const { request, shop } = example(skill);
      const answers: JsonObject[] = [];
      for (const step of skill.steps) {
        expect(step.skills.length, `${skill.name} step ${step.n}`).toBe(1);
        const used = skills.get(step.skills[0] as SkillName);
        if (used === undefined) throw new Error(`${skill.name} step ${step.n} names no skill`);
        // What earlier steps yielded counts as said, unless the request says it.
        const yielded = Object.fromEntries(answers.flatMap((answer) => leaves(answer)));
        answers.push(...follow(used, { ...yielded, ...request }, shop));
      }
      produced(skill, answers);
    },
  );

  it.each(ofTier("tool").map((skill) => [skill.name, skill] as const))(
    "%s names a tool that takes what it says",
    (_name, skill) => {
      const { request, shop } = example(skill);
      const [need] = skill.contract.requires;
      for (const name of Object.keys(request)) expect(need?.params).toContain(name);
      produced(skill, [succeed(shop, need?.tool ?? "", request)]);
    },
  );
});

/** First value of each name in an answer, depth first. */
function leaves(value: JsonValue): [string, JsonValue][] {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap(leaves);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]): [string, JsonValue][] =>
    typeof inner === "object" && inner !== null ? leaves(inner) : [[name, inner]],
  );
}

function hasPath(schema: JsonValue | undefined, path: string): boolean {
  const [head = "", ...rest] = path.split(".");
  const name = head.replace(/\[\]$/, "");
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  const found = isJsonObject(properties) ? properties[name] : undefined;
  if (!isJsonObject(found)) return false;
  return rest.length === 0 || hasPath(head.endsWith("[]") ? found["items"] : found, rest.join("."));
}
