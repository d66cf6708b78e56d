/**
 * Presence of one upstream, told when it moves.
 *
 * Owns: the present state with the time it began, and what a parked upstream waits for.
 * Speaks: presence events.
 * Never: deciding (supervisor.ts).
 */
import type { Presence, PresenceState } from "../model/catalog.js";
import type { Event } from "../model/event.js";
import type { UpstreamLabel } from "../model/ids.js";
import type { Clock } from "../model/ports.js";

export interface PresenceBoard {
  current(): Presence;
  set(state: PresenceState, reason?: string): void;
  /** Only a person can help: with a login or with the configuration. */
  park(needs: "login" | "configuration", reason: string): void;
  /** What is up was replaced before anybody noticed: the same state, from now on. */
  renew(): void;
  needsLogin(): boolean;
  /** Tells the state as it is, moved or not. */
  tell(): void;
}

export function createPresenceBoard(options: {
  readonly label: UpstreamLabel;
  readonly initial: PresenceState;
  readonly clock: Clock;
  readonly post: (event: Event) => void;
}): PresenceBoard {
  const { label, clock } = options;
  let presence: Presence = { state: options.initial, since: clock.now(), reason: undefined };
  let needs: "login" | "configuration" | undefined;

  const tell = (): void =>
    options.post({ kind: "presence", at: clock.now(), label, state: presence.state, reason: presence.reason });
  function set(state: PresenceState, reason?: string): void {
    if (presence.state === state && presence.reason === reason) return;
    presence = { state, since: presence.state === state ? presence.since : clock.now(), reason };
    tell();
  }

  return {
    current: () => presence,
    set,
    park(what, reason) {
      needs = what;
      set("parked", reason);
    },
    renew() {
      if (presence.state === "up") presence = { ...presence, since: clock.now() };
    },
    needsLogin: () => presence.state === "parked" && needs === "login",
    tell,
  };
}
