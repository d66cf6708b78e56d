/**
 * Answers too large for an agent's context: what fits of them, and a handle to the whole.
 *
 * Owns: what of a result, or of an upstream's error, is given where the cap is smaller; that it never takes more than the cap.
 * Speaks: tool results of MCP and Refusals.
 * Never: keeps anything (operations/calls.ts does).
 *
 * Blocks from the beginning and from the end are given whole as far as they fit, and one block says what is left out between them. A
 * block that alone is too large is cut where it is text; anything else (images, blobs, structured data) is whole or replaced by a line:
 * half a base64 or half a JSON value is worse than none. Beside the content stays what is small.
 */
import { Refusal } from "../model/fault.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { headAndTail, jsonBytes, pagesOf, type Printed } from "./cuts.js";

/** Share of the cap for what stands beside the content: isError, the members of `_meta`, structured content. */
const BESIDE_SHARE = 0.25;
/** A block above this share of the room for all may be cut; below it, it is given whole or not at all. */
const LARGE_SHARE = 0.4;
/** Share of the room that blocks from the beginning may take before those from the end are looked at. */
const HEAD_SHARE = 0.6;
/** Members left out beside the content that are named; the others are counted. */
const NAMED_MOST = 2;
/** Names longer than this, or of other characters, are not repeated. */
const NAME = /^[\w./:$-]{1,32}$/;
/** Bytes of an error's answer beside its message and data, note included. */
const ERROR_FRAME_BYTES = 700;

/** What is kept: the JSON text of the whole answer, and the address at which it can be read, e.g. `steward://results/abc`. */
export interface Whole {
  readonly text: string;
  readonly handle: string;
}

/** The whole of a result: printed, with what its parts weigh where they were weighed. */
export type WholeResult = Whole & Partial<Pick<Printed, "bytes" | "bytesOf">>;

/** What is given of a result above the cap. Its JSON takes `capBytes` at most, where that is 900 or more. */
export function excerptResult(result: JsonObject, whole: WholeResult, capBytes: number): JsonObject {
  const bytesOf = whole.bytesOf ?? jsonBytes;
  const { kept, left } = keepSmall(result, capBytes * BESIDE_SHARE, "_meta", bytesOf);
  const without = left.length === 0 ? "" : `, without ${namesOf(left)}`;
  const note: JsonObject = {
    type: "text",
    text: `[The result has ${whole.bytes ?? Buffer.byteLength(whole.text)} bytes; this is an excerpt${without}. ${wayTo(whole)}]`,
  };
  const blocks = Array.isArray(result["content"]) ? result["content"] : [];
  const room = capBytes - jsonBytes({ ...kept, content: [note] });
  return { ...kept, content: [...fitting(blocks, room, whole.handle, bytesOf), note] };
}

function wayTo({ text, handle }: Whole): string {
  return `Read ${handle} for the whole, or ${handle}/1 to ${handle}/${pagesOf(text)} page by page.`;
}

/**
 * Bytes that an upstream's error takes as the answer of a call: message and data are in it twice, as a sentence and as structured
 * content, and JSON inside a text is escaped.
 */
export function refusalBytes({ message, data }: Refusal): number {
  const json = data === undefined ? "" : JSON.stringify(data);
  return ERROR_FRAME_BYTES + 2 * jsonBytes(message) + Buffer.byteLength(json) + jsonBytes(json);
}

/** What is given of an upstream's error above the cap: beginning and end of its message, and of its data the small members. */
export function excerptRefusal(refusal: Refusal, whole: Whole, capBytes: number): Refusal {
  const room = capBytes - ERROR_FRAME_BYTES;
  const message = headAndTail(refusal.message, room / 4);
  const note = `[The error has ${Buffer.byteLength(whole.text)} bytes; this is an excerpt. ${wayTo(whole)}]`;
  const { data } = refusal;
  // Escaped inside a text, JSON takes at most twice its bytes, and it is there a second time.
  const most = room / 8;
  if (!isJsonObject(data)) {
    const small = data !== undefined && jsonBytes(data) <= most ? data : undefined;
    return new Refusal(refusal.code, `${message} ${note}`, small);
  }
  const { kept } = keepSmall({ data }, most, "data");
  return new Refusal(refusal.code, `${message} ${note}`, kept["data"]);
}

interface Member {
  /** The member of an object inside whose members are weighed one by one. */
  readonly inside?: string;
  readonly key: string;
  readonly value: JsonValue;
  /** Of its JSON, key and comma included. */
  readonly bytes: number;
}

/** All members but the content, smallest first, as far as they fit into `bytes`; those of `_meta` (`split`) one by one. */
function keepSmall(
  object: JsonObject,
  bytes: number,
  split: string,
  bytesOf: Printed["bytesOf"] = jsonBytes,
): { readonly kept: JsonObject; readonly left: Member[] } {
  const members: Member[] = [];
  let used = 0;
  for (const [key, value] of Object.entries(object)) {
    if (key === "content" && Array.isArray(value)) continue;
    if (key === split && isJsonObject(value) && Object.keys(value).length > 0) {
      used += jsonBytes(key) + 4;
      for (const [inner, member] of Object.entries(value)) members.push({ inside: key, ...memberOf(inner, member, bytesOf) });
    } else members.push(memberOf(key, value, bytesOf));
  }
  members.sort((a, b) => a.bytes - b.bytes);
  let end = 0;
  for (const member of members) {
    used += member.bytes;
    if (used > bytes) break;
    end += 1;
  }
  const kept = new Set(members.slice(0, end).map(({ inside, key }) => JSON.stringify([inside ?? null, key])));
  const isKept = (inside: string | null, key: string): boolean => kept.has(JSON.stringify([inside, key]));
  // In the order in which they were written.
  const entries = Object.entries(object).flatMap(([key, value]): [string, JsonValue][] => {
    if (isKept(null, key)) return [[key, value]];
    if (key !== split || !isJsonObject(value)) return [];
    const inner = Object.entries(value).filter(([name]) => isKept(split, name));
    return inner.length === 0 ? [] : [[key, Object.fromEntries(inner)]];
  });
  return { kept: Object.fromEntries(entries), left: members.slice(end) };
}

