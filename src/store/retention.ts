/**
 * Retention: what is left on disc of episodes that were retired.
 *
 * A retired episode has one last line that says so. Its views go, unless an episode that stands shows the same view; a segment of calls
 * goes when no episode that stands has a line in it. Each step alone leaves nothing behind that refers to what is gone, so a crash
 * between them costs disc space until the next time and nothing else.
 */
import { join } from "node:path";
import type { Files } from "../host/files.js";
import type { Episode } from "../model/episode.js";
import { isPlainId, places } from "./places.js";
import type { Segments } from "./segments.js";

export async function forgetRetired(options: {
  readonly home: string;
  readonly files: Files;
  /** Every episode as its last line says. */
  readonly episodes: readonly Episode[];
  readonly calls: Segments;
}): Promise<void> {
  const { home, files, calls } = options;
  const standing = options.episodes.filter((episode) => episode.retired !== true);
  const retired = options.episodes.filter((episode) => episode.retired === true);
  if (retired.length === 0) return;
  const shown = new Set(standing.flatMap((episode) => episode.views));
  for (const view of new Set(retired.flatMap((episode) => episode.views))) {
    if (!shown.has(view) && isPlainId(view)) await files.unlink(join(home, places.view(view)));
  }
  const ids = new Set(standing.map((episode) => episode.episode));
  for (const n of calls.numbers().slice(0, -1)) {
    if (![...episodesNamed(calls.bytes(n))].some((id) => ids.has(id))) await calls.drop(n);
  }
}

/** Ids of episodes in a segment. Arguments may have a member of this name too: one id too many does no harm. */
export function episodesNamed(bytes: Buffer): Set<string> {
  const matches = bytes.toString("utf8").matchAll(/"episode":("(?:[^"\\]|\\.)*")/g);
  return new Set([...matches].map((match) => JSON.parse(match[1] ?? '""') as string));
}
