/** A whole house in this process, without upstreams: their listings are posted as events. For flows over several rooms. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readListing } from "../src/catalog/intake.js";
import { compose, type House } from "../src/compose.js";
import { silentLog } from "../src/host/log.js";
import type { UpstreamLabel } from "../src/model/ids.js";
import type { JsonObject, JsonValue } from "../src/model/json.js";
import type { Caller } from "../src/model/operations.js";

export const person: Caller = {
  principal: "local",
  rights: new Set(["agent", "operate", "verify", "approve"]),
  upstreams: undefined,
  session: undefined,
};

const open: House[] = [];
const homes: string[] = [];

/** A new home whose configuration names these labels; `steward` is its own section. */
export function makeHome(labels: readonly string[], steward: JsonObject = {}): string {
  const home = mkdtempSync(join(tmpdir(), "steward-house-"));
  homes.push(home);
  mkdirSync(join(home, "config"), { recursive: true });
  const mcpServers = Object.fromEntries(labels.map((label) => [label, { command: "true" }]));
  writeFileSync(join(home, "config/steward.json"), JSON.stringify({ mcpServers, steward }));
  return home;
}

export async function openHouse(home: string): Promise<House> {
  const house = await compose({ home, env: {}, main: "", log: silentLog, upstreams: false, watch: false });
  open.push(house);
  return house;
}

/** Stops what tests opened and removes their homes. */
export async function closeHouses(): Promise<void> {
  for (const house of open.splice(0)) await house.stop().catch(() => undefined);
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
}

let minute = 0;
/** Instants in order: nothing of a test's world depends on the clock. */
export function later(): string {
  minute += 1;
  return new Date(Date.UTC(2027, 0, 1) + minute * 60_000).toISOString();
}

/** A complete listing of one upstream. */
export async function list(house: House, label: string, tools: readonly JsonObject[]): Promise<void> {
  const listing = readListing(label as UpstreamLabel, tools as JsonValue[]);
  await house.steward.post({
    kind: "listing",
    at: later(),
    label: label as UpstreamLabel,
    tools: listing.tools,
    problems: listing.problems,
    cause: "sync",
  });
  await house.steward.post({ kind: "presence", at: later(), label: label as UpstreamLabel, state: "up" });
}

/** Looks at a tool and approves what was shown. */
export async function approve(house: House, tool: string): Promise<void> {
  const { difference } = await house.operations.approveTool({ tool, dryRun: true }, person);
  await house.operations.approveTool({ tool, ...difference.digests }, person);
}

/** A listed tool: `required` parameters are texts unless given with a schema; `outputs` are fields of its result. */
export function tool(
  name: string,
  options: {
    readonly description?: string;
    readonly required?: readonly string[];
    readonly optional?: readonly string[];
    readonly outputs?: readonly string[];
    readonly writes?: boolean;
  } = {},
): JsonObject {
  const { required = [], optional = [], outputs } = options;
  const properties = Object.fromEntries([...required, ...optional].map((param) => [param, { type: "string" }]));
  return {
    name,
    description: options.description ?? `${name.replaceAll("_", " ")}.`,
    inputSchema: { type: "object", properties, required: [...required], additionalProperties: false },
    ...(outputs === undefined
      ? {}
      : {
          outputSchema: {
            type: "object",
            properties: Object.fromEntries(outputs.map((field) => [field, { type: "string" }])),
            required: [...outputs],
          },
        }),
    annotations: options.writes === true ? { readOnlyHint: false, destructiveHint: false } : { readOnlyHint: true },
  };
}
