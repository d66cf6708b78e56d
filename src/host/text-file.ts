/** Text files that a person names: read whole, up to a bound, unpacked where their name ends in `.gz`. */
import { open, type FileHandle } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

/** Bytes of one text, unpacked: what is read into memory at once and well below the longest text there can be. */
export const TEXT_BYTES_MOST = 256 * 1024 * 1024;

/** Throws an error whose message ends a sentence that begins with the path: why it cannot be read, and the way out. */
export async function readTextFile(path: string, most = TEXT_BYTES_MOST): Promise<string> {
  const file = await open(path, "r");
  try {
    const bytes = await bytesOf(file, most);
    return (path.endsWith(".gz") ? await unpacked(bytes, most) : bytes).toString("utf8");
  } finally {
    await file.close();
  }
}

/** A pipe does not say how long it is: it is read up to the bound as well. */
async function bytesOf(file: FileHandle, most: number): Promise<Buffer> {
  const { size } = await file.stat();
  if (size > most) throw tooLong(`it has ${inMegabytes(size)}`, most);
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > most) throw tooLong("it is longer", most);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function unpacked(bytes: Buffer, most: number): Promise<Buffer> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: most });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw error;
    throw tooLong("it is longer when it is unpacked", most);
  }
}

function tooLong(what: string, most: number): Error {
  return new Error(`${what}, and at most ${inMegabytes(most)} are read at once; split it at line ends (\`split -C 200m\`)`);
}

function inMegabytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024 / 1024)} MB`;
}
