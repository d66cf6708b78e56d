/**
 * The call sentence: how a step we write says which tool it calls and where each argument comes from.
 *
 *   GOAL: `label/tool` with NAME from SOURCE, NAME = LITERAL and NAME from SOURCE; TAIL.
 *   SOURCE: the request | FIELD in the request | step N | FIELD of step N, each with ` if given` for an optional one.
 *
 * Owns: reading and writing that sentence exactly, so that a rebind changes what it must and not a letter more.
 * Speaks: one step's text.
 * Never: guessing; a sentence outside the grammar is undefined, and its caller says so.
 */
import type { ToolKey } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import { asToolMention } from "./mentions.js";

export type ArgumentSource =
  /** `field` is the request's own word for it where it differs from the parameter. */
  | { readonly kind: "request"; readonly field: string | undefined }
  | { readonly kind: "step"; readonly step: number; readonly field: string | undefined }
  | { readonly kind: "literal"; readonly value: JsonValue };

export interface StepArgument {
  /** The tool's parameter. */
  readonly name: string;
  readonly source: ArgumentSource;
  /** Set only where there is something to set it to. */
  readonly optional: boolean;
}

export interface StepCall {
  /** Text before the colon. */
  readonly goal: string;
  readonly tool: ToolKey;
  readonly arguments: readonly StepArgument[];
  /** What follows the arguments, with its punctuation. */
  readonly tail: string;
}

const HEAD = /^(.*?): `([^`\n]+)`/s;

/** Reads a call sentence; undefined where the text is not one. A tool without arguments has no `with`. */
export function parseStepCall(text: string): StepCall | undefined {
  const head = HEAD.exec(text);
  const tool = head === null ? undefined : asToolMention(head[2] ?? "");
  if (head === null || tool === undefined) return undefined;
  const goal = head[1] ?? "";
  const rest = text.slice(head[0].length);
  if (!rest.startsWith(" with ")) return isTail(rest) ? { goal, tool, arguments: [], tail: rest } : undefined;
  const parsed = parseArguments(rest.slice(" with ".length));
  return parsed === undefined ? undefined : { goal, tool, ...parsed };
}

export function renderStepCall(call: StepCall): string {
  const parts = call.arguments.map(renderArgument);
  const last = parts.pop();
  const list = last === undefined ? "" : ` with ${parts.length === 0 ? last : `${parts.join(", ")} and ${last}`}`;
  return `${call.goal}: \`${call.tool}\`${list}${call.tail}`;
}

function renderArgument(argument: StepArgument): string {
  const { name, source } = argument;
  if (source.kind === "literal") return `${name} = ${JSON.stringify(source.value)}`;
  const field =
    source.field === undefined || source.field === name ? "" : `${source.field} ${source.kind === "request" ? "in" : "of"} `;
  const from = source.kind === "request" ? "the request" : `step ${source.step}`;
  return `${name} from ${field}${from}${argument.optional ? " if given" : ""}`;
}

function isTail(text: string): boolean {
  return text === "" || /^[.;,)]/.test(text) || /^ \(/.test(text);
}

function parseArguments(text: string): { arguments: StepArgument[]; tail: string } | undefined {
  const found: StepArgument[] = [];
  let rest = text;
  for (;;) {
    const next = parseArgument(rest);
    if (next === undefined) return undefined;
    found.push(next.argument);
    rest = next.rest;
    const separator = /^(?:, and |, | and )(?=[A-Za-z_][\w.-]*(?: from | = ))/.exec(rest);
    if (separator === null) return isTail(rest) ? { arguments: found, tail: rest } : undefined;
    rest = rest.slice(separator[0].length);
  }
}

function parseArgument(text: string): { argument: StepArgument; rest: string } | undefined {
  const literal = /^([A-Za-z_][\w.-]*) = /.exec(text);
  if (literal !== null) {
    const value = parseLiteral(text.slice(literal[0].length));
    if (value === undefined) return undefined;
    return {
      argument: { name: literal[1] ?? "", source: { kind: "literal", value: value.value }, optional: false },
      rest: value.rest,
    };
  }
  const match =
    /^([A-Za-z_][\w.-]*) from (?:(?:([A-Za-z_][\w.[\]-]*) in )?(the request)|(?:([A-Za-z_][\w.[\]-]*) of )?step (\d+))( if given)?/.exec(
      text,
    );
  if (match === null) return undefined;
  const [whole, name = "", inRequest, request, ofStep, step, optional] = match;
  const field = (word: string | undefined): string | undefined => (word === name ? undefined : word);
  const source: ArgumentSource =
    request !== undefined
      ? { kind: "request", field: field(inRequest) }
      : { kind: "step", step: Number(step), field: field(ofStep) };
  return { argument: { name, source, optional: optional !== undefined }, rest: text.slice(whole.length) };
}

/** A mode word or a small object: longer literals are not what a step says. */
const LITERAL_CHARS = 1_000;

/** The shortest prefix that is a JSON value and ends where an argument may end. */
function parseLiteral(text: string): { value: JsonValue; rest: string } | undefined {
  const most = Math.min(text.length, LITERAL_CHARS);
  for (let end = 1; end <= most; end += 1) {
    const rest = text.slice(end);
    if (!(isTail(rest) || rest.startsWith(" and "))) continue;
    try {
      return { value: JSON.parse(text.slice(0, end)) as JsonValue, rest };
    } catch {
      // Not yet a whole value: a longer prefix may be.
    }
  }
  return undefined;
}