function memberOf(key: string, value: JsonValue, bytesOf: Printed["bytesOf"]): Omit<Member, "inside"> {
  return { key, value, bytes: jsonBytes(key) + bytesOf(value) + 2 };
}

/** The largest by name, the others counted. */
function namesOf(left: readonly Member[]): string {
  const largest = [...left].reverse();
  const said = largest.slice(0, NAMED_MOST).map(({ inside, key, bytes }) => {
    const name = NAME.test(key) ? key : "a member";
    return `${inside === undefined ? name : `${inside}.${name}`} (${bytes} bytes)`;
  });
  const others = largest.slice(NAMED_MOST);
  if (others.length > 0) said.push(`${others.length} more (${others.reduce((sum, { bytes }) => sum + bytes, 0)} bytes)`);
  return said.join(", ");
}

interface Block {
  readonly given: JsonValue;
  /** Of what is given, comma included. */
  readonly bytes: number;
  /** Of what the upstream sent. */
  readonly whole: number;
}

/** The blocks as far as they fit into `room` bytes: large ones cut, and the middle left out where that is not enough. */
function fitting(content: readonly JsonValue[], room: number, handle: string, bytesOf: Printed["bytesOf"]): readonly JsonValue[] {
  const blocks = content.map((given): Block => {
    const bytes = bytesOf(given) + 1;
    return { given, bytes, whole: bytes };
  });
  if (total(blocks) <= room) return content;
  const cut = cutLarge(blocks, room, handle);
  if (total(cut) <= room) return cut.map(({ given }) => given);
  const free = room - jsonBytes(gap(blocks, blocks.length, handle)) - 1;
  if (free < 0) return [];
  let head = 0;
  let tail = cut.length;
  let used = 0;
  const fits = (block: Block | undefined, most: number): boolean => {
    if (block === undefined || head >= tail || used + block.bytes > most) return false;
    used += block.bytes;
    return true;
  };
  while (fits(cut[head], free * HEAD_SHARE)) head += 1;
  while (fits(cut[tail - 1], free)) tail -= 1;
  while (fits(cut[head], free)) head += 1;
  const given = (some: readonly Block[]): JsonValue[] => some.map((block) => block.given);
  return [...given(cut.slice(0, head)), gap(blocks.slice(head, tail), blocks.length, handle), ...given(cut.slice(tail))];
}

function total(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + block.bytes, 0);
}

function gap(left: readonly Block[], of: number, handle: string): JsonObject {
  const bytes = left.reduce((sum, block) => sum + block.whole, 0);
  return { type: "text", text: `[… ${left.length} of ${of} blocks (${bytes} bytes) left out here; read them in ${handle} …]` };
}

/** Large texts cut to one size, so that all fit if they can; what is large and no text replaced by a line. */
function cutLarge(blocks: readonly Block[], room: number, handle: string): readonly Block[] {
  const limit = room * LARGE_SHARE;
  const replaced = blocks.map((block) =>
    block.bytes <= limit || isText(block.given) ? block : withGiven(block, lineFor(block, handle)),
  );
  let large = replaced.filter((block) => block.bytes > limit && isText(block.given));
  let rest = total(replaced) - total(large);
  const level = (): number => Math.max(limit, (room - rest) / Math.max(1, large.length));
  for (;;) {
    const above = large.filter((block) => block.bytes > level());
    if (above.length === large.length) break;
    rest += total(large) - total(above);
    large = above;
  }
  const cut = new Set(large);
  const most = level();
  return replaced.map((block) => (cut.has(block) && isText(block.given) ? withGiven(block, cutText(block.given, most)) : block));
}

function withGiven(block: Block, given: JsonValue): Block {
  return { ...block, given, bytes: jsonBytes(given) + 1 };
}

type TextBlock = JsonObject & { readonly text: string };

function isText(block: JsonValue): block is TextBlock {
  return isJsonObject(block) && block["type"] === "text" && typeof block["text"] === "string";
}

function lineFor({ given, whole }: Block, handle: string): JsonObject {
  const named = isJsonObject(given) && typeof given["type"] === "string" && NAME.test(given["type"]);
  const type = named ? String(given["type"]) : "content";
  return { type: "text", text: `[${type} of ${whole} bytes left out; read it in ${handle}.]` };
}

/** Annotations of a text stay where they are small beside it. */
function cutText(block: TextBlock, bytes: number): JsonObject {
  const { text, ...others } = block;
  const beside = jsonBytes(others);
  const isSmall = beside <= bytes / 4;
  const said = isSmall ? "" : `\n[${beside} bytes beside this text left out]`;
  const frame = isSmall ? others : { type: "text" };
  const free = bytes - jsonBytes({ ...frame, text: said }) - 1;
  return { ...frame, text: `${headAndTail(text, free)}${said}` };
}
