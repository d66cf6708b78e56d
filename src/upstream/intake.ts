/**
 * What an upstream writes, taken in: messages to the peer, and everything else to whoever has to know of it.
 *
 * Owns: the difference between noise and an answer that cannot be read: whoever waits for such an answer is told at once.
 * Speaks: texts and bytes counted; the peer.
 * Never: framing (lines.ts, events.ts), what a message means, how much noise is too much (flood.ts).
 */
import { UPSTREAM_LIMITS } from "../model/policy.js";
import type { Peer } from "./peer.js";
import { Unanswered } from "./session.js";
import { idInRemains, mayBeAnswer, parseText, quotesMessage, REMAINS_CHARS } from "./text.js";

/** The first and the last kilobyte of a text that is not kept whole, or is of no use whole. */
export interface Remains {
  readonly head: string;
  readonly tail: string;
}

export interface Intake {
  /** A whole text of so many bytes that should be a message. `stream` = the request whose own stream brought it. */
  text(text: string, bytes: number, stream?: number): void;
  /** A line that should be a message, and may be a piece of one. */
  line(text: string, bytes: number): void;
  /** A line that cannot be a message. */
  noise(remains: Remains): void;
  /** A message above the bound. */
  tooLong(remains: Remains & { readonly bytes: number }, stream?: number): void;
}
export interface IntakeOptions {
  readonly peer: () => Peer;
  /** Called for each text that is no message, with its first characters. */
  readonly onNoise: (head: string) => void;
  /** Called with a sentence where an answer is lost by its size. */
  readonly onLost: (sentence: string) => void;
  /** Called for each message. */
  readonly onMessage?: (() => void) | undefined;
}

export function createIntake({ peer, onNoise, onLost, onMessage }: IntakeOptions): Intake {
  /** A text that began like a message and broke off, as long as it is not known whose answer it was. */
  let broken: Remains | undefined;

  /** Fails whoever waits for the answer that these are the remains of; false where that cannot be told. */
  function failed({ head, tail }: Remains, error: Unanswered, stream: number | undefined): boolean {
    const id = idInRemains(head, tail) ?? (stream !== undefined && mayBeAnswer(head) ? stream : undefined);
    if (id === undefined) return false;
    peer().fail(id, error);
    return true;
  }

  /** Messages with raw line breaks in them, or printed over several lines, come in pieces: the id may stand in any of them. */
  function goesOn(remains: Remains): void {
    if (broken === undefined) return;
    const joined = {
      head: `${broken.head}\n${remains.head}`.slice(0, REMAINS_CHARS),
      tail: `${broken.tail}\n${remains.tail}`.slice(-REMAINS_CHARS),
    };
    broken = quotesMessage(remains.head) || failed(joined, unreadable(), undefined) ? undefined : joined;
  }

  function took(message: unknown, bytes: number, stream: number | undefined): boolean {
    if (message === undefined || !peer().receive(message, stream, bytes)) return false;
    broken = undefined;
    onMessage?.();
    return true;
  }

  function refused(text: string): Remains {
    onNoise(text.slice(0, NOISE_CHARS));
    return { head: text.slice(0, REMAINS_CHARS), tail: text.slice(-REMAINS_CHARS) };
  }

  return {
    text(text, bytes, stream) {
      const message = parseText(text);
      if (took(message, bytes, stream)) return;
      const remains = refused(text);
      if (message === undefined) failed(remains, unreadable(), stream);
    },
    line(text, bytes) {
      const message = parseText(text);
      if (took(message, bytes, undefined)) return;
      const remains = refused(text);
      if (message !== undefined || (broken !== undefined && !quotesMessage(remains.head))) goesOn(remains);
      else broken = failed(remains, unreadable(), undefined) ? undefined : remains;
    },
    noise(remains) {
      onNoise(remains.head.slice(0, NOISE_CHARS));
      goesOn(remains);
    },
    tooLong({ bytes, ...remains }, stream) {
      broken = undefined;
      const error = tooLarge(bytes);
      onLost(error.message);
      if (failed(remains, error, stream)) onMessage?.();
    },
  };
}

/** Of a text that is no message, characters that are told on. */
const NOISE_CHARS = 200;

function unreadable(): Unanswered {
  return new Unanswered(
    "unreadable",
    "What the upstream wrote as its answer is not JSON: it breaks off, or holds what JSON does not allow (a raw line break in a text, for one).",
    false,
  );
}

export function tooLarge(bytes: number): Unanswered {
  const text = `A message of at least ${bytes} bytes came; the bound is ${UPSTREAM_LIMITS.messageBytes} bytes.`;
  return new Unanswered("too-large", text, false);
}
