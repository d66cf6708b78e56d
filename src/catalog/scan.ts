/**
 * The scan of a tool's texts.
 *
 * Owns: where texts are looked for, hidden characters, and names of other upstreams' tools in orders.
 * Speaks: Tool in, findings out; a finding quotes what it found, with hidden characters spelt out.
 * Never: holding a tool (hold.ts), cleaning (clean.ts), understanding: rules are patterns of English, and a text in another
 * language or a politer poison passes. It narrows the rug-pull channel, it does not close it.
 */
import { splitToolKey } from "../model/ids.js";
import type { ToolKey, UpstreamLabel } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import type { Tool } from "../model/tool.js";
import { cleanText, escapeText } from "./clean.js";
import { SCAN_RULES } from "./scan/rules.js";
import type { ScanCode, ScanRule, ScanSeverity } from "./scan/rules.js";

export { SCAN_RULES } from "./scan/rules.js";
export type { ScanCode, ScanRule, ScanSeverity } from "./scan/rules.js";

export interface ScanFinding {
  readonly code: ScanCode;
  readonly severity: ScanSeverity;
  /** JSON pointer into the listed tool; ` (name)` behind it means the member's name itself. */
  readonly where: string;
  /** One sentence for people, with the quote. */
  readonly text: string;
  /** What was found, normalised: equal in two versions of a tool where both say the same. */
  readonly match: string;
}

/** Names of tools that other upstreams have and this one has not, lower case → key. */
export type Neighbours = ReadonlyMap<string, ToolKey>;

/** A shorter text gives no order. */
const SHORTEST = 12;
/** Longest quote in a finding, in characters. */
const QUOTE = 120;

/**
 * All findings, in the order of the document; each (code, match) once. Without `neighbours` nothing is said of other
 * upstreams' tools.
 */
export function scanTool(tool: Tool, neighbours?: Neighbours, rules: readonly ScanRule[] = SCAN_RULES): ScanFinding[] {
  return scanTexts(tool.document, neighbours, rules);
}

/** The same for any texts of others: every string of the value, members' names included. */
export function scanTexts(value: JsonValue, neighbours?: Neighbours, rules: readonly ScanRule[] = SCAN_RULES): ScanFinding[] {
  const found = new Map<string, ScanFinding>();
  const note = (finding: ScanFinding): void => {
    const key = `${finding.code} ${finding.match}`;
    if (!found.has(key)) found.set(key, finding);
  };
  for (const { where, text } of textsOf(value, "")) {
    for (const finding of hiddenIn(text, where)) note(finding);
    if (text.length < SHORTEST) continue;
    const plain = cleanText(text).text.normalize("NFKC").replace(/\s+/g, " ");
    for (const rule of rules) {
      const match = rule.pattern.exec(plain);
      if (match !== null) note(findingOf(rule, match[0], where));
    }
    if (neighbours !== undefined) for (const finding of steering(plain, where, neighbours)) note(finding);
  }
  return [...found.values()];
}

/** True where the finding alone is reason to hold a tool. */
export function isGrave(finding: ScanFinding): boolean {
  return finding.severity === "hold";
}

/** The names of other upstreams' tools that may not be spoken of in orders: of two words at least, and not the upstream's own too. */
export function neighboursOf(label: UpstreamLabel, keys: Iterable<ToolKey>): Neighbours {
  const [own, others] = [new Set<string>(), new Map<string, ToolKey>()];
  for (const key of keys) {
    const { label: other, name } = splitToolKey(key);
    if (other === label) own.add(name.toLowerCase());
    else if (/[\p{L}\p{N}][_.-][\p{L}\p{N}]|\p{Ll}\p{Lu}/u.test(name)) others.set(name.toLowerCase(), key);
  }
  for (const name of own) others.delete(name);
  return others;
}

function findingOf(rule: Pick<ScanRule, "code" | "severity" | "says">, quote: string, where: string): ScanFinding {
  const shown = quote.length > QUOTE ? `${quote.slice(0, QUOTE)}…` : quote;
  return {
    code: rule.code,
    severity: rule.severity,
    where,
    text: `${where === "" ? "The tool" : where} ${rule.says}: “${escapeText(shown)}”.`,
    match: quote.toLowerCase(),
  };
}

interface Text {
  readonly where: string;
  readonly text: string;
}

