/**
 * The sender of texts: one request to an embeddings endpoint, and whether its answer can be believed.
 *
 * Owns: which members of a request the endpoint was found not to take; the probe that goes with every request.
 * Speaks: texts in; unit vectors of one dimension, or a fault in words, out.
 * Never: retries for time (embeddings.ts does), throws, or mixes what two embedders made.
 *
 * Every request carries a fixed text first. What comes back for it says whose vectors the others are: a server that loads another
 * model under the same name is noticed with the first answer, not with the first wrong search.
 */
import type { JsonObject } from "../model/json.js";
import { openExchanges, parsedJson, readBounded, type ClientOptions, type NoAnswer } from "./client.js";
import { embeddingsBody, plainer, readEmbeddings, type EmbeddingsDialect } from "./embeddings-translate.js";
import { complaintOf } from "./llm-translate.js";

const PROBE = "Look up one order by its number; list, create, change and delete things on a server.";

export interface TextSenderOptions extends ClientOptions {
  readonly model: string;
  /** Dimensions to ask for; default the model's own. */
  readonly dimensions: number | undefined;
}

export type Embedded =
  /** One place a text; undefined where the endpoint gave none that can be one. */
  | { readonly kind: "vectors"; readonly probe: Float32Array; readonly vectors: readonly (Float32Array | undefined)[] }
  /** It may pass. */
  | { readonly kind: "later"; readonly why: string; readonly said: string; readonly afterMs: number | undefined }
  /** These texts are not taken as they stand: too many, too long, or one of them refused. */
  | { readonly kind: "unfit"; readonly why: string; readonly said: string }
  /** Nothing will be taken until somebody changes something. */
  | { readonly kind: "denied"; readonly why: string; readonly said: string };

export type SendTexts = (texts: readonly string[], withinMs: number) => Promise<Embedded>;

/** Members given up in one request. */
const DIALECTS = 3;

export function openTextSender(options: TextSenderOptions): SendTexts {
  const exchange = openExchanges(options);
  let dialect: EmbeddingsDialect = { float: true, dimensions: options.dimensions };

  async function send(texts: readonly string[], withinMs: number): Promise<NoAnswer | { kind: "read"; body: unknown }> {
    return await exchange(async (client, signal) => {
      const body = embeddingsBody(options.model, texts, dialect);
      const response = await client.post<Response>("/embeddings", { body, signal, __binaryResponse: true }).asResponse();
      return { kind: "read" as const, body: parsedJson(await readBounded(response, options.answerBytes)) };
    }, withinMs);
  }

  return async (texts, withinMs) => {
    const until = options.clock.elapsedMs() + withinMs;
    for (let tries = 1; ; tries++) {
      const asked = dialect;
      const sent = await send([PROBE, ...texts], until - options.clock.elapsedMs());
      if (sent.kind === "read") return readAnswer(sent.body, texts.length, asked);
      const plain = sent.kind === "status" && isComplaint(sent.status) ? plainer(asked, sent.said) : undefined;
      if (plain === undefined || tries === DIALECTS) return faultOf(sent, withinMs);
      dialect = plain;
    }
  };
}

function readAnswer(body: unknown, count: number, dialect: EmbeddingsDialect): Embedded {
  const later = (why: string, said = ""): Embedded => ({ kind: "later", why, said, afterMs: undefined });
  const read = readEmbeddings(body, count + 1);
  if (read === undefined) {
    const said = complaintOf(body as JsonObject | undefined) ?? "";
    return later("the embeddings endpoint answered with no list of vectors", said);
  }
  const [probe, ...vectors] = read;
  if (probe === undefined) return later("the embeddings endpoint gave numbers that are no vector (none, null, or all zero)");
  if (dialect.dimensions !== undefined && probe.length !== dialect.dimensions) {
    const why = `the embeddings endpoint gave ${probe.length} numbers a text where dimensions says ${dialect.dimensions}`;
    return { kind: "denied", why, said: "" };
  }
  return { kind: "vectors", probe, vectors: vectors.map((vector) => (vector?.length === probe.length ? vector : undefined)) };
}

function isComplaint(status: number): boolean {
  return status === 400 || status === 422;
}

function faultOf(sent: NoAnswer, withinMs: number): Embedded {
  switch (sent.kind) {
    case "late": {
      const why = `the embeddings endpoint did not answer within ${withinMs < 1_000 ? `${withinMs} ms` : `${withinMs / 1_000} s`}`;
      return { kind: "later", why, said: "", afterMs: undefined };
    }
    case "unreachable":
      return { kind: "later", why: "the embeddings endpoint cannot be reached", said: sent.said, afterMs: undefined };
    case "status": {
      const { status, said, afterMs } = sent;
      const why = `the embeddings endpoint answered with status ${status}`;
      if (isComplaint(status) || status === 413) return { kind: "unfit", why, said };
      if (status === 401 || status === 403 || status === 404) return { kind: "denied", why, said };
      return { kind: "later", why, said, afterMs };
    }
  }
}
