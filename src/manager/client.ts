/**
 * The client package, and what it must not be left to do: its timeout ends with the headers, it obeys any Retry-After, reads bodies
 * without a bound and follows redirects. So no retries, a deadline of our own over head and body, a bound on bytes.
 */
import type OpenAI from "openai";
import type { Clock } from "../model/ports.js";
import { complaintOf, retryAfterMs } from "./llm-translate.js";

export interface ClientOptions {
  readonly baseUrl: string;
  /** Empty for endpoints that want none. */
  readonly apiKey: string;
  readonly answerBytes: number;
  readonly clock: Clock;
  /** Ends every exchange under way, and all that would begin. */
  readonly ended?: AbortSignal | undefined;
}

/** What came of a request that gave no answer to read. */
export type NoAnswer =
  | { readonly kind: "late" }
  | { readonly kind: "unreachable"; readonly said: string }
  | { readonly kind: "status"; readonly status: number; readonly said: string; readonly afterMs: number | undefined };

export type Exchange<Read> = (client: OpenAI, signal: AbortSignal) => Promise<Read>;

/** Runs one exchange within a time: nothing it does, or leaves undone, makes the answer late. */
export function openExchanges(
  options: ClientOptions,
): <Read>(exchange: Exchange<Read>, withinMs: number) => Promise<Read | NoAnswer> {
  const opening = openClient(options);
  // A package that cannot be loaded is an endpoint that cannot be reached; nobody awaits this promise before a question comes.
  opening.catch(() => undefined);
  return async (exchange, withinMs) => {
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let end = (): void => undefined;
    const deadline = new Promise<NoAnswer>((resolve) => {
      end = () => {
        resolve({ kind: "late" });
        controller.abort();
      };
      timer = setTimeout(end, withinMs);
    });
    options.ended?.addEventListener("abort", end);
    if (options.ended?.aborted === true) end();
    const exchanged = opening
      .then((client) => exchange(client, controller.signal))
      .catch((error: unknown) => readError(error, options.clock));
    try {
      // A race as well as an abort: whatever the connection does with the signal, the question has its answer in time.
      return await Promise.race([deadline, exchanged]);
    } finally {
      clearTimeout(timer);
      options.ended?.removeEventListener("abort", end);
      // Ends what may still be arriving: an answer that was given up, or one longer than is read.
      controller.abort();
    }
  };
}

/** The client turns every status that is no success into an error with `status`, `headers` and the body it could read. */
function readError(error: unknown, clock: Clock): NoAnswer {
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
export async function readBounded(response: Response, bytesMost: number): Promise<string> {
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

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Loaded only where a model is configured: the package takes longer to load than the daemon to start. */
async function openClient(options: ClientOptions): Promise<OpenAI> {
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
