/**
 * Who is told when a list moved or a followed resource changed.
 *
 * Owns: turning the core's announcements into moves of lists that agents hold; the connections that are told directly.
 * Speaks: Operations.onAnnounce and onResourceUpdated; SDK servers; listeners for the subscriptions of modern HTTP.
 * Never: tells of a facade list that did not change, or of a resource that nobody follows.
 */
import type { Server } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../model/json.js";
import type { Operations } from "../../model/operations.js";
import type { Passing } from "./passing.js";
import type { Exposure } from "./tools.js";

export type ListName = "tools" | "prompts" | "resources";
type OnList = (exposure: Exposure, list: ListName) => void;
type OnResource = (uris: readonly string[]) => void;

export interface Announcer {
  /** A connection that is told directly, until `leave`. */
  join(server: Server, exposure: Exposure): void;
  leave(server: Server): void;
  onList(listener: OnList): () => void;
  onResource(listener: OnResource): () => void;
  close(): void;
}

export function createAnnouncer(operations: Operations, facadeTools: () => readonly JsonObject[], passing: Passing): Announcer {
  const connections = new Map<Server, Exposure>();
  const onList = new Set<OnList>();
  const onResource = new Set<OnResource>();

  function listMoved(exposure: Exposure, list: ListName): void {
    for (const [server, of] of connections) if (of === exposure) tell(server, list).catch(() => undefined);
    for (const listener of onList) listener(exposure, list);
  }
  let shown = JSON.stringify(facadeTools());
  const stopAnnounce = operations.onAnnounce((what) => {
    if (what === "tools") {
      const now = JSON.stringify(facadeTools());
      if (now !== shown) listMoved("facade", "tools");
      shown = now;
      listMoved("direct", "tools");
      return;
    }
    if (what !== "skills") passing.gatherer.forget();
    // Skills are offered as prompts and as resources; the Skills extension tells of their moves by the latter.
    const lists: readonly ListName[] = what === "skills" ? ["prompts", "resources"] : [what];
    for (const list of lists) {
      listMoved("facade", list);
      listMoved("direct", list);
    }
  });
  const stopUpdates = operations.onResourceUpdated?.((label, own) => {
    const uris = passing.followedAs(label, own);
    for (const uri of uris) {
      for (const follower of passing.followersOf(uri)) {
        const server = follower as Server;
        if (connections.has(server)) server.sendResourceUpdated({ uri }).catch(() => undefined);
      }
    }
    for (const listener of onResource) listener(uris);
  });

  return {
    join: (server, exposure) => void connections.set(server, exposure),
    leave: (server) => void connections.delete(server),
    onList(listener) {
      onList.add(listener);
      return () => void onList.delete(listener);
    },
    onResource(listener) {
      onResource.add(listener);
      return () => void onResource.delete(listener);
    },
    close() {
      stopAnnounce();
      stopUpdates?.();
      connections.clear();
      onList.clear();
      onResource.clear();
    },
  };
}

function tell(server: Server, list: ListName): Promise<void> {
  switch (list) {
    case "tools":
      return server.sendToolListChanged();
    case "prompts":
      return server.sendPromptListChanged();
    case "resources":
      return server.sendResourceListChanged();
  }
}
