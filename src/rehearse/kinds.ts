/** What a file is that is no JSON, where people are known to have such files; and the way from it to one. */

/** A sentence about the file, after its name; undefined where it is JSON with a mistake in it, or nobody knows what. */
export function kindOfText(text: string): string | undefined {
  if (text.trim() === "") return "is empty: what wrote it has failed, or has not ended yet";
  if (/^\s*<[!?a-z]/i.test(text))
    return `is a web page or XML (it begins with ${JSON.stringify(text.trim().slice(0, 40))}): it is rather what a gateway, a login or an error page said than a listing; ask the server again and save its JSON`;
  if (/^(?:event|data|id|retry|:)[^\n]*\n/.test(text) && /^data: ?[[{]/m.test(text))
    return "is an event stream: keep the JSON behind `data:` of the event that has `tools` alone";
  return isLines(text)
    ? "has one JSON document a line (JSONL): bring them into one array, e.g. with `jq -s . <file>`"
    : undefined;
}

/** The same of bytes that are no text. */
export function kindOfBytes(bytes: Uint8Array): string | undefined {
  const starts = (...first: number[]): boolean => first.every((byte, at) => bytes[at] === byte);
  if (starts(0x50, 0x4b, 0x03, 0x04)) return "is a zip archive: unpack it and give the JSON file in it";
  if (starts(0x28, 0xb5, 0x2f, 0xfd) || starts(0x42, 0x5a, 0x68) || starts(0xfd, 0x37, 0x7a, 0x58))
    return "is packed with zstd, bzip2 or xz: unpack it; gzip alone is read packed";
  const isTar = bytes.length > 262 && Buffer.from(bytes.subarray(257, 262)).toString("latin1") === "ustar";
  return isTar ? "is a tar archive: unpack it and give the JSON file in it" : undefined;
}

/** At least two lines, and the first two that say something are whole JSON documents. */
function isLines(text: string): boolean {
  const lines = text.split("\n", 20).filter((line) => line.trim() !== "");
  return lines.length > 1 && lines.slice(0, 2).every(isDocument);
}

function isDocument(line: string): boolean {
  if (!/^\s*[[{]/.test(line)) return false;
  try {
    JSON.parse(line.replace(/^\ufeff/, ""));
    return true;
  } catch {
    return false;
  }
}
