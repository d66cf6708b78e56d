/**
 * What skills one upstream serves, kept up to date where they are taken into the library.
 *
 * Owns: when to look again: with each session, when its resources are said to have moved, by poll, after a failure.
 * Speaks: `skills-served` events.
 * Never: the upstream's presence: tools that can be listed are offered whatever its skills do.
 */
import type { Event } from "../../model/event.js";
import type { Instant, UpstreamLabel } from "../../model/ids.js";
import { UPSTREAM_LIMITS } from "../../model/policy.js";
import { flapTeller } from "../flapping.js";
import { createRefresher } from "../refresher.js";
import { textOf, type Session, type UpstreamLog } from "../session.js";
import { readServedSkills } from "./read.js";

export interface SkillKeeper {
  /** The upstream says that its resources moved: skills are among them. */
  changed(): void;
  /** Reads now, where skills are taken in; never rejects. */
  now(): Promise<void>;
  stop(): void;
}
export interface SkillKeeperOptions {
  readonly label: UpstreamLabel;
  readonly session: () => Session | undefined;
  /** Are this upstream's skills taken into the library? */
  readonly wanted: () => boolean;
  /** Digest over the files that were taken from a URI last. */
  readonly known: (uri: string) => string | undefined;
  readonly post: (event: Event) => Promise<void> | void;
  readonly now: () => Instant;
  readonly elapsedMs: () => number;
  readonly timeoutMs: () => number;
  readonly pollMs: number;
  readonly log: UpstreamLog;
}

export function keepSkills(options: SkillKeeperOptions): SkillKeeper {
  const { label, elapsedMs } = options;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let last = "";
  const refresher = createRefresher({
    refresh,
    elapsedMs,
    onFlapping: flapTeller(`upstream ${label}: skills that it serves`, options.log),
  });

  /** Resolves with whether it brought anything new. */
  async function refresh(): Promise<boolean> {
    const session = options.session();
    if (session === undefined || !options.wanted()) return false;
    try {
      const reading = await readServedSkills(session, { timeoutMs: options.timeoutMs(), elapsedMs, known: options.known });
      failures = 0;
      const seen = JSON.stringify([reading.found.map(({ uri, source }) => [uri, source]), reading.refused]);
      const news = seen !== last;
      last = seen;
      plan(options.pollMs);
      await options.post({ kind: "skills-served", at: options.now(), label, ...reading });
      return news;
    } catch (error) {
      // With the session gone its successor reads anew; what was taken stays meanwhile.
      if (options.session() === session) {
        failures += 1;
        plan(Math.min(UPSTREAM_LIMITS.backoffMs * 2 ** failures, UPSTREAM_LIMITS.backoffMaxMs));
        options.log("warn", `skills of upstream ${label} could not be read: ${textOf(error)}`);
      }
      throw error;
    }
  }

  function plan(inMs: number): void {
    clearTimeout(timer);
    if (stopped || inMs <= 0) return;
    timer = setTimeout(() => refresher.ask("poll"), inMs);
    timer.unref();
  }

  return {
    changed: () => {
      if (options.wanted()) refresher.ask("list_changed");
    },
    now: () => (options.wanted() ? refresher.now("sync").catch(() => undefined) : Promise.resolve()),
    stop() {
      stopped = true;
      clearTimeout(timer);
      refresher.stop();
    },
  };
}
