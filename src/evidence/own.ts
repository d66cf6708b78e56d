/** Our own export: episodes with their call lines, as `steward episodes export` writes them. */
import { isJsonObject, type JsonObject } from "../model/json.js";
import { episodeExportFormat, type RecordedEpisode } from "../model/recorded.js";
import type { LogFormat } from "./format.js";

export const own: LogFormat = {
  name: "steward",
  wrote: "an export of STEWARD",
  recognises: (documents) => documents.some(isExport),
  isOwn: isExport,
  read: (documents, context) =>
    documents.flatMap((document, n): RecordedEpisode[] => {
      const parsed = episodeExportFormat.schema.safeParse(document);
      if (!parsed.success) {
        const issue = parsed.error.issues[0];
        const text = `Episode ${n + 1} is not of ${episodeExportFormat.id} (${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}); it is left out.`;
        context.note({ code: "log-episode-unreadable", where: context.where, text });
        return [];
      }
      const { episode, calls } = parsed.data;
      const { outcome } = episode;
      return [
        {
          ...(/^ep_[a-z0-9]{4,60}$/.test(episode.episode) ? { id: episode.episode } : {}),
          source: `episode ${episode.episode}`,
          task: episode.task,
          at: episode.opened,
          calls: calls.map(({ tool, args, isError, at, shape, flows, redacted }) => ({
            name: tool,
            args: isJsonObject(args) ? args : {},
            isError,
            at,
            shape,
            flows,
            redacted,
          })),
          ...(outcome === undefined
            ? {}
            : {
                outcome: {
                  outcome: outcome.outcome,
                  trust: outcome.trust,
                  ...(outcome.note === undefined ? {} : { note: outcome.note }),
                },
              }),
        },
      ];
    }),
};

function isExport(document: JsonObject): boolean {
  return typeof document["format"] === "string" && document["format"].startsWith("episode-export/");
}
