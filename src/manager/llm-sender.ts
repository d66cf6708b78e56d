/**
 * The sender: one question to an endpoint, bounded in time and bytes.
 *
 * Owns: how a question goes out and its completion is read (client.ts owns the bounds).
 * Speaks: HTTP, through the package; what came of it as data.
 * Never: throws, outlives its deadline, follows a redirect, or prints.
 */
import { openExchanges, parsedJson, readBounded, type ClientOptions } from "./client.js";
import type { Dialect } from "./ladder.js";
import { chatBody, readCompletion, type Asked } from "./llm-translate.js";
import type { Sent } from "./llm-verdict.js";

export type Send = (asked: Asked, dialect: Dialect, withinMs: number) => Promise<Sent>;

export function openSender(options: ClientOptions): Send {
  const exchange = openExchanges(options);
  return (asked, dialect, withinMs) =>
    exchange(async (client, signal): Promise<Sent> => {
      const response = await client.chat.completions.create(chatBody(asked, dialect), { signal }).asResponse();
      // Its own parsing throws a bare TypeError on an empty 200.
      return { kind: "read", ...readCompletion(parsedJson(await readBounded(response, options.answerBytes))) };
    }, withinMs);
}
