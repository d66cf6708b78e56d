/**
 * Digests of skill folders.
 *
 * Owns: what "the same skill" means byte for byte.
 * Speaks: relative paths and texts.
 * Never: the order files were found in.
 */
import { canonicalJson, sha256 } from "../catalog/canonical.js";
import type { Digest } from "../model/ids.js";

/** relative path → sha256 of the text, sorted by path (code point order). */
export function fileDigests(files: Readonly<Record<string, string>>): Record<string, Digest> {
  const paths = Object.keys(files).sort();
  return Object.fromEntries(paths.map((path) => [path, sha256(files[path] ?? "")]));
}

/** sha256 over sorted (path, sha256 of bytes): moves if and only if a file's name or bytes move. */
export function skillDigest(files: Readonly<Record<string, string>>): Digest {
  return folderDigest(fileDigests(files));
}

/** The same, from digests already known (a lock or a revision). */
export function folderDigest(digests: Readonly<Record<string, string>>): Digest {
  const paths = Object.keys(digests).sort();
  return sha256(canonicalJson(paths.map((path) => [path, digests[path] ?? ""])));
}
