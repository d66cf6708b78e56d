/** The fixture upstream spoken to without a proxy: what it says itself is what has to come through. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isJsonObject, type JsonObject } from "../../../src/model/json.js";
import type { Era } from "./agent.js";

export const SERVER = join(import.meta.dirname, "../../fixtures/servers/every.mjs");

/** The same server once more, with this configured time of a call: longer than a busy machine delays one step of progress. */
export const HASTY_MS = 2_500;
export const hastyLabel = (label: string): string => `${label}-hasty`;

export interface Upstream {
  readonly era: Era;
  readonly label: string;
  /** A result as the upstream itself gives it, without what belongs to its era's envelope. */
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  /** All items of a paged list, and on how many pages they came. */
  list(method: string, field: string): Promise<{ items: JsonObject[]; pages: number }>;
  close(): void;
}

export function speakTo(era: Era, label: string): Upstream {
  const child = spawn(process.execPath, [SERVER, era], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, (result: JsonObject) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as JsonObject;
    if (isJsonObject(message["result"])) waiting.get(Number(message["id"]))?.(withoutEnvelope(message["result"]));
  });
  let id = 0;
  const ask = (method: string, params: JsonObject = {}): Promise<JsonObject> =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  return {
    era,
    label,
    ask,
    async list(method, field) {
      const items: JsonObject[] = [];
      let pages = 0;
      for (let cursor: string | undefined = ""; cursor !== undefined;) {
        const page: JsonObject = await ask(method, cursor === "" ? {} : { cursor });
        items.push(...(page[field] as JsonObject[]));
        pages += 1;
        cursor = page["nextCursor"] as string | undefined;
      }
      return { items, pages };
    },
    close: () => void child.stdin.end(),
  };
}

/** A result without what every result of the newer revision bears, and without our own note of the episode. */
export function withoutEnvelope(result: JsonObject): JsonObject {
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  if (!isJsonObject(rest["_meta"])) return rest;
  const meta = Object.fromEntries(
    Object.entries(rest["_meta"]).filter(([key]) => key !== "steward/episode" && !isServerInfo(key)),
  );
  const { _meta: _all, ...bare } = rest;
  return Object.keys(meta).length === 0 ? bare : { ...bare, _meta: meta };
}
const isServerInfo = (key: string): boolean => key === "io.modelcontextprotocol/serverInfo";
