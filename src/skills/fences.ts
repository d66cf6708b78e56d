/**
 * The fences of a SKILL.md: where its front matter begins and ends, and what is refused before any YAML is read.
 *
 * Owns: the cut into head and body, line ends, sizes, nesting.
 * Speaks: text in; the file in its parts, or a refusal with a position, out.
 * Never: YAML (yaml.ts).
 */
import { SKILL_LIMITS } from "../model/policy.js";

export type Refusal = { readonly refused: { readonly code: string; readonly text: string } };
export const refusal = (code: string, text: string): Refusal => ({ refused: { code, text } });

/** The file cut at its fences. `head` is the YAML between them; `lineEnd` is what most of the file uses. */
export interface SplitFile {
  readonly bom: boolean;
  readonly lineEnd: "\n" | "\r\n" | "\r";
  readonly head: string;
  readonly body: string;
}

const OPENING = /^---[ \t]*$/;
const CLOSING = /^---[ \t]*$/;

/** Cuts a file at its fences without reading YAML. */
export function splitFile(text: string): (SplitFile & { readonly blankLines: number }) | Refusal {
  if (text.length > SKILL_LIMITS.skillFileChars) {
    return refusal("skill-too-large", `The file has ${text.length} characters; at most ${SKILL_LIMITS.skillFileChars} are read.`);
  }
  const bom = text.startsWith("\uFEFF");
  const plain = bom ? text.slice(1) : text;
  const lineEnd = plain.includes("\r\n") ? "\r\n" : plain.includes("\r") ? "\r" : "\n";
  const lines = plain.replace(/\r\n?/g, "\n").split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const opening = lines[first];
  if (opening === undefined) return refusal("front-matter-missing", "The file is empty; it must start with a line `---`.");
  if (!OPENING.test(opening)) {
    if (/^---[ \t]*\S/.test(opening)) {
      return refusal(
        "front-matter-language",
        `The front matter opens with \`${excerpt(opening)}\`; only YAML after a bare \`---\` is read, nothing is executed.`,
      );
    }
    return refusal(
      "front-matter-missing",
      `The file must start with a line \`---\`; the first line found (line ${first + 1}) is \`${excerpt(opening)}\`.`,
    );
  }
  const end = lines.findIndex((line, n) => n > first && CLOSING.test(line));
  if (end < 0) return refusal("front-matter-open", "The front matter is not closed: no second line `---` was found.");
  const head = lines.slice(first + 1, end).join("\n");
  if (head.length > SKILL_LIMITS.frontMatterChars) {
    return refusal(
      "front-matter-too-large",
      `The front matter has ${head.length} characters; at most ${SKILL_LIMITS.frontMatterChars} are read.`,
    );
  }
  return { bom, lineEnd, head, body: lines.slice(end + 1).join("\n"), blankLines: first };
}

/** What must not reach the YAML parser: nesting that could exhaust its stack, and text after the end of the document. */
export function shapeRefusal(head: string): Refusal | undefined {
  let open = 0;
  for (const [n, line] of head.split("\n").entries()) {
    if (/^\.\.\.[ \t]*$/.test(line)) {
      return refusal("front-matter-yaml", `Line ${n + 2} (\`...\`) ends the YAML document; what follows it would be dropped.`);
    }
    const marks = /^[ \t]*((?:[-?:][ \t]+)*)/.exec(line)?.[1] ?? "";
    const levels = leading(line) + marks.replace(/[ \t]/g, "").length;
    let deepest = open;
    for (const character of line) {
      if (character === "[" || character === "{") open += 1;
      if ((character === "]" || character === "}") && open > 0) open -= 1;
      deepest = Math.max(deepest, open);
    }
    if (deepest > SKILL_LIMITS.frontMatterDepth || levels > 2 * SKILL_LIMITS.frontMatterDepth) {
      return refusal("front-matter-too-deep", `Line ${n + 2} is nested more than ${SKILL_LIMITS.frontMatterDepth} levels deep.`);
    }
  }
  return undefined;
}

export const leading = (line: string): number => line.length - line.trimStart().length;
const excerpt = (line: string): string =>
  Array.from(line.replace(/[\u0000-\u001F\u007F]/g, " "))
    .slice(0, 60)
    .join("");
