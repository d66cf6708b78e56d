/** What a reader of one program's logs is. */
import type { JsonObject } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import type { RecordedEpisode } from "../model/recorded.js";

export interface LogFormat {
  readonly name: string;
  readonly wrote: string;
  /** True where these documents are of this format and no other. */
  readonly recognises: (documents: readonly JsonObject[]) => boolean;
  /** Is this document by itself of this format, whatever stands beside it? A log may have others, which say less. */
  readonly isOwn: (document: JsonObject) => boolean;
  readonly read: (documents: readonly JsonObject[], context: LogContext) => readonly RecordedEpisode[];
}

export interface LogContext {
  /** Name of the file, for messages. */
  readonly where: string;
  /** What people said of tasks, by the log's own task id. */
  readonly verdicts: ReadonlyMap<string, "success" | "failure">;
  readonly note: (problem: Problem) => void;
}