/** Every string of the document, members' names included: examples, defaults and enum values are read by models as well. */
function* textsOf(value: JsonValue, where: string): Iterable<Text> {
  if (typeof value === "string") {
    yield { where, text: value };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* textsOf(item, `${where}/${index}`);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const at = `${where}/${escapeText(name).replace(/~/g, "~0").replace(/\//g, "~1")}`;
      yield { where: `${at} (name)`, text: name };
      yield* textsOf(member, at);
    }
  }
}

/** England's, Scotland's and Wales' flags are written with tag characters, honestly. */
const TAGGED_FLAG = /\u{1F3F4}[\u{E0020}-\u{E007E}]{1,8}\u{E007F}/gu;

const HIDDEN_KINDS: readonly { readonly code: ScanCode; readonly says: string; readonly is: (code: number) => boolean }[] = [
  {
    code: "hidden-tags",
    says: "has characters of the tag block or variation selectors, which carry text that nobody sees",
    is: (code) => (code >= 0xe0000 && code <= 0xe0fff) || (code >= 0xfe00 && code <= 0xfe0f),
  },
  {
    code: "hidden-direction",
    says: "has controls that make a text read in another order than it is shown",
    is: (code) =>
      (code >= 0x202a && code <= 0x202e) ||
      (code >= 0x2066 && code <= 0x2069) ||
      code === 0x200e ||
      code === 0x200f ||
      code === 0x61c,
  },
  {
    code: "hidden-terminal",
    says: "has control characters of terminals",
    is: (code) => code < 0x20 || (code >= 0x7f && code <= 0x9f),
  },
  { code: "hidden-characters", says: "has characters that are not shown", is: () => true },
];

function hiddenIn(text: string, where: string): ScanFinding[] {
  const plain = text.replace(TAGGED_FLAG, "");
  const cleaned = cleanText(plain);
  if (cleaned.removed === 0) return [];
  const kept = new Map<string, number>();
  for (const character of cleaned.text) kept.set(character, (kept.get(character) ?? 0) + 1);
  const gone: number[] = [];
  for (const character of plain.replace(/\r\n/g, "\n")) {
    const left = kept.get(character) ?? 0;
    if (left > 0) kept.set(character, left - 1);
    else gone.push(character.codePointAt(0) ?? 0);
  }
  const byKind = new Map<(typeof HIDDEN_KINDS)[number], number[]>();
  for (const code of gone) {
    const kind = HIDDEN_KINDS.find((one) => one.is(code));
    if (kind !== undefined && (kind.code !== "hidden-characters" || !isPrintable(code)))
      byKind.set(kind, [...(byKind.get(kind) ?? []), code]);
  }
  return [...byKind].map(([kind, codes]) => findingOf({ ...kind, severity: "hold" }, spell(codes), where));
}

/** Letters that went with a terminal's control string. */
function isPrintable(code: number): boolean {
  return code >= 0x20 && code < 0x7f;
}

/** Tag characters as the letters they hide, others as escapes. */
function spell(codes: readonly number[]): string {
  const tags = codes.filter((code) => code >= 0xe0020 && code <= 0xe007e);
  if (tags.length > 0) return String.fromCharCode(...tags.slice(0, 500).map((code) => code - 0xe0000));
  return codes.map((code) => `\\u{${code.toString(16)}}`).join("");
}

/** A sentence that gives orders and names a tool of another upstream. */
const ORDER = /\b(?:must|always|never|do not|don'?t|before|whenever|instead of|first|every time|also)\b/i;

function* steering(text: string, where: string, neighbours: Neighbours): Iterable<ScanFinding> {
  if (!ORDER.test(text)) return;
  for (const sentence of text.split(/(?<=[.!?])\s+/)) {
    if (!ORDER.test(sentence)) continue;
    for (const [word] of sentence.matchAll(/[\p{L}\p{N}][\p{L}\p{N}_./-]{2,120}/gu)) {
      const name = word.toLowerCase().replace(/[.,/-]+$/, "");
      const key = neighbours.get(name) ?? neighbours.get(name.slice(name.indexOf("/") + 1));
      if (key === undefined) continue;
      yield findingOf(
        { code: "steer-other-tool", severity: "hold", says: `gives orders about ${key} of another upstream` },
        sentence.slice(0, QUOTE),
        where,
      );
      break;
    }
  }
}
