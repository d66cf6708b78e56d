/** Pins: tokens and sessions that stay with what still exists of one catalog version. */
import type { CatalogPin } from "../model/catalog.js";
import { Fault } from "../model/fault.js";
import { tokensFormat } from "../model/home.js";
import type { Caller, PinAnswer } from "../model/operations.js";
import { pinnedAt, type Pinned } from "../world/pin.js";
import type { World } from "../world/world.js";
import { readManifest } from "./versions.js";
import type { Desk } from "./desk.js";

/** Sessions whose pins are remembered; the oldest go first. */
const SESSION_PINS_MOST = 1_000;

export interface CallerPinned extends Pinned {
  /** How the pin is ended, in words. */
  readonly ends: string;
}

/** What this caller stays with: its session's pin, else its token's. */
export function pinOf(desk: Desk, world: World, caller: Caller): CallerPinned | undefined {
  const { session, principal } = caller;
  const own = session === undefined ? undefined : desk.memory.pins.get(session);
  if (own !== undefined) return { ...pinnedAt(world, own), ends: `\`steward catalog pin none --session ${session}\` ends that` };
  const pin = world.catalogPins.get(principal);
  if (pin === undefined) return undefined;
  const ends = isWritten(pin)
    ? `the entry of ${principal} in ${tokensFormat.place} says so`
    : `\`steward catalog pin none --token ${principal}\` ends that`;
  return { ...pinnedAt(world, pin), ends };
}

function isWritten(pin: CatalogPin | undefined): boolean {
  return pin?.by === tokensFormat.place;
}

export function listPins(desk: Desk): PinAnswer[] {
  const world = desk.steward.world();
  return [
    ...[...world.catalogPins].sort(([a], [b]) => (a < b ? -1 : 1)).map(([token, pin]) => answerOf(world, { token }, pin)),
    ...[...desk.memory.pins].map(([session, pin]) => answerOf(world, { session }, pin)),
  ];
}

export async function pinCatalog(
  desk: Desk,
  options: { version: number | undefined; token?: string; session?: string },
  caller: Caller,
): Promise<{ pinned: PinAnswer | null }> {
  if (options.token !== undefined && options.session !== undefined)
    throw new Fault("input-invalid", "Give a token or a session to pin, not both.");
  const pin = options.version === undefined ? undefined : await pinTo(desk, options.version);
  const { session } = options;
  const token = options.token ?? caller.principal;
  if (session === undefined && caller.principal !== tokensFormat.place) refuseWritten(desk.steward.world(), token);
  if (session !== undefined) pinSession(desk, session, pin);
  else await desk.steward.post({ kind: "catalog-pinned", at: desk.clock.now(), by: caller.principal, token, pin });
  const subject = session === undefined ? { token } : { session };
  if (pin === undefined) return { pinned: null };
  const waits = session === undefined ? waitsForToken(desk, token, caller) : waitsForSession(desk, session);
  return { pinned: { ...answerOf(desk.steward.world(), subject, pin), ...(waits === undefined ? {} : { waits }) } };
}

/** The one version that can be looked at and not stayed with: who did would have no tool, and meant something else. */
const NOTHING_TO_STAY_WITH =
  "Version 0 is the empty catalog before the first listing: who stayed with it would be offered no tool at all. `steward catalog pin none` ends a pin; `steward catalog log` lists the versions there are.";

/** What a person writes in the token file would be in force again when it is next read. */
function refuseWritten(world: World, token: string): void {
  const pin = world.catalogPins.get(token);
  if (pin === undefined || !isWritten(pin)) return;
  throw new Fault(
    "input-invalid",
    `The entry of ${token} in ${tokensFormat.place} has "catalog": ${pin.version}. Change it there, or take it out: that is in force from the next request on.`,
  );
}

/** Callers without a token. */
const UNNAMED = ["local", "mcp"];

/** A pin may be there before its token is; a slip of typing would look the same, so it is said. */
function waitsForToken(desk: Desk, token: string, caller: Caller): string | undefined {
  const known = [...UNNAMED, ...desk.tokenNames()];
  if (token === caller.principal || known.includes(token)) return undefined;
  return `No token is called ${token}; there are ${known.join(", ")}. The pin is kept and holds once there is one.`;
}

function waitsForSession(desk: Desk, session: string): string | undefined {
  if (desk.memory.sessions.has(session)) return undefined;
  return `No session ${session} has begun an episode here; the pin holds once it calls, and ends with the daemon.`;
}

/** Throws as `readManifest` does. */
async function pinTo(desk: Desk, version: number): Promise<Pick<CatalogPin, "version" | "tools">> {
  if (version === 0) throw new Fault("input-invalid", NOTHING_TO_STAY_WITH);
  const { tools } = await readManifest(desk.store, version);
  return { version, tools: Object.fromEntries(Object.entries(tools).map(([key, digests]) => [key, digests.contract])) };
}

function pinSession(desk: Desk, session: string, pin: Pick<CatalogPin, "version" | "tools"> | undefined): void {
  const { pins } = desk.memory;
  pins.delete(session);
  if (pin !== undefined) pins.set(session, pin);
  for (const oldest of pins.keys()) {
    if (pins.size <= SESSION_PINS_MOST) break;
    pins.delete(oldest);
  }
}

function answerOf(
  world: World,
  subject: { token: string } | { session: string },
  pin: Pick<CatalogPin, "version" | "tools">,
): PinAnswer {
  const { version, tools, gone, changed } = pinnedAt(world, pin);
  return { ...subject, version, tools, gone, changed };
}
