/**
 * Resources that agents follow.
 *
 * Owns: who follows which URI; one subscription at the upstream for all followers of it.
 * Speaks: Operations.passThrough; followers are compared, never looked into.
 * Never: who is told of a change (announce.ts).
 */
import type { Caller, Operations } from "../../model/operations.js";
import type { CallOptions } from "../../model/ports.js";
import type { Place } from "./qualify.js";
import { invalidParams } from "./translate.js";

export interface Following {
  /** Follows a resource for `follower` until unfollow or `unfollowAll`. */
  follow(uri: string, follower: object, caller: Caller, options: CallOptions): Promise<void>;
  unfollow(uri: string, follower: object): void;
  unfollowAll(follower: object): void;
  followersOf(uri: string): Iterable<object>;
}

/** Who follows which resource: one subscription at the upstream for all followers. */
export function createFollowing(operations: Operations, placeOf: (uri: string, caller: Caller) => Place | undefined): Following {
  interface Followed {
    readonly place: Place;
    readonly caller: Caller;
    readonly followers: Set<object>;
  }
  const followed = new Map<string, Followed>();
  const leave = (uri: string, entry: Followed, follower: object): void => {
    if (!entry.followers.delete(follower) || entry.followers.size > 0) return;
    followed.delete(uri);
    const { place, caller } = entry;
    operations
      .passThrough(place.label, "resources/unsubscribe", { uri: place.own }, caller, { signal: new AbortController().signal })
      .catch(() => undefined);
  };
  return {
    async follow(uri: string, follower: object, caller: Caller, options: CallOptions): Promise<void> {
      const known = followed.get(uri);
      if (known !== undefined) {
        known.followers.add(follower);
        return;
      }
      const place = placeOf(uri, caller);
      if (place === undefined) throw invalidParams("Resource not found", { uri });
      await operations.passThrough(place.label, "resources/subscribe", { uri: place.own }, caller, options);
      const now = followed.get(uri);
      if (now === undefined) followed.set(uri, { place, caller, followers: new Set([follower]) });
      else now.followers.add(follower);
    },
    unfollow(uri: string, follower: object): void {
      const entry = followed.get(uri);
      if (entry !== undefined) leave(uri, entry, follower);
    },
    followersOf: (uri: string): Iterable<object> => followed.get(uri)?.followers ?? [],
    unfollowAll(follower: object): void {
      for (const [uri, entry] of [...followed]) leave(uri, entry, follower);
    },
  };
}
