/**
 * Resource subscriptions of all agents towards one upstream, counted.
 *
 * Owns: the first subscription of a uri reaches the upstream, the last end of one too, and a new session is told all.
 * Speaks: uris.
 * Never: which agent holds which (the surfaces').
 */
export interface Subscriptions {
  /** True where this is the first of its uri. */
  add(uri: string): boolean;
  /** True where this was the last of its uri. */
  remove(uri: string): boolean;
  uris(): readonly string[];
}

export function createSubscriptions(): Subscriptions {
  const counts = new Map<string, number>();
  return {
    add(uri) {
      const count = counts.get(uri) ?? 0;
      counts.set(uri, count + 1);
      return count === 0;
    },
    remove(uri) {
      const count = counts.get(uri) ?? 0;
      if (count > 1) counts.set(uri, count - 1);
      else counts.delete(uri);
      return count === 1;
    },
    uris: () => [...counts.keys()],
  };
}
