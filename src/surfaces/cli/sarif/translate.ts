/**
 * A check as SARIF 2.1.0, for code scanning: one result per skill and cause, at the line of the skill that names the tool.
 *
 * Paths are relative to the working folder where the home lies below it (a checkout), else file addresses.
 */
import { createHash } from "node:crypto";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { ForeseenCause, ForeseenSkill, Outcome } from "../../../model/foresight.js";
import type { JsonObject, JsonValue } from "../../../model/json.js";
import { RULE_SENTENCES } from "../../../model/rules.js";
import type { CheckAnswer } from "../access.js";
import { OUTCOME_WORDS } from "../check-text.js";

type SarifLevel = "error" | "warning" | "note";

const LEVEL_OF: Readonly<Record<Exclude<Outcome, "stays">, SarifLevel>> = {
  held: "error",
  rests: "error",
  review: "warning",
  safe: "note",
  wakes: "note",
};

interface Surroundings {
  readonly version: string;
  readonly cwd: string;
}

interface Found {
  readonly rule: string;
  readonly level: SarifLevel;
  readonly text: string;
  readonly skill: ForeseenSkill | undefined;
  readonly cause: ForeseenCause | undefined;
  readonly places: readonly { readonly uri: string; readonly line: number }[];
}

/** Skills that rest already are not in it: the change at hand did not do that. */
export function renderSarif(answer: CheckAnswer, around: Surroundings): JsonObject {
  const found = [...heldTools(answer, around), ...answer.skills.flatMap((skill) => ofSkill(answer, skill, around))];
  const rules = [...new Set(found.map((one) => one.rule))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "STEWARD",
            version: around.version,
            rules: rules.map((id) => ({ id, shortDescription: { text: sentenceOf(id) } })),
          },
        },
        columnKind: "utf16CodeUnits",
        invocations: [
          {
            executionSuccessful: answer.unlisted.length === 0,
            toolExecutionNotifications: answer.unlisted.map(({ label, reason }) => ({
              level: "error",
              message: { text: `${label} was not listed: ${reason}` },
            })),
          },
        ],
        results: found.map((one) => resultOf(one, rules.indexOf(one.rule))),
      },
    ],
  };
}

function sentenceOf(rule: string): string {
  return Object.hasOwn(RULE_SENTENCES, rule) ? RULE_SENTENCES[rule as keyof typeof RULE_SENTENCES] : rule;
}

function heldTools(answer: CheckAnswer, around: Surroundings): Found[] {
  const isFile = !/^\d+$/.test(answer.against);
  const path = isFile ? resolve(around.cwd, answer.against) : join(answer.home, "config/steward.json");
  const places = [{ uri: uriOf(path, around.cwd), line: 1 }];
  return answer.held.map(({ tool, reasons }) => ({
    rule: reasons[0]?.rule ?? "A1",
    level: "error",
    text: `${tool} would be held until a person approves it: ${reasons.map((one) => one.text).join(" ")}`,
    skill: undefined,
    cause: undefined,
    places,
  }));
}

function ofSkill(answer: CheckAnswer, skill: ForeseenSkill, around: Surroundings): Found[] {
  const { outcome } = skill;
  if (outcome === "stays") return [];
  const places = skill.places.map(({ path, line }) => ({
    uri: uriOf(join(answer.home, "skills", skill.skill, path), around.cwd),
    line,
  }));
  const causes: readonly (ForeseenCause | undefined)[] = skill.causes.length > 0 ? skill.causes : [undefined];
  return causes.map((cause) => ({
    rule: cause?.rule ?? "T4",
    level: LEVEL_OF[outcome],
    text: textOf(skill, cause),
    skill,
    cause,
    places,
  }));
}

function textOf(skill: ForeseenSkill, cause: ForeseenCause | undefined): string {
  const successors = skill.successors
    .filter((next) => cause === undefined || next.tool === cause.on)
    .map((next) => `${next.to.join(" + ")} (${next.level}) would take over from ${next.tool}.`);
  const parts = [
    `${OUTCOME_WORDS[skill.outcome]}: ${skill.skill}.`,
    ...(cause === undefined ? [] : [`${cause.on}: ${cause.text}.`]),
  ];
  if (skill.maintenance !== undefined) parts.push(`Maintenance: ${skill.maintenance.cause} (${skill.maintenance.how}).`);
  return [...parts, ...successors].join(" ").replaceAll("..", ".");
}

function resultOf({ rule, level, text, skill, cause, places }: Found, ruleIndex: number): JsonObject {
  const [first, ...others] = places.map(({ uri, line }) => ({
    physicalLocation: { artifactLocation: { uri }, region: { startLine: line } },
  }));
  const parts = [rule, skill?.skill ?? "", cause?.on ?? text, cause?.field ?? ""];
  const properties: Record<string, JsonValue> = {};
  if (skill !== undefined) Object.assign(properties, { skill: skill.skill, outcome: skill.outcome });
  if (cause !== undefined) Object.assign(properties, { on: cause.on, level: cause.level });
  for (const name of ["field", "path", "before", "after"] as const)
    if (cause?.[name] !== undefined) properties[name] = cause[name];
  return {
    ruleId: rule,
    ruleIndex,
    level,
    message: { text },
    locations: first === undefined ? [] : [first],
    ...(others.length === 0 ? {} : { relatedLocations: others.map((place, index) => ({ id: index + 1, ...place })) }),
    partialFingerprints: { "steward/1": createHash("sha256").update(JSON.stringify(parts)).digest("hex") },
    properties,
  };
}

function uriOf(path: string, cwd: string): string {
  const below = relative(cwd, path);
  if (below.startsWith("..") || isAbsolute(below)) return pathToFileURL(path).href;
  return below.split(sep).map(encodeURIComponent).join("/");
}
