/**
 * Feeds: whose output fills whose required parameter, kept in an index by entity.
 *
 * Only tools of one upstream are matched by schema and name: across upstreams `user_id` means a different user, and only a flow that
 * was seen connects them. At most PRODUCERS_PER_PARAM producers are named for a parameter, the likeliest ones.
 */
import type { ToolKey, UpstreamLabel } from "../model/ids.js";
import { answers, type Needed, type Produced, type References } from "./references.js";
import type { ObservedFlow } from "./flows.js";

/** One output field that fills one required parameter. */
export interface Feed {
  readonly param: string;
  /** Output field, dotted; absent where only the tool's name says that it yields the thing. */
  readonly field?: string;
  readonly by: "observed" | "schema" | "name";
  /** 0 = seen in calls; higher = less likely. */
  readonly rank: number;
  /** The producer only looks: a way to find what exists, not merely to go on with what it changed or made. */
  readonly finds?: true;
}

/** Enough to name the usual search, list, get and create; more would only make the graph unreadable. */
export const PRODUCERS_PER_PARAM = 6;

interface Bucket {
  readonly producers: Map<ToolKey, readonly Produced[]>;
  readonly consumers: Set<ToolKey>;
  /** Producers that answer a suffix, likeliest first; made when asked for, forgotten when a producer moves. */
  readonly ranked: Map<string, readonly (readonly [ToolKey, Produced])[]>;
}

export interface Feeds {
  readonly references: Map<ToolKey, { readonly label: UpstreamLabel; readonly references: References }>;
  /** label and entity → who yields it, who needs it. */
  readonly buckets: Map<string, Bucket>;
  readonly flowsInto: Map<ToolKey, ObservedFlow[]>;
  readonly flowsFrom: Map<ToolKey, Set<ToolKey>>;
}

/** What a move touched: tools, and buckets whose consumers are looked up once at the end. */
export interface Stale {
  readonly consumers: Set<ToolKey>;
  readonly buckets: Set<string>;
}

export function createFeeds(): Feeds {
  return { references: new Map(), buckets: new Map(), flowsInto: new Map(), flowsFrom: new Map() };
}

/** Sets what a tool yields and needs. */
export function setReferences(feeds: Feeds, key: ToolKey, label: UpstreamLabel, references: References, stale: Stale): void {
  const known = feeds.references.get(key);
  if (known !== undefined && JSON.stringify(known.references) === JSON.stringify(references)) return;
  dropReferences(feeds, key, stale);
  feeds.references.set(key, { label, references });
  stale.consumers.add(key);
  for (const made of references.produces) {
    const bucket = bucketOf(feeds, label, made.entity);
    bucket.producers.set(key, [...(bucket.producers.get(key) ?? []), made]);
    bucket.ranked.clear();
    stale.buckets.add(bucketKey(label, made.entity));
  }
  for (const need of references.needs) for (const entity of need.entities) bucketOf(feeds, label, entity).consumers.add(key);
  for (const consumer of feeds.flowsFrom.get(key) ?? []) stale.consumers.add(consumer);
}

/** Forgets a tool. */
export function dropReferences(feeds: Feeds, key: ToolKey, stale: Stale): void {
  const known = feeds.references.get(key);
  if (known === undefined) return;
  feeds.references.delete(key);
  stale.consumers.add(key);
  const entities = new Set([
    ...known.references.produces.map((made) => made.entity),
    ...known.references.needs.flatMap((need) => need.entities),
  ]);
  for (const entity of entities) {
    const bucket = bucketOf(feeds, known.label, entity);
    bucket.consumers.delete(key);
    if (bucket.producers.delete(key)) {
      bucket.ranked.clear();
      stale.buckets.add(bucketKey(known.label, entity));
    }
    if (bucket.producers.size === 0 && bucket.consumers.size === 0) feeds.buckets.delete(bucketKey(known.label, entity));
  }
  for (const consumer of feeds.flowsFrom.get(key) ?? []) stale.consumers.add(consumer);
}

