/**
 * Signs of life of one upstream: which silence is slowness, and which is the end.
 *
 * Owns: the ping after a call that was given up; what counts against an upstream that is silent while calls keep coming.
 * Speaks: sessions, milliseconds.
 * Never: ending an upstream that says anything at all (progress, logs, other answers); a ping while a call runs.
 *
 *   a call is given up ──▶ no other runs ──▶ ping ──unanswered, or not even taken──▶ ended
 *                     └──▶ others run ──▶ another is given up, a ping's time later, and all was silent ──▶ ended
 */
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { Unanswered } from "./session.js";
import type { Session } from "./session.js";
import { METHOD } from "./translate.js";

export interface LifeWatch {
  /** A new session: nothing is held against it. */
  begin(): void;
  /** An agent's request stayed without an answer. */
  unanswered(session: Session, error: Unanswered): void;
  /** An agent's request is over, however it ended. */
  settled(session: Session): void;
}
export interface LifeOptions {
  readonly current: () => Session | undefined;
  readonly elapsedMs: () => number;
  readonly callTimeoutMs: () => number;
  /** Called once for a session that is to be ended, with the reason as a clause. */
  readonly onDead: (session: Session, reason: string) => void;
}

export function createLifeWatch(options: LifeOptions): LifeWatch {
  const { current, elapsedMs } = options;
  let suspect = false;
  /** The first call that was given up while all was silent: when it was sent, and when it was given up. */
  let silence: { readonly sentMs: number; readonly givenUpMs: number } | undefined;
  let asked: Session | undefined;

  const waitMs = (): number => Math.min(UPSTREAM_LIMITS.pingMs, options.callTimeoutMs());

  function end(session: Session, sinceMs: number, how: string): void {
    if (current() !== session) return;
    const silentMs = Math.round(elapsedMs() - sinceMs);
    options.onDead(session, `it gives no sign of life: ${how}, and no message came from it for ${silentMs} ms`);
  }

  function givenUp(session: Session, sentMs: number): void {
    const nowMs = elapsedMs();
    suspect = true;
    if (silence === undefined || session.heardMs() > silence.sentMs) {
      silence = session.heardMs() > sentMs ? undefined : { sentMs, givenUpMs: nowMs };
      return;
    }
    // Calls that were sent together are given up together: that is one silence, not two.
    if (nowMs - silence.givenUpMs >= waitMs()) end(session, silence.sentMs, "call after call was not answered");
  }

  async function ask(session: Session): Promise<void> {
    asked = session;
    const sentMs = elapsedMs();
    const silentMs = silence !== undefined && session.heardMs() <= silence.sentMs ? silence.sentMs : undefined;
    let outcome = await ping(session, waitMs());
    if (outcome === "busy") {
      // It may read, only slowly: what waits then has become less, and the ping is taken.
      await new Promise<void>((done) => setTimeout(done, waitMs()).unref());
      outcome = current() === session ? await ping(session, waitMs()) : "answered";
    }
    if (asked === session) asked = undefined;
    if (outcome === "answered") return;
    // Where a call came meanwhile the ping alone says nothing: only a silence does that began with the call that was given up.
    const lastMs = session.inFlight() > 0 ? silentMs : sentMs;
    if (lastMs !== undefined && session.heardMs() <= lastMs)
      end(session, silentMs ?? sentMs, outcome === "busy" ? "it does not read its input" : "it does not answer a ping");
  }

  return {
    begin() {
      suspect = false;
      silence = undefined;
      asked = undefined;
    },
    unanswered(session, error) {
      if (current() !== session) return;
      if (error.kind === "timeout" && error.sentMs !== undefined) givenUp(session, error.sentMs);
      // Not the upstream's word (that has a status): its input is full.
      else if (error.kind === "busy" && error.status === undefined) suspect = true;
    },
    settled(session) {
      if (!suspect || asked !== undefined || session.inFlight() > 0 || current() !== session) return;
      suspect = false;
      void ask(session);
    },
  };
}

/** Anything that it says is an answer, a refusal too. */
async function ping(session: Session, timeoutMs: number): Promise<"answered" | "timeout" | "busy"> {
  const method = session.greeting.era === "legacy" ? METHOD.ping : METHOD.discover;
  try {
    await session.request({ method, params: {}, timeoutMs, capMs: timeoutMs, internal: true });
  } catch (error) {
    if (!(error instanceof Unanswered) || error.status !== undefined) return "answered";
    if (error.kind === "timeout" || error.kind === "busy") return error.kind;
  }
  return "answered";
}
