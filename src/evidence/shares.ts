/**
 * Whose is what in one log: logs of several programs, put into one file, are each read by their own reader.
 *
 * An entry that says by itself whose it is goes to that format. One that does not is of the program that wrote the log, as far as that was
 * found out: lines of a session need not all say it.
 */
import type { JsonObject } from "../model/json.js";
import { codex } from "./codex.js";
import type { LogFormat } from "./format.js";
import { isMessage, openAiChat } from "./openai-chat.js";

export interface Share {
  readonly format: LogFormat;
  readonly documents: JsonObject[];
}

/** The shares of a log that `main` recognises, its own first; each keeps the order of the log. */
export function sharesOf(documents: readonly JsonObject[], main: LogFormat, formats: readonly LogFormat[]): Share[] {
  const shares = new Map<LogFormat, Share>([[main, { format: main, documents: [] }]]);
  for (const document of documents) {
    const format = formats.find((one) => one.isOwn(document)) ?? (isBareChat(document, main) ? openAiChat : main);
    const share = shares.get(format) ?? { format, documents: [] };
    share.documents.push(document);
    shares.set(format, share);
  }
  return [...shares.values()].filter((share) => share.documents.length > 0);
}

/** Messages of a chat one a line; older rollouts of Codex have lines that look the same. */
function isBareChat(document: JsonObject, main: LogFormat): boolean {
  return main !== codex && isMessage(document);
}

/** How many entries each share has, in words. */
export function sharesInWords(shares: readonly Share[]): string {
  return shares.map(({ format, documents }) => `${documents.length} of ${format.wrote}`).join(", ");
}
