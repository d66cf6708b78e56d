/**
 * Lint: named rules over one skill, all reported at once.
 *
 * Owns: what a good skill file satisfies, beyond being readable.
 * Speaks: Skill in, problems out (the reader's own problems first).
 * Never: whether tools exist or contracts still hold (the gate knows the catalog); changing a file.
 */
import { cleanText } from "../catalog/clean.js";
import { SKILL_LIMITS } from "../model/policy.js";
import type { Problem } from "../model/problem.js";
import type { Library, Skill } from "../model/skill.js";
import { mentionedSkills, mentionedTools, sections } from "./mentions.js";
import { speaksToModel } from "./speaks.js";
import { parseStepCall } from "./step-call.js";
import { METADATA_PREFIX, NAME_RULE, SKILL_PATH, TIER_PREFIX } from "./text.js";

interface LintRule {
  readonly code: string;
  /** `all`: the format's rules; `ours`: what skills written by STEWARD satisfy as well. */
  readonly scope: "all" | "ours";
  readonly check: (skill: Skill) => readonly string[];
}

const length = (text: string): number => Array.from(text).length;
const minus = <T>(a: readonly T[], b: readonly T[]): T[] => [...new Set(a)].filter((item) => !b.includes(item));
const requiredTools = (skill: Skill): string[] => skill.contract.requires.map((requirement) => requirement.tool);
const stepCalls = (skill: Skill) => skill.steps.flatMap((step) => parseStepCall(step.text) ?? []);

/** Every rule with its name. Order is the order of reports. */
export const LINT_RULES: readonly LintRule[] = [
  rule("name-rules", "all", (skill) =>
    NAME_RULE.test(skill.name) && skill.name.length <= SKILL_LIMITS.nameChars ? [] : [`\`${skill.name}\` is not ASCII kebab.`],
  ),
  rule("description-too-long", "all", (skill) =>
    over(length(skill.description), SKILL_LIMITS.descriptionChars, "The description"),
  ),
  rule("description-angle-brackets", "all", (skill) =>
    /[<>]/.test(skill.description) ? ["The description has angle brackets; hosts refuse them."] : [],
  ),
  rule("compatibility-too-long", "all", (skill) =>
    over(length(skill.compatibility ?? ""), SKILL_LIMITS.compatibilityChars, "`compatibility`"),
  ),
  rule("invisible-characters", "all", (skill) => {
    const { removed } = cleanText(`${skill.description}\n${skill.body}`);
    return removed > 0 ? [`The text has ${removed} invisible or control characters.`] : [];
  }),
  rule("speaks-to-model", "all", (skill) => [...speaksToModel(skill)]),
  rule("link-missing", "all", missingLinks),
  rule("uses-itself", "all", (skill) =>
    skill.contract.uses.includes(skill.name) ? ["The skill says that it builds on itself."] : [],
  ),
  rule("contract-digest", "all", (skill) =>
    skill.contract.requires
      .filter((requirement) => requirement.inferred !== true && !/^[0-9a-f]{64}$/.test(requirement.contractDigest))
      .map((requirement) => `The contract digest of ${requirement.tool} is not a sha256.`),
  ),
  rule("contract-tool-form", "all", (skill) =>
    requiredTools(skill)
      .filter((tool) => !/^[^/]+\/./.test(tool))
      .map((tool) => `\`${tool}\` in the contract is not \`label/tool\`.`),
  ),
  rule("tier-prefix", "ours", (skill) =>
    skill.name.startsWith(TIER_PREFIX[skill.tier])
      ? []
      : [`A ${skill.tier} skill of ours is named \`${TIER_PREFIX[skill.tier]}…\`.`],
  ),
  rule("description-long-for-lists", "ours", (skill) =>
    over(length(skill.description), SKILL_LIMITS.listedDescriptionChars, "The description"),
  ),
  rule("body-too-long", "ours", (skill) => over(length(skill.body), SKILL_LIMITS.bodyChars[skill.tier], "The body")),
  rule("metadata-prefix", "ours", (skill) =>
    Object.keys(skill.metadata)
      .filter((key) => !key.startsWith(METADATA_PREFIX))
      .map((key) => `\`metadata.${key}\` does not start with \`${METADATA_PREFIX}\`.`),
  ),
  rule("section-missing", "ours", missingSections),
  rule("step-with-several-tools", "ours", (skill) =>
    skill.steps
      .filter((step) => step.tools.length > 1)
      .map((step) => `Step ${step.n} names ${step.tools.length} tools; one tool a step.`),
  ),
  rule("plan-step-calls-tool", "ours", (skill) =>
    skill.tier === "planning"
      ? skill.steps
          .filter((step) => step.tools.length > 0)
          .map((step) => `Step ${step.n} calls a tool; a plan's steps name atomic skills.`)
      : [],
  ),
  rule("step-arguments-form", "ours", (skill) =>
    skill.steps
      .filter((step) => step.tools.length === 1 && parseStepCall(step.text) === undefined)
      .map((step) => `Step ${step.n} does not say its arguments as \`name from source\`.`),
  ),
  rule("step-reference", "ours", (skill) =>
    skill.steps.flatMap((step) =>
      [...step.text.matchAll(/\bstep (\d+)\b/gi)]
        .filter((match) => Number(match[1]) >= step.n || Number(match[1]) < 1)
        .map((match) => `Step ${step.n} refers to step ${match[1] ?? ""}, which does not come before it.`),
    ),
  ),
  rule("tool-not-in-contract", "ours", (skill) =>
    minus<string>(mentionedTools(skill.body), requiredTools(skill)).map((tool) => `${tool} is named and not in the contract.`),
  ),
  rule("contract-tool-not-named", "ours", (skill) =>
    minus(requiredTools(skill), mentionedTools(skill.body)).map((tool) => `${tool} is in the contract and nowhere named.`),
  ),
  rule("skill-not-in-uses", "ours", (skill) =>
    minus<string>(mentionedSkills(skill.body), [...skill.contract.uses, skill.name]).map(
      (name) => `\`${name}\` is named and not in \`uses\`.`,
    ),
  ),
  rule("used-skill-not-named", "ours", (skill) =>
    minus<string>(skill.contract.uses, mentionedSkills(skill.body, skill.contract.uses)).map(
      (name) => `\`${name}\` is in \`uses\` and nowhere named.`,
    ),
  ),
  rule("parameter-not-in-contract", "ours", (skill) =>
    stepCalls(skill).flatMap((call) => {
      const params = skill.contract.requires.filter((need) => need.tool === call.tool).flatMap((need) => need.params);
      return minus(
        call.arguments.map((argument) => argument.name),
        params,
      ).map((name) => `${call.tool} is given \`${name}\`, which the contract lacks.`);
    }),
  ),
  rule("contract-parameter-not-set", "ours", (skill) =>
    skill.contract.requires.flatMap((need) => {
      const calls = stepCalls(skill).filter((call) => call.tool === need.tool);
      if (calls.length === 0) return [];
      const set = calls.flatMap((call) => call.arguments.map((argument) => argument.name));
      return minus(need.params, set).map((name) => `The contract says that \`${name}\` of ${need.tool} is set; no step does.`);
    }),
  ),
];

