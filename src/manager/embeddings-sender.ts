/**
 * The sender of texts: one request to an embeddings endpoint, and whether its answer can be believed.
 *
 * Owns: which members of a request, and how many texts, the endpoint was found not to take; the probe that goes with every request.
 * Speaks: texts in; unit vectors of one dimension, or a fault in words, out.
 * Never: retries for time (embeddings.ts does), throws, or mixes what two embedders made.
 *
 * Every request carries a fixed text first. What comes back for it says whose vectors the others are: a server that loads another
 * model under the same name is noticed with the first answer, not with the first wrong search.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
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

/** One place a text; undefined where the endpoint gave none that can be one: `lacking` says how that looked. */
export interface Vectors {
  readonly kind: "vectors";
  readonly probe: Float32Array;
  readonly vectors: readonly (Float32Array | undefined)[];
  readonly lacking: string | undefined;
}

export type Embedded =
  | Vectors
  /** It may pass. */
  | { readonly kind: "later"; readonly why: string; readonly said: string; readonly afterMs: number | undefined }
  /** These texts are not taken as they stand: too many, too long, or one of them refused. */
  | { readonly kind: "unfit"; readonly why: string; readonly said: string }
  /** Nothing will be taken until somebody changes something. */
  | { readonly kind: "denied"; readonly why: string; readonly said: string };

/** No text was asked for, or one of them has a vector. */
export function hasVector({ vectors }: Vectors): boolean {
  return vectors.length === 0 || vectors.some((vector) => vector !== undefined);
}

export type SendTexts = (texts: readonly string[], withinMs: number) => Promise<Embedded>;

/** Members given up in one request. */
const DIALECTS = 3;
/** Requests of one text that are under way together. */
const SINGLES_AT_ONCE = 4;

export function openTextSender(options: TextSenderOptions): SendTexts {
  const exchange = openExchanges(options);
  let dialect: EmbeddingsDialect = { float: true, dimensions: options.dimensions, bare: false };

  /** What was found of requests with several texts: not taken where one alone is. */
  let several: "unknown" | "taken" | "refused" = "unknown";
  /** A list was taken; where none was, one text may have to come as a bare text. */
  let isListTaken = false;

  async function send(texts: readonly string[], withinMs: number): Promise<NoAnswer | { kind: "read"; body: unknown }> {
    return await exchange(async (client, signal) => {
      const body = embeddingsBody(options.model, texts, dialect);
      const response = await client.post<Response>("/embeddings", { body, signal, __binaryResponse: true }).asResponse();
      return { kind: "read" as const, body: parsedJson(await readBounded(response, options.answerBytes)) };
    }, withinMs);
  }

  /** One request in the dialect that is known, plainer where a member of it is complained of. */
  async function request(texts: readonly string[], untilMs: number): Promise<Sent> {
    for (let tries = 1; ; tries++) {
      const asked = dialect;
      const sent = await send(texts, untilMs - options.clock.elapsedMs());
      if (sent.kind === "read") {
        if (texts.length > 1) several = "taken";
        isListTaken ||= !asked.bare;
        return { ...sent, asked };
      }
      const isMeant = sent.kind === "status" && isComplaint(sent.status);
      const plain = isMeant ? plainer(asked, sent.said) : undefined;
      if (plain !== undefined && tries < DIALECTS) dialect = plain;
      else if (isMeant && texts.length === 1 && !isListTaken && !asked.bare) return await requestBare(texts, untilMs, sent);
      else return sent;
    }
  }

  /** One text as a text, not as a list of one; remembered where that is taken. */
  async function requestBare(texts: readonly string[], untilMs: number, refused: NoAnswer): Promise<Sent> {
    const before = dialect;
    dialect = { ...dialect, bare: true };
    const sent = await send(texts, untilMs - options.clock.elapsedMs());
    if (sent.kind === "read") return { ...sent, asked: dialect };
    dialect = before;
    return refused;
  }

  /** Each text by a request of its own, a few at a time. A text that is refused has no vector; any other fault is the answer's. */
  async function sendSingly(texts: readonly string[], untilMs: number, withinMs: number): Promise<Embedded> {
    const rows: { index: number; embedding: JsonValue }[] = [];
    let used = dialect;
    for (let at = 0; at < texts.length; at += SINGLES_AT_ONCE) {
      const some = texts.slice(at, at + SINGLES_AT_ONCE);
      const sent = await Promise.all(some.map((text) => request([text], untilMs)));
      for (const [i, one] of sent.entries()) {
        if (one.kind === "read") {
          used = one.asked;
          const vector = embeddingOf(one.body);
          if (vector !== undefined) rows.push({ index: at + i, embedding: vector });
          continue;
        }
        const fault = faultOf(one, withinMs);
        // Fewer at a time may be done in time.
        if (one.kind === "late" && texts.length > 2) return { kind: "unfit", why: whyOf(fault), said: "" };
        if (fault.kind !== "unfit" || at + i === 0 || texts.length <= 2) return fault;
      }
    }
    return readAnswer({ data: rows }, texts.length - 1, used);
  }

  return async (texts, withinMs) => {
    const untilMs = options.clock.elapsedMs() + withinMs;
    const all = [PROBE, ...texts];
    if (several === "refused" && all.length > 1) return await sendSingly(all, untilMs, withinMs);
    const sent = await request(all, untilMs);
    if (sent.kind === "read") return readAnswer(sent.body, texts.length, sent.asked);
    const fault = faultOf(sent, withinMs);
    // Two are refused: is it their number? With more of them, one that is refused by itself is the likelier cause; fewer are tried first.
    if (fault.kind !== "unfit" || all.length !== 2 || several === "taken") return fault;
    const singly = await sendSingly(all, untilMs, withinMs);
    if (singly.kind !== "vectors") return fault;
    several = "refused";
    return singly;
  };
}

type Sent = NoAnswer | { readonly kind: "read"; readonly body: unknown; readonly asked: EmbeddingsDialect };

function whyOf(fault: Embedded): string {
  return fault.kind === "vectors" ? "" : fault.why;
}

/** The vector as written in an answer to one text. */
function embeddingOf(body: unknown): JsonValue | undefined {
  const rows = isJsonObject(body) ? body["data"] : undefined;
  const [row] = Array.isArray(rows) && rows.length === 1 ? rows : [];
  return isJsonObject(row) ? row["embedding"] : undefined;
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
