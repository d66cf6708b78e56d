/**
 * The shop: a stateful retail ecosystem on two upstreams whose tools change while its abilities stay.
 *
 * Owns: one running part (`shop` or `depot`) at one catalog version: its listing, its calls, its tables.
 * Speaks: MCP tool definitions and results as plain JSON; used in process by tests and by serve.ts over stdio.
 * Never: files, sockets, clocks; the same calls give the same results.
 */
import type { JsonObject, JsonValue } from "../../../model/json.js";
import type { ListedTool } from "../../../model/tool.js";
import { DEPOT_CATALOGS, LAST_VERSION, SHOP_CATALOGS } from "./catalogs.js";
import { seedDepot, seedShop } from "./database.js";
import { no, type Outcome } from "./outcome.js";
import { DEPOT_POLICY, SHOP_POLICY } from "./policy.js";
import { argumentFault, type WorldTool } from "./tool-kit.js";

export type ShopPart = "shop" | "depot";
export const SHOP_PARTS: readonly ShopPart[] = ["shop", "depot"];

export interface WorldPart {
  readonly part: string;
  version(): number;
  /** Moves to another catalog version; the tables stay. Throws RangeError for one that does not exist. */
  setVersion(version: number): void;
  tools(): ListedTool[];
  /** An MCP tool result; a refused or unknown call is `isError` with a sentence, and changes nothing. */
  call(name: string, args: JsonObject): JsonObject;
  /** A copy of the tables: table → id → row. */
  state(): JsonObject;
  policy(): string;
  /** Base functions that the tools of this version cover. */
  abilities(): string[];
}

export interface ShopOptions {
  readonly part: ShopPart;
  /** Catalog version, default 1. */
  readonly version?: number;
  /** Tables to start from (of an earlier `state()`); default the seeded database. */
  readonly tables?: JsonObject | undefined;
}

export function createShop(options: ShopOptions): WorldPart {
  const { part, version = 1, tables } = options;
  return part === "shop"
    ? createPart({ part, version, catalogs: SHOP_CATALOGS, tables: restore(seedShop(), tables), policy: SHOP_POLICY })
    : createPart({ part, version, catalogs: DEPOT_CATALOGS, tables: restore(seedDepot(), tables), policy: DEPOT_POLICY });
}

function createPart<Tables extends object>(options: {
  part: string;
  version: number;
  catalogs: readonly (readonly WorldTool<Tables>[])[];
  tables: Tables;
  policy: string;
}): WorldPart {
  const { part, catalogs, tables, policy } = options;
  let version = checkedVersion(options.version);
  const current = (): readonly WorldTool<Tables>[] => catalogs[version - 1] ?? [];
  return {
    part,
    version: () => version,
    setVersion: (next) => {
      version = checkedVersion(next);
    },
    tools: () => current().map((tool) => structuredClone(tool.listed)),
    call: (name, args) => {
      const tool = current().find((one) => one.listed.name === name);
      if (tool === undefined) return toResult(no(unknownTool(part, name, version, catalogs)));
      const fault = argumentFault(tool, args);
      return toResult(fault === undefined ? tool.run(tables, structuredClone(args)) : no(fault));
    },
    state: () => structuredClone(tables) as unknown as JsonObject,
    policy: () => policy,
    abilities: () => [...new Set(current().flatMap((tool) => tool.base))].sort(),
  };
}

function checkedVersion(version: number): number {
  if (!Number.isInteger(version) || version < 1 || version > LAST_VERSION) {
    throw new RangeError(`The shop has catalog versions 1 to ${LAST_VERSION}, not ${version}.`);
  }
  return version;
}

/** Tables of an earlier run; a table that is not in them is as seeded. */
function restore<Tables extends object>(seed: Tables, tables: JsonObject | undefined): Tables {
  if (tables === undefined) return seed;
  const known = Object.keys(seed).filter((name) => Object.hasOwn(tables, name));
  const kept: Record<string, JsonValue> = Object.fromEntries(known.map((name) => [name, structuredClone(tables[name] ?? {})]));
  return { ...seed, ...kept };
}

function toResult(outcome: Outcome): JsonObject {
  if ("error" in outcome) return { content: [{ type: "text", text: outcome.error }], isError: true };
  return { content: [{ type: "text", text: JSON.stringify(outcome.ok) }], structuredContent: structuredClone(outcome.ok) };
}

function unknownTool<Tables>(
  part: string,
  name: string,
  version: number,
  catalogs: readonly (readonly WorldTool<Tables>[])[],
): string {
  const versions = catalogs.flatMap((tools, n) => (tools.some((tool) => tool.listed.name === name) ? [`v${n + 1}`] : []));
  const known = (catalogs[version - 1] ?? []).map((tool) => tool.listed.name).join(", ");
  const there = versions.length === 0 ? "" : ` It exists in ${versions.join(" and ")} only; this is v${version}.`;
  return `There is no tool ${name} in ${part}.${there} Its tools are ${known}.`;
}