/** Everything there is to say about a skill: what reading it found, then every rule it breaks. */
export function lintSkill(skill: Skill): Problem[] {
  const ours = skill.provenance === "starter" || skill.provenance === "rules" || skill.provenance === "llm";
  const where = `${skill.name}/${SKILL_PATH}`;
  const found = LINT_RULES.filter((one) => one.scope === "all" || ours).flatMap((one) =>
    one.check(skill).map((text) => ({ code: one.code, where, text })),
  );
  return [...skill.problems, ...found];
}

/** What only the whole library shows: skills that build on skills that are not there. */
export function lintLibrary(library: Library): Problem[] {
  const problems = [...library.skills.values()].flatMap(lintSkill);
  for (const skill of library.skills.values()) {
    for (const used of skill.contract.uses) {
      if (library.skills.has(used as Skill["name"])) continue;
      problems.push({
        code: "used-skill-missing",
        where: `${skill.name}/${SKILL_PATH}`,
        text: `It builds on \`${used}\`, which is not in the library.`,
      });
    }
  }
  return problems;
}

function rule(code: string, scope: LintRule["scope"], check: LintRule["check"]): LintRule {
  return { code, scope, check };
}

function over(count: number, most: number, what: string): string[] {
  return count > most ? [`${what} has ${count} characters; at most ${most}.`] : [];
}

function missingSections(skill: Skill): string[] {
  const headings = sections(skill.body).map((section) => section.heading.toLowerCase());
  const needed = skill.tier === "tool" ? ["when to use"] : ["when to use", "steps"];
  return needed.filter((heading) => !headings.includes(heading)).map((heading) => `There is no section "${heading}".`);
}

/** Relative links whose file is not in the folder. */
function missingLinks(skill: Skill): string[] {
  const targets = [...skill.body.matchAll(/\]\(([^()\s]+)\)/g)].map((match) => match[1] ?? "");
  return targets
    .filter((target) => !/^([a-z][a-z0-9+.-]*:|#|\/)/i.test(target))
    .map((target) => decodeURIComponentSafe((target.split("#")[0] ?? "").replace(/^\.\//, "")))
    .filter(
      (path) =>
        path !== "" &&
        !Object.hasOwn(skill.files, path) &&
        !Object.keys(skill.files).some((file) => file.startsWith(`${path.replace(/\/$/, "")}/`)),
    )
    .map((path) => `The file \`${path}\` is linked and not in the folder.`);
}

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
