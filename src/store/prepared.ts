/**
 * What an earlier run worked out and the next one may take up (see world/prepared.ts): parts of bytes, of exactly one code.
 *
 * Derived and safe to delete. The head names the code that wrote it and the digest of the rest; anything else is not taken.
 */
import type { Files } from "../host/files.js";
import type { Prepared } from "../model/ports.js";
import { readSealed, writeSealed } from "./packs.js";
import { places } from "./places.js";

const FORMAT = "prepared/1";
/** Parts begin at multiples of this, so that numbers can be read where they lie. */
const ALIGN = 8;
const LENGTH_BYTES = 8;

/** Empty where there is nothing, or nothing of this code. */
export function readPrepared(home: string, stamp: string): Prepared {
  const bytes = readSealed(home, places.prepared, { format: FORMAT, stamp });
  if (bytes === undefined || bytes.byteOffset % ALIGN !== 0) return new Map();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts = new Map<string, Uint8Array>();
  try {
    for (let at = 0; at < bytes.length;) {
      const [nameBytes, partBytes] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      const name = at + LENGTH_BYTES;
      const part = aligned(name + nameBytes);
      if (part + partBytes > bytes.length) return new Map();
      parts.set(bytes.toString("utf8", name, name + nameBytes), bytes.subarray(part, part + partBytes));
      at = aligned(part + partBytes);
    }
  } catch {
    return new Map();
  }
  return parts;
}

export async function writePrepared(home: string, files: Files, stamp: string, prepared: Prepared): Promise<void> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const put = (bytes: Uint8Array): void => {
    pieces.push(bytes);
    length += bytes.length;
  };
  const fill = (): void => put(new Uint8Array(aligned(length) - length));
  for (const [name, part] of prepared) {
    const nameBytes = Buffer.from(name);
    const lengths = Buffer.alloc(LENGTH_BYTES);
    lengths.writeUInt32LE(nameBytes.length, 0);
    lengths.writeUInt32LE(part.length, 4);
    put(lengths);
    put(nameBytes);
    fill();
    put(part);
    fill();
  }
  await writeSealed(home, files, places.prepared, { format: FORMAT, stamp }, Buffer.concat(pieces));
}

function aligned(at: number): number {
  return Math.ceil(at / ALIGN) * ALIGN;
}