/** Replaces the observed flows. */
export function setFlows(feeds: Feeds, flows: Iterable<ObservedFlow>, stale: Stale): void {
  for (const consumer of feeds.flowsInto.keys()) stale.consumers.add(consumer);
  feeds.flowsInto.clear();
  feeds.flowsFrom.clear();
  for (const flow of flows) {
    stale.consumers.add(flow.to);
    const into = feeds.flowsInto.get(flow.to);
    if (into === undefined) feeds.flowsInto.set(flow.to, [flow]);
    else into.push(flow);
    feeds.flowsFrom.set(flow.from, (feeds.flowsFrom.get(flow.from) ?? new Set()).add(flow.to));
  }
}

/** Tools whose feeds have to be looked at again. */
export function staleConsumers(feeds: Feeds, stale: Stale): Set<ToolKey> {
  const consumers = new Set(stale.consumers);
  for (const key of stale.buckets) for (const consumer of feeds.buckets.get(key)?.consumers ?? []) consumers.add(consumer);
  return consumers;
}

/** Who feeds a tool, with what; empty for a tool that is not there. */
export function feedsInto(feeds: Feeds, consumer: ToolKey): Map<ToolKey, readonly Feed[]> {
  const into = new Map<ToolKey, Feed[]>();
  const known = feeds.references.get(consumer);
  if (known === undefined) return into;
  const add = (producer: ToolKey, found: Feed): void => {
    const feed: Feed = feeds.references.get(producer)?.references.isRead === true ? { ...found, finds: true } : found;
    const held = into.get(producer) ?? [];
    const same = held.findIndex((other) => other.param === feed.param);
    const other = held[same];
    if (other === undefined) into.set(producer, [...held, feed]);
    else if (compareFeeds(feed, other) < 0) held[same] = feed;
  };
  for (const need of known.references.needs) {
    for (const [producer, made] of producersOf(feeds, known.label, consumer, need)) {
      const field = made.field === undefined ? {} : { field: made.field };
      add(producer, { param: need.param, ...field, by: made.field === undefined ? "name" : "schema", rank: made.rank });
    }
  }
  for (const flow of feeds.flowsInto.get(consumer) ?? []) {
    if (flow.from !== consumer && feeds.references.has(flow.from)) {
      add(flow.from, { param: flow.param, field: flow.field, by: "observed", rank: 0 });
    }
  }
  for (const held of into.values()) held.sort((a, b) => (a.param < b.param ? -1 : 1));
  return into;
}

function compareFeeds(a: Feed, b: Feed): number {
  const left = a.field ?? "";
  const right = b.field ?? "";
  return a.rank - b.rank || left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}

/** The likeliest producers of a need, by its whole phrase or, where nobody has that, by its head word. */
function producersOf(
  feeds: Feeds,
  label: UpstreamLabel,
  consumer: ToolKey,
  need: Needed,
): readonly (readonly [ToolKey, Produced])[] {
  for (const entity of need.entities) {
    const bucket = feeds.buckets.get(bucketKey(label, entity));
    if (bucket === undefined) continue;
    const ranked = bucket.ranked.get(need.suffix) ?? rankProducers(bucket, need);
    const found: (readonly [ToolKey, Produced])[] = [];
    for (const producer of ranked) {
      if (found.length === PRODUCERS_PER_PARAM) break;
      if (producer[0] !== consumer) found.push(producer);
    }
    if (found.length > 0) return found;
  }
  return [];
}

function rankProducers(bucket: Bucket, need: Needed): readonly (readonly [ToolKey, Produced])[] {
  const found: (readonly [ToolKey, Produced])[] = [];
  for (const [producer, several] of bucket.producers) {
    let best: Produced | undefined;
    for (const made of several) if (answers(made, need) && (best === undefined || made.rank < best.rank)) best = made;
    if (best !== undefined) found.push([producer, best]);
  }
  found.sort(([a, left], [b, right]) => left.rank - right.rank || (a < b ? -1 : 1));
  bucket.ranked.set(need.suffix, found);
  return found;
}

function bucketKey(label: string, entity: string): string {
  return `${label}\n${entity}`;
}

function bucketOf(feeds: Feeds, label: string, entity: string): Bucket {
  const key = bucketKey(label, entity);
  const known = feeds.buckets.get(key);
  if (known !== undefined) return known;
  const bucket: Bucket = { producers: new Map(), consumers: new Set(), ranked: new Map() };
  feeds.buckets.set(key, bucket);
  return bucket;
}
