/**
 * Opening words: which protocol era an upstream speaks, found out on the connection itself.
 *
 * Owns: the order of the two questions. Legacy `initialize` comes first unless the upstream is known to be modern: every
 * legacy upstream answers it at once, while some end themselves on any other first message, and a throw-away process
 * to find out would double the cost of each start.
 * Speaks: greetings.
 * Never: transports; remembering verdicts (supervisor.ts).
 */
import { Refusal } from "../model/fault.js";
import type { JsonObject } from "../model/json.js";
import { ConnectFailed, textOf, Unanswered } from "./session.js";
import type { Era, Greeting } from "./session.js";
import { CODE, initializeParams, METHOD, offersModern, readGreeting, supportsModern, withEnvelope } from "./translate.js";
import type { ClientIdentity } from "./translate.js";

export interface GreetOptions {
  readonly ask: (method: string, params: JsonObject) => Promise<JsonObject>;
  readonly notify: (method: string, params: JsonObject) => void;
  readonly client: ClientIdentity;
  /** Asked for first. */
  readonly preferred: Era | undefined;
  /** The configuration allows no other era. */
  readonly only: boolean;
}

/** Rejects with ConnectFailed naming the phase. */
export async function greet(options: GreetOptions): Promise<Greeting> {
  const [first, second] = options.preferred === "modern" ? [greetModern, greetLegacy] : [greetLegacy, greetModern];
  try {
    return await first(options);
  } catch (error) {
    // Only an upstream that answered "no", or what is no answer, can be asked otherwise; silence or an end says nothing.
    if (options.only || !(error instanceof ConnectFailed) || !wasAnswered(error.cause)) throw error;
    try {
      return await second(options);
    } catch {
      throw error;
    }
  }
}

function wasAnswered(cause: unknown): boolean {
  return cause instanceof Refusal || (cause instanceof Unanswered && cause.kind === "unreadable");
}

async function greetLegacy({ ask, notify, client }: GreetOptions): Promise<Greeting> {
  const result = await phase(METHOD.initialize, () => ask(METHOD.initialize, initializeParams(client)));
  notify(METHOD.initialized, {});
  return readGreeting("legacy", result);
}

async function greetModern({ ask, client }: GreetOptions): Promise<Greeting> {
  const discover = (): Promise<JsonObject> => ask(METHOD.discover, withEnvelope({}, client, {}));
  // A server that refuses the revision and in the same breath names it as supported is asked once more.
  const corrected = (error: unknown): Promise<JsonObject> => {
    if (error instanceof Refusal && error.code === CODE.unsupportedVersion && supportsModern(error.data)) return discover();
    throw error;
  };
  const result = await phase(METHOD.discover, () => discover().catch(corrected));
  if (!offersModern(result)) {
    throw new ConnectFailed(METHOD.discover, "the upstream offers no protocol revision that we speak");
  }
  return readGreeting("modern", result);
}

async function phase<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConnectFailed) throw error;
    throw new ConnectFailed(name, textOf(error), undefined, { cause: error });
  }
}
