/** One cell of the matrix: an agent of one era, an upstream of one era, and the proxy between them. */
import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject, type JsonObject } from "../../../src/model/json.js";
import { Refused, type Agent, type AskOptions } from "./agent.js";
import { withoutEnvelope, type Upstream } from "./upstream.js";

export interface Cell {
  /** At `/mcp/direct`. */
  readonly agent: Agent;
  /** The same kind of agent at `/mcp`. */
  readonly facade: Agent;
  readonly upstream: Upstream;
}

/**
 * What was seen. `passes`: as the upstream gave it, in the way both eras have. `bridged`: it works, and goes another way on each side.
 * `impossible`: one of the two revisions has no such thing; the probe saw the refusal.
 */
export type Seen =
  | { readonly mark: "passes"; readonly note?: string }
  | { readonly mark: "bridged"; readonly note: string }
  | { readonly mark: "impossible"; readonly note: string };

/** A row. The probe throws where the feature does not work. */
export interface Feature {
  readonly group: string;
  readonly name: string;
  readonly probe: (cell: Cell) => Promise<Seen>;
}

export const passes: Seen = { mark: "passes" };
export const answeredHere = (note: string): Seen => ({ mark: "passes", note });
/** The two ways, as they were seen on either side. */
export const way = (agent: string, upstream: string): Seen =>
  agent === upstream ? passes : { mark: "bridged", note: `${agent} ⇄ ${upstream}` };

/** Calls a tool of the fixture; the result without envelopes. */
export async function call(cell: Cell, tool: string, args: JsonObject = {}, more: JsonObject = {}, options: AskOptions = {}) {
  const name = `${cell.upstream.label}__${tool}`;
  return withoutEnvelope(await cell.agent.ask("tools/call", { name, arguments: args, ...more }, options));
}

/** The structured content of a call. */
export async function structured(cell: Cell, tool: string, args: JsonObject = {}, more: JsonObject = {}): Promise<JsonObject> {
  const { structuredContent } = await call(cell, tool, args, more);
  if (!isJsonObject(structuredContent)) throw new Error(`${tool} answered without structured content`);
  return structuredContent;
}

/** Runs what must be refused; the refusal. */
export async function refused(work: Promise<unknown>): Promise<Refused> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

/** Waits until something holds, at most 20 s. */
export async function until<T>(holds: () => Promise<T | false | undefined> | T | false | undefined, what: string): Promise<T> {
  const endMs = performance.now() + 20_000;
  for (;;) {
    const found = await holds();
    if (found !== false && found !== undefined) return found;
    if (performance.now() > endMs) throw new Error(`waited in vain until ${what}`);
    await sleep(20);
  }
}

export const uriOf = (cell: Cell, own: string): string => `steward://upstream/${cell.upstream.label}/${own}`;

/** Items of a list whose name has the prefix, under their own name. */
export function ownItems(items: unknown, field: string, prefix: string): JsonObject[] {
  return (items as JsonObject[])
    .filter((item) => String(item[field]).startsWith(prefix))
    .map((item) => ({ ...item, [field]: String(item[field]).slice(prefix.length) }));
}
