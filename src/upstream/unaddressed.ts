/**
 * Answers that name no request: whose they are, as far as that is certain.
 *
 * An upstream that cannot read a message cannot name it, so an error without an id is about the request whose own stream brought it,
 * else about the only thing that was said to it and has no answer yet. Notifications and our own answers have none: an error may be
 * about one of those until a request that was sent later is answered. Between several nothing is guessed, and a result is never
 * handed to anybody.
 *
 * Owns: that judgement, and what is told of each such answer.
 * Speaks: requests in flight by id, refusals.
 * Never: message syntax (translate.ts); sending anything again, since what was refused may have run.
 */
import type { Refusal } from "../model/fault.js";
import type { JsonValue } from "../model/json.js";
import { Unanswered } from "./session.js";
import { readRefusal } from "./translate.js";

interface Waiting {
  readonly reject: (error: Error) => void;
  /** A subscription that was acknowledged: it stays open, and nothing that names no request is about it. */
  readonly stands: boolean;
}
export interface UnaddressedOptions<Entry extends Waiting> {
  /** Requests without an answer, by id. */
  readonly pending: ReadonlyMap<number, Entry>;
  readonly settle: (entry: Entry) => void;
  /** Told of each, with what became of it, as a sentence. */
  readonly tell: (sentence: string) => void;
}

export interface Unaddressed {
  /** Something was said that has no answer; `nextId`: what the next request will be called. */
  said(nextId: number): void;
  /** This request was answered. */
  answered(id: number): void;
  /** An answer without an id came, on the stream of a request of its own where it has one. False where it is nobody's. */
  take(error: JsonValue | undefined, stream: number | undefined): boolean;
}

export function createUnaddressed<Entry extends Waiting>({ pending, settle, tell }: UnaddressedOptions<Entry>): Unaddressed {
  /** The first id after the last thing that was said without an answer to come; nought where all that was said is accounted for. */
  let saidBefore = 0;

  function fail(entry: Entry, error: Error): true {
    settle(entry);
    entry.reject(error);
    return true;
  }

  function between(refusal: Refusal, written: JsonValue): boolean {
    const said = `${refusal.message} (code ${refusal.code})`;
    const waiting = [...pending.values()].filter((entry) => !entry.stands);
    const [only] = waiting;
    if (only === undefined || waiting.length > 1 || saidBefore > 0) {
      const others = saidBefore > 0 ? ", and it may be about a notification" : "";
      tell(`an error came that names no request: ${said}; it is given to none of the ${waiting.length} in flight${others}`);
      return false;
    }
    tell(`an error came that names no request: ${said}; it is given to the only one in flight`);
    const sentence = `The upstream answered with an error that names no request: ${said}. This one was the only one it can mean; whether it ran is not known.`;
    return fail(only, new Unanswered("unreadable", sentence, false, { data: { error: written } }));
  }

  return {
    said(nextId) {
      saidBefore = nextId;
    },
    answered(id) {
      if (id >= saidBefore) saidBefore = 0;
    },
    take(error, stream) {
      if (error === undefined) {
        tell("a result came that names no request; it is given to none");
        return false;
      }
      const refusal = readRefusal(error);
      const own = stream === undefined ? undefined : pending.get(stream);
      if (own !== undefined) return fail(own, refusal);
      return stream === undefined && between(refusal, error);
    },
  };
}
