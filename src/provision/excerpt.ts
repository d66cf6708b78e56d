/**
 * Results too large for an agent's context: head, tail and a handle to the rest.
 *
 * Text is cut between code points and the cut is said in the text; anything else (images, blobs, structured data) is either whole or
 * replaced by a link: a half base64 or a half JSON value is worse than none.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";

/** Shares of the byte cap given to the beginning and the end of texts. */
const HEAD_SHARE = 0.6;
const TAIL_SHARE = 0.2;
/** Characters of one page behind the handle. */
export const PAGE_CHARS = 50_000;

/** The excerpt of a result above the cap. `handle` is the address at which the whole can be read, e.g. `steward://results/abc`. */
export function excerptResult(result: JsonObject, capBytes: number, handle: string): JsonObject {
  const whole = JSON.stringify(result);
  const content = Array.isArray(result["content"]) ? result["content"] : [];
  const share = capBytes / Math.max(1, content.length);
  const kept = content.map((block) => shorten(block, share, handle));
  const { structuredContent, ...rest } = result;
  const fits = structuredContent !== undefined && Buffer.byteLength(JSON.stringify(structuredContent)) <= capBytes / 4;
  const pages = Math.ceil(whole.length / PAGE_CHARS);
  const note: JsonObject = {
    type: "text",
    text: `[The result has ${Buffer.byteLength(whole)} bytes; this is an excerpt. Read ${handle} for the whole, or ${handle}/1 to ${handle}/${pages} page by page.]`,
  };
  return { ...rest, content: [...kept, note], ...(fits ? { structuredContent } : {}) };
}

/** Page n (from 1) of the whole result's JSON text; undefined beyond the last. */
export function pageOf(text: string, page: number): string | undefined {
  const points = [...text.slice((page - 1) * PAGE_CHARS, page * PAGE_CHARS)];
  return points.length === 0 ? undefined : points.join("");
}

function shorten(block: JsonValue, shareBytes: number, handle: string): JsonValue {
  const bytes = Buffer.byteLength(JSON.stringify(block));
  if (bytes <= shareBytes) return block;
  if (isJsonObject(block) && block["type"] === "text" && typeof block["text"] === "string") {
    return { ...block, text: headAndTail(block["text"], shareBytes) };
  }
  const type = isJsonObject(block) && typeof block["type"] === "string" ? block["type"] : "content";
  return { type: "text", text: `[${type} of ${bytes} bytes left out; read it in ${handle}.]` };
}

function headAndTail(text: string, shareBytes: number): string {
  const head = takeBytes(text, shareBytes * HEAD_SHARE);
  const tail = takeBytesFromEnd(text, shareBytes * TAIL_SHARE);
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

function takeBytes(text: string, bytes: number): string {
  let used = 0;
  let end = 0;
  for (const point of text) {
    used += Buffer.byteLength(point);
    if (used > bytes) break;
    end += point.length;
  }
  return text.slice(0, end);
}

function takeBytesFromEnd(text: string, bytes: number): string {
  let used = 0;
  let start = text.length;
  while (start > 0) {
    const low = text.charCodeAt(start - 1);
    const width = low >= 0xdc00 && low <= 0xdfff && start > 1 ? 2 : 1;
    used += Buffer.byteLength(text.slice(start - width, start));
    if (used > bytes) break;
    start -= width;
  }
  return text.slice(start);
}
