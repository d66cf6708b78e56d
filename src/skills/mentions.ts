/**
 * Mentions: where a skill's prose names tools, skills and its own sections.
 *
 * Owns: what counts as naming a tool (a code span `label/tool`) or a skill (a code span of a kebab name).
 * Speaks: Markdown lines; fenced blocks are data and never mention anything.
 * Never: whether what is named exists.
 */
import type { SkillName, ToolKey } from "../model/ids.js";

const TOOL_SPAN = /^([A-Za-z0-9._-]{1,32})\/([^\s`]+)$/;
const SKILL_SPAN = /^(plan|atomic|tool)-[a-z0-9]+(-[a-z0-9]+)*$/;
/** Folders of the skill format: `references/notes.md` is a file, not a tool. */
const SKILL_FOLDERS = new Set(["references", "scripts", "assets"]);

/** The lines of a Markdown text with fenced blocks blanked out: same count, same positions. */
export function withoutFences(text: string): string[] {
  if (!/```|~~~/.test(text)) return text.split("\n");
  let fence: string | undefined;
  return text.split("\n").map((line) => {
    const mark = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark !== undefined && mark.startsWith(fence)) fence = undefined;
      return "";
    }
    if (mark === undefined) return line;
    fence = mark;
    return "";
  });
}

/** Contents of inline code spans, in order. */
export function codeSpans(text: string): string[] {
  if (!text.includes("`")) return [];
  return [
    ...withoutFences(text)
      .join("\n")
      .matchAll(/`([^`\n]+)`/g),
  ].map((match) => (match[1] ?? "").trim());
}

export function asToolMention(span: string): ToolKey | undefined {
  const match = TOOL_SPAN.exec(span);
  const label = match?.[1];
  if (label === undefined || label.includes("__") || label.endsWith("_") || SKILL_FOLDERS.has(label) || /^\.+$/.test(label))
    return undefined;
  return span as ToolKey;
}

/** Tool keys named in code spans, each once, in order of first mention. */
export function mentionedTools(text: string): ToolKey[] {
  return unique(codeSpans(text).flatMap((span) => asToolMention(span) ?? []));
}

/** Skills named in code spans: a STEWARD prefix, or one of `uses`. */
export function mentionedSkills(text: string, uses: readonly string[] = []): SkillName[] {
  const known = new Set(uses);
  return unique(codeSpans(text).filter((span) => SKILL_SPAN.test(span) || known.has(span)) as SkillName[]);
}

/** One section of a body: its heading without marks, and the lines below it up to the next heading of its rank. */
export interface Section {
  readonly heading: string;
  readonly rank: number;
  /** Line number of the heading in the body, from 0. */
  readonly line: number;
  readonly text: string;
}

/** Sections in order; text before the first heading has an empty heading and rank 0. Linear in the body. */
export function sections(body: string): Section[] {
  const raw = body.split("\n");
  const starts = [{ heading: "", rank: 0, line: -1, end: raw.length }];
  /** Sections whose end is not known yet, ranks rising. */
  const open: typeof starts = [];
  for (const [n, line] of withoutFences(body).entries()) {
    const match = /^ {0,3}(#{1,6})[ \t]/.exec(line);
    if (match === null) continue;
    const rank = (match[1] ?? "").length;
    while ((open.at(-1)?.rank ?? 0) >= rank) {
      const closed = open.pop();
      if (closed !== undefined) closed.end = n;
    }
    const start = { heading: trimmedHeading(line.slice(match[0].length)), rank, line: n, end: raw.length };
    starts.push(start);
    open.push(start);
  }
  const [lead, first] = starts;
  if (lead !== undefined) lead.end = first?.line ?? raw.length;
  return starts.map(({ heading, rank, line, end }) => ({ heading, rank, line, text: raw.slice(line + 1, end).join("\n") }));
}

/** `Steps ##` is the heading `Steps`. */
function trimmedHeading(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(trimmed[end - 1] ?? "") ? trimmed.slice(0, end).trim() : trimmed;
}

/** The text below the first heading that matches, or undefined. */
export function sectionText(body: string, heading: RegExp): string | undefined {
  return sections(body).find((section) => section.rank > 0 && heading.test(section.heading))?.text;
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
