/**
 * One complete listing of an upstream's tools, or none at all.
 *
 * Owns: following the pages to their end, the guards against upstreams that have none, and that all pages are of one moment.
 * Speaks: raw tools as listed; reading them is the catalog's.
 * Never: a half listing: a page that fails fails all, and the last good listing stays.
 */
import { Refusal } from "../model/fault.js";
import { isJsonObject } from "../model/json.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import type { Session } from "./session.js";
import { CODE, METHOD, readToolsPage } from "./translate.js";

export interface RawListing {
  readonly tools: readonly unknown[];
  /** How long the upstream says this stays fresh. */
  readonly ttlMs: number | undefined;
}

export interface ListOptions {
  readonly timeoutMs: number;
  readonly elapsedMs: () => number;
  /** How often the upstream has said so far that its list moved. */
  readonly announced: () => number;
}

/** Pages that moved while they were read are read again; so often in all. */
const READINGS = 5;

/**
 * Pages of two moments together are no listing: a tool may be missing from both. So one of several pages is read again where the upstream
 * announced a change meanwhile or a tool stands on it twice, until nothing moved or two readings agree.
 * Rejects with Refusal, Unanswered, or an Error that says what the upstream did wrong.
 */
export async function listTools(session: Session, options: ListOptions): Promise<RawListing> {
  const startedMs = options.elapsedMs();
  let before: string | undefined;
  for (let reading = 1; reading <= READINGS; reading += 1) {
    const announced = options.announced();
    const { pages, ...listing } = await readPages(session, options, startedMs);
    if (pages === 1 || (options.announced() === announced && !hasOneTwice(listing.tools))) return listing;
    const now = JSON.stringify(listing.tools);
    if (now === before) return listing;
    before = now;
  }
  throw new Error(`the listing changes from page to page: ${READINGS} readings of it, and no two agree`);
}

function hasOneTwice(tools: readonly unknown[]): boolean {
  const names = tools.flatMap((tool) => (isJsonObject(tool) ? [tool["name"]] : []));
  return new Set(names).size < names.length;
}

async function readPages(
  session: Session,
  options: ListOptions,
  startedMs: number,
): Promise<RawListing & { readonly pages: number }> {
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let ttlMs: number | undefined;
  for (let page = 1; ; page += 1) {
    const leftMs = UPSTREAM_LIMITS.listMs - (options.elapsedMs() - startedMs);
    if (leftMs <= 0) throw new Error(`the listing did not end within ${UPSTREAM_LIMITS.listMs} ms (${page - 1} pages)`);
    if (page > UPSTREAM_LIMITS.listPages) throw new Error(`the listing did not end after ${UPSTREAM_LIMITS.listPages} pages`);
    const read = await readPage(session, cursor, Math.min(options.timeoutMs, leftMs), page);
    if (read === undefined) return { tools: [], ttlMs: undefined, pages: page };
    for (const tool of read.tools) tools.push(tool);
    if (tools.length > UPSTREAM_LIMITS.listTools) throw new Error(`the listing has more than ${UPSTREAM_LIMITS.listTools} tools`);
    ttlMs ??= read.ttlMs;
    if (read.next === undefined) return { tools, ttlMs, pages: page };
    if (seen.has(read.next)) throw new Error(`the listing goes in a circle: page ${page} repeats a cursor`);
    seen.add(read.next);
    cursor = read.next;
  }
}

/** One page; undefined where the upstream says that it has no tools to list at all. */
async function readPage(
  session: Session,
  cursor: string | undefined,
  timeoutMs: number,
  page: number,
): Promise<{ tools: readonly unknown[]; next: string | undefined; ttlMs: number | undefined } | undefined> {
  try {
    const params = cursor === undefined ? {} : { cursor };
    const result = await session.request({ method: METHOD.listTools, params, timeoutMs, capMs: timeoutMs, internal: true });
    const { tools, next, ttlMs } = readToolsPage(result);
    if (tools === undefined) throw new Error(`page ${page} of the listing has no list of tools`);
    return { tools, next, ttlMs };
  } catch (error) {
    // Servers without tools need not know the method; a server that declared tools and refuses has a fault.
    const none =
      error instanceof Refusal && error.code === CODE.methodNotFound && session.greeting.capabilities["tools"] === undefined;
    if (none && page === 1) return undefined;
    throw error;
  }
}
