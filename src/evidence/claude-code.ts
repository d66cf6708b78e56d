/** Session logs of Claude Code: one JSON line a message; each prompt of the person is a task of its own. */
import { isJsonObject, type JsonObject } from "../model/json.js";
import type { RecordedCall, RecordedEpisode } from "../model/recorded.js";
import { argumentsOf, dataOfText, listAt, objectAt, textAt, textOfContent } from "./fields.js";
import type { LogFormat } from "./format.js";

export const claudeCode: LogFormat = {
  name: "claude-code",
  wrote: "session logs of Claude Code",
  recognises: (documents) => documents.some(isTurn),
  isOwn: isTurn,
  read(documents) {
    const episodes: RecordedEpisode[] = [];
    const sessions = new Map<string, Session>();
    for (const line of documents) {
      if (!isJsonObject(line["message"])) continue;
      const id = textAt(line, "sessionId") ?? "";
      const session = sessions.get(id) ?? { id, prompts: 0, open: undefined, asked: new Map() };
      sessions.set(id, session);
      readLine(session, line, episodes);
    }
    return episodes.filter((episode) => episode.calls.length > 0);
  },
};

function isTurn(line: JsonObject): boolean {
  return (line["type"] === "user" || line["type"] === "assistant") && isJsonObject(line["message"]);
}

interface Session {
  readonly id: string;
  prompts: number;
  open: RecordedEpisode | undefined;
  readonly asked: Map<string, RecordedCall>;
}

function readLine(session: Session, line: JsonObject, episodes: RecordedEpisode[]): void {
  const message = objectAt(line, "message");
  const at = textAt(line, "timestamp");
  if (line["type"] === "user") {
    const results = listAt(message, "content").filter((block) => block["type"] === "tool_result");
    for (const block of results) answer(session, block);
    const said = textOfContent(message["content"]).trim();
    // Side chains are prompts of the agent to its helpers; meta lines are the program's own.
    if (results.length > 0 || said === "" || line["isMeta"] === true || line["isSidechain"] === true) return;
    session.prompts += 1;
    session.open = {
      source: `session ${session.id}, prompt ${session.prompts}`,
      task: said,
      calls: [],
      ...(at === undefined ? {} : { at }),
    };
    episodes.push(session.open);
    return;
  }
  for (const block of listAt(message, "content")) {
    const name = textAt(block, "name");
    const args = argumentsOf(block["input"]);
    if (block["type"] !== "tool_use" || name === undefined || args === undefined || session.open === undefined) continue;
    const call: RecordedCall = { name, args, isError: false, ...(at === undefined ? {} : { at }) };
    session.open.calls.push(call);
    const id = textAt(block, "id");
    if (id !== undefined) session.asked.set(id, call);
  }
}

function answer(session: Session, block: JsonObject): void {
  const call = session.asked.get(textAt(block, "tool_use_id") ?? "");
  if (call === undefined) return;
  call.result = dataOfText(textOfContent(block["content"]));
  call.isError = block["is_error"] === true;
}
