/**
 * Bodies of upstreams' HTTP replies: read whole within the bound, or handed on changed.
 *
 * Owns: the bound on a body that is one message; what a transport is shown of a reply that was taken from it.
 * Speaks: responses of the web standard.
 * Never: what is in them.
 */
import { Response as UndiciResponse } from "undici";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import type { EventReader } from "./events.js";

/** Accepted: what there is to say comes another way. */
export const NO_CONTENT_YET = 202;

/** The content type without its parameters; empty where there is none. */
export function mediaType(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The bytes of a body; undefined, with `tooLarge` called, where it is above the bound of one message. */
export async function readWhole(response: Response, tooLarge: (bytes: number) => void): Promise<Buffer | undefined> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  const reader = response.body?.getReader();
  if (reader === undefined) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let over = declared > UPSTREAM_LIMITS.messageBytes; ;) {
    if (over) {
      tooLarge(Math.max(bytes, Number.isNaN(declared) ? 0 : declared));
      void reader.cancel().catch(() => undefined);
      return undefined;
    }
    const { value, done } = await reader.read();
    if (done) break;
    chunks.push(value);
    bytes += value.byteLength;
    over = bytes > UPSTREAM_LIMITS.messageBytes;
  }
  return Buffer.concat(chunks, bytes);
}

/** The reply with nothing in it, for a transport that has nothing more to do with it. */
export function emptied(response: Response): Response {
  void response.body?.cancel().catch(() => undefined);
  return made(response, null, NO_CONTENT_YET);
}

/** An event stream with its messages taken out. `onEnd` is called at its end, however it comes. */
export function rewritten(response: Response, events: EventReader, onEnd: () => void): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const { value, done } = await reader.read();
          if (done) {
            controller.close();
            return onEnd();
          }
          const next = events.push(value);
          if (next === undefined) throw new Error("a message above the bound came");
          if (next.length > 0) return controller.enqueue(next);
        }
      } catch (error) {
        controller.error(error);
        void reader.cancel().catch(() => undefined);
        onEnd();
      }
    },
    async cancel(reason) {
      await reader.cancel(reason).catch(() => undefined);
    },
  });
  return made(response, body, response.status);
}

function made(response: Response, body: ReadableStream<Uint8Array> | null, status: number): Response {
  const headers = [...response.headers.entries()] as [string, string][];
  const again: unknown = new UndiciResponse(body as never, { status, headers });
  return again as Response;
}
