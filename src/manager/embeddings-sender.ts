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
import { embeddingsBody, plainer, readEmbeddings, type EmbeddingsDialect, type ReadEmbeddings } from "./embeddings-translate.js";
import { complaintOf } from "./llm-translate.js";

/** A text that no endpoint has a reason to refuse: tells whether it is one text, or the endpoint, that something is wrong with. */
export const PLAIN_TEXT = "Send a short message to a person.";

const PROBE = "Look up one order by its number; list, create, change and delete things on a server.";

export interface TextSenderOptions extends ClientOptions {
  readonly model: string;
  /** Dimensions to ask for; default the model's own. */
  readonly dimensions: number | undefined;
}

export type Embedded =
  /** One place a text; undefined where the endpoint gave none that can be one: `lacking` says how that looked. */
  | {
      readonly kind: "vectors";
      readonly probe: Float32Array;
      readonly vectors: readonly (Float32Array | undefined)[];
      readonly lacking: string | undefined;
    }
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
  switch (read.kind) {
    case "no-list":
      return later("the embeddings endpoint answered with no list of vectors", complaintOf(body as JsonObject | undefined) ?? "");
    case "confused":
      return later(`the embeddings endpoint gave ${read.how}: which vector is whose cannot be told`);
    case "short": {
      const why = `the embeddings endpoint gave ${tooFew(read.rows, count + 1)}`;
      return count === 0 ? later(why) : { kind: "unfit", why, said: "" };
    }
    case "vectors":
      return readRows(read, dialect);
  }
}

function readRows(read: Extract<ReadEmbeddings, { kind: "vectors" }>, dialect: EmbeddingsDialect): Embedded {
  const [probe, ...vectors] = read.vectors;
  if (probe === undefined) {
    const why = "the embeddings endpoint gave numbers that are no vector (none, null, or all zero)";
    return { kind: "later", why, said: "", afterMs: undefined };
  }
  if (dialect.dimensions !== undefined && probe.length !== dialect.dimensions) {
    const why = `the embeddings endpoint gave ${probe.length} numbers a text where dimensions says ${dialect.dimensions}`;
    return { kind: "denied", why, said: "" };
  }
  const whole = vectors.map((vector) => (vector?.length === probe.length ? vector : undefined));
  return { kind: "vectors", probe, vectors: whole, lacking: lackingOf(read, probe.length) };
}

/** How those texts look that got no vector; undefined where all have theirs. */
function lackingOf({ rows, vectors }: Extract<ReadEmbeddings, { kind: "vectors" }>, dimension: number): string | undefined {
  if (rows < vectors.length) return `the embeddings endpoint gave ${tooFew(rows, vectors.length)}`;
  const odd = vectors.find((vector) => vector?.length !== dimension);
  if (odd !== undefined) return `the embeddings endpoint gave ${odd.length} numbers for one text and ${dimension} for another`;
  return vectors.includes(undefined)
    ? "the embeddings endpoint gave numbers that are no vector (none, null, or all zero)"
    : undefined;
}

function tooFew(rows: number, texts: number): string {
  const of = texts === 1 ? "one text" : `${texts} texts`;
  return rows === 0 ? `no vector for ${of}` : `only ${rows} vector${rows === 1 ? "" : "s"} for ${of}`;
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
