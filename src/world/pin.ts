/**
 * Pins: what a caller who stays with a catalog version still has of it.
 *
 * A pin narrows what is offered and shows nothing of the past: a tool that moved is called as it is now, and that is said.
 */
import { successors } from "../catalog/lineage.js";
import type { CatalogPin } from "../model/catalog.js";
import type { ToolKey } from "../model/ids.js";
import { reachesTool, type Reach } from "../model/reach.js";
import type { World } from "./world.js";

export interface Pinned {
  readonly version: number;
  /** Was it in that version? */
  readonly has: (key: ToolKey) => boolean;
  /** Of that version and not there any more, with what took over. */
  readonly gone: readonly { readonly tool: ToolKey; readonly to: readonly ToolKey[] }[];
  /** There, with another contract. */
  readonly changed: readonly ToolKey[];
  readonly tools: number;
}

export function pinnedAt(world: World, pin: Pick<CatalogPin, "version" | "tools">): Pinned {
  const keys = Object.keys(pin.tools).sort() as ToolKey[];
  const { tools } = world.catalog;
  return {
    version: pin.version,
    has: (key) => Object.hasOwn(pin.tools, key),
    gone: keys
      .filter((key) => !tools.has(key))
      .map((tool) => ({ tool, to: successors(tool, pin.version, world.lineage, (key) => tools.has(key))?.to ?? [] })),
    changed: keys.filter((key) => tools.has(key) && tools.get(key)?.digests.contract !== pin.tools[key]),
    tools: keys.length,
  };
}

/** Tools named in the notice of a view; the rest are counted. */
const NAMED_MOST = 8;

/** For the agent: where it stands, and what within its reach is no longer what it was. */
export function pinNotice(world: World, pinned: Pinned, reach?: Reach): string {
  const within = (key: string): boolean => reachesTool(reach, key);
  const changed = pinned.changed.filter(within);
  const left = pinned.gone.filter(({ tool }) => within(tool)).map(({ tool, to }) => ({ tool, to: to.filter(within) }));
  const gone = left.map(({ tool, to }) => (to.length === 0 ? tool : `${tool} (now ${to.join(" + ")})`));
  return [
    `Pinned to catalog version ${pinned.version}; the present one is ${world.catalog.version}.`,
    gone.length === 0
      ? `All of its ${reach === undefined ? `${pinned.tools} tools` : "tools that you may use"} are there.`
      : `Gone since: ${listed(gone)}.`,
    ...(changed.length === 0 ? [] : [`Changed since, and called as they are now: ${listed(changed)}.`]),
  ].join(" ");
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMED_MOST;
  return `${names.slice(0, NAMED_MOST).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
