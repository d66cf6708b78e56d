/**
 * Steps: the numbered lines of a skill, and its brief form.
 *
 * Owns: where a body keeps its steps, what a step's goal is, what of a skill a tight view still shows.
 * Speaks: Markdown bodies in, SkillStep out.
 * Never: cutting in mid-step.
 */
import type { Skill, SkillStep } from "../model/skill.js";
import { mentionedSkills, mentionedTools, sections, sectionText, withoutFences } from "./mentions.js";
import { parseStepCall } from "./step-call.js";

const STEPS_HEADING = /^(steps|workflow|procedure|process|instructions)\b/i;
const STEP_HEADING = /^step\s+(\d+)\b[\s.:)–—-]*(.*)$/i;
const ITEM = /^ {0,3}(\d{1,4})[.)]\s+(.*)$/;

/**
 * The steps of a body: the numbered list under `## Steps` (or what others call it); else headings `Step 1 …`;
 * else the first numbered list of two or more items. Numbers are positions, whatever the file says.
 */
export function parseSteps(body: string, uses: readonly string[] = []): SkillStep[] {
  const own = sectionText(body, STEPS_HEADING);
  let texts = own === undefined ? [] : numberedItems(own);
  if (texts.length === 0) texts = stepHeadings(body);
  if (texts.length === 0 && own === undefined) {
    const items = numberedItems(body);
    texts = items.length >= 2 ? items : [];
  }
  return texts.map((text, n) => ({
    n: n + 1,
    goal: goalOf(text, uses),
    text,
    skills: mentionedSkills(text, uses),
    tools: mentionedTools(text),
  }));
}

/** Items of the first numbered list, continuation lines joined with a space. */
function numberedItems(text: string): string[] {
  const items: string[] = [];
  let blank = false;
  let last = 0;
  for (const line of withoutFences(text)) {
    const item = ITEM.exec(line);
    if (item !== null) {
      // A list that starts again at 1 is another list; one that counts 1, 1, 1 is Markdown's lazy way.
      if (item[1] === "1" && last > 1) break;
      last = Number(item[1]);
      items.push((item[2] ?? "").trim());
    } else if (line.trim() === "") {
      blank = true;
      continue;
    } else if (items.length > 0) {
      const indented = /^\s{2,}\S/.test(line);
      if (/^\s{0,3}#{1,6}\s/.test(line) || (blank && !indented)) break;
      items[items.length - 1] = `${items[items.length - 1] ?? ""} ${line.trim()}`.trim();
    }
    blank = false;
  }
  return items;
}

function stepHeadings(body: string): string[] {
  return sections(body).flatMap((section) => {
    const match = STEP_HEADING.exec(section.heading);
    if (match === null || section.rank === 0) return [];
    const text = section.text.split("\n").filter((line) => line.trim() !== "" && !/^\s{0,3}#/.test(line));
    return [[match[2] ?? "", ...text.map((line) => line.trim())].filter((part) => part !== "").join(" ")];
  });
}

/** A code span with the words that introduce it: `: `x``, `with skill `x``, `using the tool `x``. */
const NAMED = /[:,]? ?(?:\b(?:with|using|by|via|through|call|use|run) )?(?:\bthe )?(?:\b(?:skill|tool) )?`([^`]+)`/gi;

/** The step's sentence without code spans of tools and skills and without its argument list. */
function goalOf(text: string, uses: readonly string[]): string {
  const call = parseStepCall(text);
  if (call !== undefined) return call.goal;
  const names = new Set<string>([...mentionedTools(text), ...mentionedSkills(text, uses)]);
  const plain = text.replace(/\s+/g, " ").trim();
  const goal = plain.replace(NAMED, (whole, span: string) => (names.has(span.trim()) ? "" : whole));
  const trimmed = withoutTrailingMarks(goal.replace(/ +/g, " ").trim());
  return trimmed === "" ? plain : trimmed;
}

function withoutTrailingMarks(text: string): string {
  let end = text.length;
  while (end > 0 && " .:;,".includes(text[end - 1] ?? "")) end -= 1;
  return text.slice(0, end);
}

/**
 * The brief form of a skill for a view: its description and its steps, each step whole; where there are no steps,
 * the first paragraph of its body. Used before a skill is left out.
 */
export function briefOf(skill: Skill): string {
  const lines = skill.steps.map((step) => `${step.n}. ${step.text}`);
  if (lines.length > 0) return [skill.description, ...lines].join("\n");
  const paragraph = skill.body
    .split(/\n\s*\n/)
    .map((text) =>
      text
        .split("\n")
        .filter((line) => !/^\s{0,3}#/.test(line))
        .join(" ")
        .trim(),
    )
    .find((text) => text !== "");
  return paragraph === undefined ? skill.description : `${skill.description}\n${paragraph}`;
}
