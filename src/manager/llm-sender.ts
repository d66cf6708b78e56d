/**
 * The sender: one request to an endpoint, bounded in time and bytes.
 *
 * Owns: the client package and what it must not be left to do. Its own parsing throws a bare TypeError on an empty 200, its timeout
 *       ends with the headers, and it obeys any Retry-After: so no retries, a deadline of our own over head and body, a bound on bytes.
 * Speaks: HTTP, through the package; what came of it as data.
 * Never: throws, outlives its deadline, follows a redirect, or prints.
 */
import type OpenAI from "openai";
import type { Clock } from "../model/ports.js";
import type { Dialect } from "./ladder.js";
import { chatBody, complaintOf, readCompletion, retryAfterMs, type Asked } from "./llm-translate.js";
import type { Sent } from "./llm-verdict.js";

export interface SenderOptions {
  readonly baseUrl: string;
  /** Empty for endpoints that want none. */
  readonly apiKey: string;
  readonly answerBytes: number;
  readonly clock: Clock;
}

export type Send = (asked: Asked, dialect: Dialect, withinMs: number) => Promise<Sent>;

export function openSender(options: SenderOptions): Send {
  const opening = openClient(options);
  // A package that cannot be loaded is an endpoint that cannot be reached; nobody awaits this promise before a question comes.
  opening.catch(() => undefined);
  return async (asked, dialect, withinMs) => {
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<Sent>((resolve) => {
      timer = setTimeout(() => {
        resolve({ kind: "late" });
        controller.abort();
      }, withinMs);
    });
    const exchanged = opening
      .then((client) => exchange(client, asked, dialect, controller.signal, options))
      .catch((error: unknown): Sent => ({ kind: "unreachable", said: messageOf(error) }));
    try {
      // A race as well as an abort: whatever the connection does with the signal, the question has its answer in time.
      return await Promise.race([deadline, exchanged]);
    } finally {
      clearTimeout(timer);
      // Ends what may still be arriving: an answer that was given up, or one longer than is read.
      controller.abort();
    }
  };
}

async function exchange(
  client: OpenAI,
  asked: Asked,
  dialect: Dialect,
  signal: AbortSignal,
  options: SenderOptions,
): Promise<Sent> {
  let response: Response;
  try {
    response = await client.chat.completions.create(chatBody(asked, dialect), { signal }).asResponse();
  } catch (error) {
    return readError(error, options.clock);
  }
  const text = await readBounded(response, options.answerBytes);
  return { kind: "read", ...readCompletion(parsedJson(text)) };
}

/** The client turns every status that is no success into an error with `status`, `headers` and the body it could read. */
function readError(error: unknown, clock: Clock): Sent {
  const { status, headers, error: body } = error as { status?: unknown; headers?: unknown; error?: unknown };
  if (typeof status !== "number") return { kind: "unreachable", said: messageOf(error) };
  const afterMs = headers instanceof Headers ? retryAfterMs(headers, Date.parse(clock.now())) : undefined;
  return { kind: "status", status, said: complaintOf({ error: body }) ?? messageOf(error), afterMs };
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

/** The body as text, at most so many bytes; what is longer is no answer of ours and reads as none. */
async function readBounded(response: Response, bytesMost: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMost) return "";
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Loaded only where a model is configured: the package takes longer to load than the daemon to start. */
async function openClient(options: SenderOptions): Promise<OpenAI> {
  const { default: Client } = await import("openai");
  return new Client({
    baseURL: options.baseUrl,
    // The package wants one; endpoints without keys do not look at it.
    apiKey: options.apiKey === "" ? "none" : options.apiKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: "off",
    fetch: boundedFetch(options.answerBytes),
    // Prompts go where the operator said and nowhere else.
    fetchOptions: { redirect: "error" },
  });
}

/** Bodies of errors are read by the client without a bound; this ends them. */
function boundedFetch(bytesMost: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok || response.body === null) return response;
    let bytes = 0;
    const bounded = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > bytesMost) controller.terminate();
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
  };
}
