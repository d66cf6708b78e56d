/**
 * The embeddings wire: texts as endpoints take them, and what came back as vectors.
 *
 * Owns: every name of that API that is used here.
 * Speaks: texts in, request bodies out; any JSON in, unit vectors out.
 * Never: throws for what a server sent, or takes numbers that cannot be a vector ([L09]: null, NaN, all zero, another length).
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { unit } from "../retrieve/vectors.js";

/** Members of a request that not every server takes. */
export interface EmbeddingsDialect {
  /** `encoding_format: "float"`: asked for by name, since the package otherwise asks for base64. */
  readonly float: boolean;
  readonly dimensions: number | undefined;
  /** One text goes as a text: some servers take no list. */
  readonly bare: boolean;
}

export function embeddingsBody(model: string, texts: readonly string[], dialect: EmbeddingsDialect): Record<string, unknown> {
  return {
    model,
    input: dialect.bare && texts.length === 1 ? texts[0] : texts,
    ...(dialect.float ? { encoding_format: "float" } : {}),
    ...(dialect.dimensions === undefined ? {} : { dimensions: dialect.dimensions }),
  };
}

/** The dialect without the member a complaint names ([L11]: many models take no dimensions); undefined where it names none. */
export function plainer(dialect: EmbeddingsDialect, complaint: string): EmbeddingsDialect | undefined {
  if (dialect.dimensions !== undefined && /dimension|matryoshka/i.test(complaint)) return { ...dialect, dimensions: undefined };
  if (dialect.float && /encoding[_ ]?format|base64/i.test(complaint)) return { ...dialect, float: false };
  return undefined;
}

export type ReadEmbeddings =
  /** One place a text, in order: its vector, or undefined where none came that could be one. */
  | { readonly kind: "vectors"; readonly rows: number; readonly vectors: readonly (Float32Array | undefined)[] }
  /** Fewer than texts, and no word of which texts they are for. */
  | { readonly kind: "short"; readonly rows: number }
  /** What is whose cannot be told. */
  | { readonly kind: "confused"; readonly how: string }
  | { readonly kind: "no-list" };

/**
 * Which vector is whose: by the rows' indexes, or by their order where no row has one. What is ambiguous is not taken: a vector of
 * another text would be searched for ever.
 */
export function readEmbeddings(body: unknown, count: number): ReadEmbeddings {
  const rows = isJsonObject(body) ? body["data"] : undefined;
  if (!Array.isArray(rows)) return { kind: "no-list" };
  const places = rows.map((row) => (isJsonObject(row) ? row["index"] : undefined));
  const vectors: (Float32Array | undefined)[] = new Array<undefined>(count).fill(undefined);
  if (places.every((place) => place === undefined || place === null)) {
    if (rows.length < count) return { kind: "short", rows: rows.length };
    if (rows.length > count) return { kind: "confused", how: `${rows.length} vectors for ${count} texts` };
    rows.forEach((row, at) => (vectors[at] = isJsonObject(row) ? readVector(row["embedding"]) : undefined));
    return { kind: "vectors", rows: rows.length, vectors };
  }
  const seen = new Set<number>();
  for (const [at, place] of places.entries()) {
    const how = misplaced(place, count, seen);
    if (how !== undefined) return { kind: "confused", how };
    seen.add(Number(place));
    vectors[Number(place)] = readVector((rows[at] as JsonObject)["embedding"]);
  }
  return { kind: "vectors", rows: rows.length, vectors };
}

function misplaced(place: JsonValue | undefined, count: number, seen: ReadonlySet<number>): string | undefined {
  if (place === undefined || place === null) return "some vectors with an index and some without";
  if (typeof place !== "number" || !Number.isSafeInteger(place) || place < 0 || place >= count)
    return `a vector under index ${JSON.stringify(place).slice(0, 20)} where ${count} texts were asked for`;
  return seen.has(place) ? `two vectors under index ${place}` : undefined;
}

function readVector(value: JsonValue | undefined): Float32Array | undefined {
  if (typeof value === "string") return readPacked(value);
  if (!Array.isArray(value) || value.length === 0 || !value.every((one) => typeof one === "number")) return undefined;
  return unit(value);
}

/** 32-bit floats, little-endian, in base64; undefined where it cannot be a vector. */
export function readPacked(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return unit(Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(i * 4, true)));
}

export function packed(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * 4));
  return bytes.toString("base64");
}
