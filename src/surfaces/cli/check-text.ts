/** A check for people: on a terminal, and as Markdown for a job's summary or a comment. */
import type { Print } from "../../host/print.js";
import type { ForeseenCause, ForeseenSkill, ForeseenSuccessor, Outcome } from "../../model/foresight.js";
import type { JsonValue } from "../../model/json.js";
import type { CheckAnswer } from "./access.js";

export const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  held: "Would be held, until a person approves the tool",
  rests: "Would rest",
  review: "Would stay in use and need a look",
  safe: "Would stay in use: recorded calls still fit",
  wakes: "Would be in use again",
  stays: "At rest, before and after",
};

const COLOURS: Readonly<Record<Outcome, "red" | "yellow" | "green" | "dim">> = {
  held: "red",
  rests: "red",
  review: "yellow",
  safe: "green",
  wakes: "green",
  stays: "dim",
};

const ORDER: readonly Outcome[] = ["held", "rests", "review", "safe", "wakes"];

function headline(answer: CheckAnswer): string {
  const { from, to, drift } = answer;
  const moved = `+${drift.added.length} -${drift.removed.length} ~${drift.changed.length} tools`;
  const known = from.catalog === 0 ? "what the skills were verified against" : `catalog ${from.catalog}`;
  return `${known} (${from.tools} tools) → ${answer.against} (${to.tools} tools) · ${moved} · library ${from.library} (${from.skills} skills)`;
}

export function printCheck(print: Print, answer: CheckAnswer): void {
  print.line({ text: headline(answer), colour: "bold" });
  for (const { tool, reasons } of answer.held)
    print.line({ text: `held  ${tool}: ${reasons.map((one) => one.text).join(" ")}`, colour: "red" });
  for (const outcome of ORDER) {
    const skills = answer.skills.filter((skill) => skill.outcome === outcome);
    if (skills.length > 0) print.line({ text: `${OUTCOME_WORDS[outcome]}: ${skills.length}`, colour: "bold" });
    for (const skill of skills) printSkill(print, skill);
  }
  const resting = answer.skills.filter((skill) => skill.outcome === "stays");
  if (resting.length > 0)
    print.line({ text: `${OUTCOME_WORDS.stays}: ${resting.map((skill) => skill.skill).join(", ")}`, colour: "dim" });
  if (answer.skills.every((skill) => skill.outcome === "stays") && answer.held.length === 0)
    print.line({ text: "No skill would be touched.", colour: "green" });
}

function printSkill(print: Print, skill: ForeseenSkill): void {
  print.line(`  `, { text: skill.skill, colour: COLOURS[skill.outcome] }, ` (${skill.tier})`);
  for (const cause of skill.causes) {
    print.line(`    ${cause.rule} ${cause.level}: ${causeText(cause)}`);
    const moved = shiftText(cause);
    if (moved !== undefined) print.line({ text: `      ${moved}`, colour: "dim" });
  }
  for (const next of skill.successors) print.line(`    ${successorText(next)}`);
  const { maintenance } = skill;
  if (maintenance !== undefined) print.line({ text: `    ${maintenanceText(maintenance)}`, colour: "dim" });
}

/** Standing reasons of a changed tool say what changed, not in which tool. */
function causeText(cause: ForeseenCause): string {
  return cause.text.includes(cause.on) || cause.on.startsWith("skill:") ? cause.text : `${cause.on}: ${cause.text}`;
}

function shiftText({ before, after }: ForeseenCause): string | undefined {
  return before === undefined && after === undefined ? undefined : `${short(before)} → ${short(after)}`;
}

const SHORT_CHARS = 160;

function short(value: JsonValue | undefined): string {
  const text = value === undefined ? "none" : JSON.stringify(value);
  return text.length > SHORT_CHARS ? `${text.slice(0, SHORT_CHARS - 1)}…` : text;
}

function successorText(next: ForeseenSuccessor): string {
  const renamed = Object.entries(next.params).filter(([old, now]) => old !== now);
  const parts = [
    ...renamed.map(([old, now]) => `${old} becomes ${now}`),
    ...Object.entries(next.fixedArguments).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
  ];
  return `${next.tool} → ${next.to.join(" + ")} (${next.kind}, ${next.level})${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
}

const HOW = {
  applied: "would apply",
  left: "would look and leave it",
  proposed: "would propose to a person",
  refused: "would refuse",
} as const;

function maintenanceText({ how, cause, findings }: NonNullable<ForeseenSkill["maintenance"]>): string {
  return `maintenance ${HOW[how]}: ${cause}${findings.length > 0 ? ` — ${findings.join(" ")}` : ""}`;
}

export function checkMarkdown(answer: CheckAnswer): string {
  const counts = ORDER.map((outcome) => answer.skills.filter((skill) => skill.outcome === outcome).length);
  const lines = [
    "## STEWARD check",
    "",
    cell(headline(answer)),
    "",
    `| ${ORDER.join(" | ")} |`,
    `|${ORDER.map(() => "--:").join("|")}|`,
    `| ${counts.join(" | ")} |`,
  ];
  if (answer.held.length > 0) {
    lines.push("", "### Tools that would be held", "");
    for (const { tool, reasons } of answer.held) lines.push(`- ${code(tool)}: ${cell(reasons.map((one) => one.text).join(" "))}`);
  }
  for (const outcome of ORDER) {
    const skills = answer.skills.filter((skill) => skill.outcome === outcome);
    if (skills.length === 0) continue;
    lines.push("", `### ${OUTCOME_WORDS[outcome]}`, "", "| skill | why | what would help |", "|---|---|---|");
    for (const skill of skills) lines.push(`| ${code(skill.skill)} | ${whyCell(skill)} | ${helpCell(skill)} |`);
  }
  if (counts.every((count) => count === 0) && answer.held.length === 0) lines.push("", "No skill would be touched.");
  for (const { label, reason } of answer.unlisted) lines.push("", `**${cell(label)} was not listed**: ${cell(reason)}`);
  return lines.join("\n");
}

function whyCell(skill: ForeseenSkill): string {
  const rows = skill.causes.map((cause) => {
    const moved = shiftText(cause);
    return `${cause.rule}: ${cell(causeText(cause))}${moved === undefined ? "" : `<br>${code(moved)}`}`;
  });
  return rows.join("<br>");
}

function helpCell(skill: ForeseenSkill): string {
  const { maintenance } = skill;
  const rows = skill.successors.map((next) => cell(successorText(next)));
  if (maintenance !== undefined) rows.push(cell(maintenanceText(maintenance)));
  return rows.join("<br>");
}

/** Texts of servers must not become markup: what Markdown and HTML read is escaped, and a row stays a row. */
function cell(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|~#]/g, "\\$&").replace(/\s+/g, " ");
}

function code(text: string): string {
  return `\`${text.replace(/`/g, "'").replace(/\|/g, "\\|").replace(/\s+/g, " ")}\``;
}
