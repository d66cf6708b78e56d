/** A house for the length of a measure: a temporary home without upstreams; catalogs come as listings. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readListing } from "../../src/catalog/intake.js";
import { compose, type House } from "../../src/compose.js";
import { silentLog } from "../../src/host/log.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import type { Caller } from "../../src/model/operations.js";

export const operator: Caller = {
  principal: "eval",
  rights: new Set(["agent", "operate", "verify", "approve"]),
  upstreams: undefined,
  session: undefined,
};

export async function withHouse<Result>(
  label: string,
  steward: JsonObject,
  work: (house: House) => Promise<Result>,
  env: Record<string, string> = {},
): Promise<Result> {
  const home = mkdtempSync(join(tmpdir(), "steward-eval-"));
  mkdirSync(join(home, "config"), { recursive: true });
  writeFileSync(join(home, "config/steward.json"), JSON.stringify({ mcpServers: { [label]: { command: "true" } }, steward }));
  const house = await compose({ home, env, main: "", log: silentLog, upstreams: false, watch: false });
  try {
    return await work(house);
  } finally {
    await house.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** A complete listing at an instant of the measure's own calendar. */
export async function list(house: House, label: string, tools: readonly JsonObject[], day: number): Promise<void> {
  const at = new Date(Date.UTC(2027, 0, 1 + day)).toISOString();
  const listing = readListing(label as UpstreamLabel, tools as JsonValue[]);
  const { problems } = listing;
  await house.steward.post({ kind: "listing", at, label: label as UpstreamLabel, tools: listing.tools, problems, cause: "sync" });
  await house.steward.post({ kind: "presence", at, label: label as UpstreamLabel, state: "up" });
}
