/**
 * Request bodies, bounded before anything is buffered.
 *
 * Owns: the limit, reading, JSON parsing.
 * Speaks: IncomingMessage in; JSON out; Fault `input-too-large` and `input-invalid`.
 * Never: what the JSON means.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "../../model/fault.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import { isDeeperThan, JSON_LEVELS } from "../../model/json.js";

/** Thrown for a body that is not JSON, or deeper than anything here can handle, so that MCP routes can answer with a parse error. */
export class NotJson extends Error {}

/**
 * Reads a body as JSON. A declared length above the limit is refused at once, an undeclared one at the limit; the
 * connection is then ended, and what is still on its way is read and dropped, within bounds.
 */
export async function readJson(req: IncomingMessage, res: ServerResponse, limitBytes: number): Promise<unknown> {
  const declared = req.headers["content-length"];
  if (declared !== undefined && Number(declared) > limitBytes) throw tooLarge(req, res, limitBytes);
  const bytes = await readBytes(req, limitBytes);
  if (bytes === undefined) throw tooLarge(req, res, limitBytes);
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    throw new NotJson(bytes.length === 0 ? "The body is empty." : "The body is not JSON.");
  }
  if (isDeeperThan(value, JSON_LEVELS)) throw new NotJson(`The body is nested deeper than ${JSON_LEVELS} levels.`);
  return value;
}

/** All bytes, or undefined as soon as they are more than the limit (the request then goes on, unheard). */
function readBytes(req: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limitBytes) chunks.push(chunk);
      else finish(() => resolve(undefined));
    };
    const onEnd = (): void => finish(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)));
    const onGone = (): void => finish(() => reject(new Fault("call-cancelled", "The request ended before its body did.")));
    function finish(settle: () => void): void {
      req.off("data", onData);
      req.off("end", onEnd);
      req.off("close", onGone);
      settle();
    }
    req.on("data", onData);
    req.on("end", onEnd);
    req.on("close", onGone);
    req.on("error", onGone);
  });
}

/**
 * A socket that is cut while its client still writes takes the answer with it: the client reads only when it has written.
 * So our side ends with the answer, and the rest is let in until the client has seen it.
 */
function tooLarge(req: IncomingMessage, res: ServerResponse, limitBytes: number): Fault {
  const { socket } = req;
  let dropped = 0;
  req.on("data", (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > SURFACE_LIMITS.droppedBytes) socket.destroy();
  });
  req.on("error", () => undefined);
  res.once("finish", () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), SURFACE_LIMITS.droppedMs).unref();
    socket.once("close", () => clearTimeout(timer));
  });
  return new Fault(
    "input-too-large",
    `At most ${limitBytes} bytes are taken; more with "steward": {"policy": {"requestBytes": …}} in config/steward.json.`,
    { limit: limitBytes, key: "steward.policy.requestBytes" },
  );
}

/** `application/json` with or without parameters. */
export function isJsonType(header: string | undefined): boolean {
  return header !== undefined && (header.split(";", 1)[0] ?? "").trim().toLowerCase() === "application/json";
}

/**
 * Where a name `__proto__` stands in a body, as a path; undefined where none does. Schemas drop such a member without a word, and what
 * is left would be taken for all that was said.
 */
export function unsafeName(value: unknown, path = ""): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    const found = name === "__proto__" ? at : unsafeName(member, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
