/**
 * Stated takeovers: what a person says took over from a tool, as a link.
 *
 * Owns: which parameters a stated link maps and fixes, what of it cannot be meant, what should be known of it.
 * Speaks: Tools in; LineageLink and remarks out; Fault `input-invalid`.
 * Never: whether the tools are there, or what other links say (world).
 */
import { Fault } from "../../model/fault.js";
import type { CatalogVersion, Instant } from "../../model/ids.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import type { LineageLink } from "../../model/lineage.js";
import type { Tool } from "../../model/tool.js";
import { judgeOf } from "../usage.js";
import { linkId } from "./link.js";
import { mapParameters } from "./parameters.js";
import { corpusOf } from "./corpus.js";
import { parametersOf, profileOf, type Parameter } from "./profile.js";
import { sameType } from "./score.js";

export interface Statement {
  readonly from: Tool;
  /** In order of use. */
  readonly to: readonly Tool[];
  readonly atVersion: CatalogVersion;
  readonly by: string;
  readonly at: Instant;
  readonly kind: LineageLink["kind"];
  /** old parameter → new parameter, or null for one that goes nowhere; beside what is found or known already. */
  readonly params: Readonly<Record<string, string | null>>;
  /** All fixed arguments; undefined leaves those that are known. */
  readonly fixed: Readonly<Record<string, JsonValue>> | undefined;
  /** The link between these tools that is known already: its mapping is corrected. */
  readonly known: LineageLink | undefined;
}

/** The link as the person states it, confirmed, and what should be known of it. Throws Fault `input-invalid`. */
export function statedLink(statement: Statement): { readonly link: LineageLink; readonly remarks: string[] } {
  const { from, to, known, by, at } = statement;
  const fixed = new Map(Object.entries(statement.fixed ?? known?.fixedArguments ?? {}));
  const sides = { old: parametersOf(from.inputSchema), next: to.map((tool) => ({ tool, has: parametersOf(tool.inputSchema) })) };
  if (statement.fixed !== undefined) for (const [name, value] of fixed) refuseFixed(sides, name, value);
  const params = mapped(statement, sides, fixed);
  const word = { by, at, how: "person" as const };
  const said = {
    params: Object.fromEntries(params),
    fixedArguments: Object.fromEntries(fixed),
    stated: { by, at },
    confirmed: word,
  };
  const remarks = remarksOf(statement, sides, params, fixed);
  if (known !== undefined) {
    const { rejected: _rejected, ...open } = known;
    const isCorrected = JSON.stringify(known.params) !== JSON.stringify(said.params);
    const before = known.stated === undefined && isCorrected ? { proposedParams: known.proposedParams ?? known.params } : {};
    return { link: { ...open, ...before, ...said }, remarks };
  }
  const keys = to.map((tool) => tool.key);
  const { kind, atVersion } = statement;
  const id = linkId(atVersion, from.key, keys);
  const evidence = [`${by} stated it`];
  return { link: { id, kind, from: from.key, to: keys, atVersion, level: "certain", score: 1, evidence, ...said }, remarks };
}

interface Sides {
  readonly old: readonly Parameter[];
  readonly next: readonly { readonly tool: Tool; readonly has: readonly Parameter[] }[];
}

function mapped(statement: Statement, sides: Sides, fixed: ReadonlyMap<string, JsonValue>): Map<string, string> {
  const params = new Map(Object.entries(statement.known?.params ?? foundParams(statement, fixed)));
  const said = Object.entries(statement.params);
  const taken = new Map<string, string>();
  for (const [old, next] of said) {
    if (!sides.old.some(({ name }) => name === old)) throw unknownParameter(statement.from.key, old, sides.old);
    if (next === null) continue;
    if (!sides.next.some(({ has }) => has.some(({ name }) => name === next)))
      throw unknownParameter(
        statement.to.map(({ key }) => key).join(" and "),
        next,
        sides.next.flatMap(({ has }) => has),
      );
    if (fixed.has(next) && statement.fixed !== undefined)
      throw new Fault("input-invalid", `${next} cannot be both fixed and what ${old} becomes.`);
    const twin = taken.get(next);
    if (twin !== undefined) throw new Fault("input-invalid", `${twin} and ${old} cannot both become ${next}.`);
    taken.set(next, old);
  }
  // What was found gives way to what is said.
  for (const [old, next] of params) if (taken.has(next) || fixed.has(next)) params.delete(old);
  for (const [old, next] of said) {
    if (next === null) params.delete(old);
    else params.set(old, next);
  }
  return params;
}

function foundParams({ from, to }: Statement, fixed: ReadonlyMap<string, JsonValue>): Record<string, string> {
  const corpus = corpusOf([from], to);
  const profiles = to.map((tool) => profileOf(tool, corpus));
  return mapParameters(profileOf(from, corpus), profiles, Object.fromEntries(fixed), corpus);
}

function refuseFixed({ next }: Sides, name: string, value: JsonValue): void {
  const having = next.filter(({ has }) => has.some((one) => one.name === name));
  if (having.length === 0)
    throw unknownParameter(
      next.map(({ tool }) => tool.key).join(" and "),
      name,
      next.flatMap(({ has }) => has),
    );
  for (const { tool } of having) {
    const given: JsonObject = Object.fromEntries([[name, value]]);
    const [misfit] = judgeOf(tool.inputSchema)
      .misfits(given)
      .filter(({ at, says }) => at[0] === name && !(at.length === 1 && says.startsWith("is missing")));
    if (misfit !== undefined)
      throw new Fault("input-invalid", `${name} of ${tool.key} cannot be fixed to ${JSON.stringify(value)}: it ${misfit.says}.`);
  }
}

function unknownParameter(tool: string, name: string, has: readonly Parameter[]): Fault {
  const names = [...new Set(has.map((one) => one.name))];
  const known = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
  return new Fault("input-invalid", `${tool} has no parameter ${name}; ${known}.`, { parameter: name, parameters: names });
}

function remarksOf(
  { from }: Statement,
  { old, next }: Sides,
  params: ReadonlyMap<string, string>,
  fixed: ReadonlyMap<string, JsonValue>,
): string[] {
  const filled = new Set([...params.values(), ...fixed.keys()]);
  const remarks: string[] = [];
  for (const { tool, has } of next) {
    const open = has.filter(({ name, required }) => required && !filled.has(name)).map(({ name }) => name);
    if (open.length > 0)
      remarks.push(
        `${tool.key} requires ${open.join(", ")}, and nothing of ${from.key} fills it: skills are rebound when a person looked.`,
      );
  }
  const lost = old.filter(({ name }) => !params.has(name)).map(({ name }) => name);
  if (lost.length > 0) remarks.push(`${lost.join(", ")} of ${from.key} ${lost.length === 1 ? "goes" : "go"} nowhere.`);
  for (const [name, becomes] of params) {
    const [a, b] = [old.find((one) => one.name === name), next.flatMap(({ has }) => has).find((one) => one.name === becomes)];
    if (a !== undefined && b !== undefined && !sameType(a, b))
      remarks.push(`${name} (${a.type}) becomes ${becomes} (${b.type}): what is recorded may not fit.`);
  }
  return remarks;
}
