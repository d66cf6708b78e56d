/** Rollouts of Codex: one JSON line an item, wrapped (`{type, payload}`) or, in older ones, bare; each prompt is a task of its own. */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { RecordedCall, RecordedEpisode } from "../model/recorded.js";
import { argumentsOf, dataOfText, objectAt, readsAsError, textAt, textOfContent } from "./fields.js";
import type { LogFormat } from "./format.js";

export const codex: LogFormat = {
  name: "codex",
  wrote: "rollouts of Codex",
  recognises: (documents) => documents.some(isItem),
  isOwn: isItem,
  read(documents) {
    const rollout: Rollout = { session: "", prompts: 0, episodes: [], asked: new Map() };
    for (const line of documents) {
      const isWrapped = isJsonObject(line["payload"]);
      const item = isWrapped ? objectAt(line, "payload") : line;
      if (line["type"] === "session_meta" || (!isWrapped && item["type"] === undefined)) {
        rollout.session = textAt(item, "id") ?? rollout.session;
        continue;
      }
      readItem(rollout, item, textAt(line, "timestamp"));
    }
    return rollout.episodes.filter((episode) => episode.calls.length > 0);
  },
};

/** Types that no other program's lines have; the older ones' messages look like anybody's. */
const TYPES = new Set(["session_meta", "response_item", "event_msg", "turn_context", "function_call", "function_call_output"]);

function isItem(line: JsonObject): boolean {
  return TYPES.has(String(line["type"]));
}

interface Rollout {
  session: string;
  prompts: number;
  readonly episodes: RecordedEpisode[];
  readonly asked: Map<string, RecordedCall>;
}

function readItem(rollout: Rollout, item: JsonObject, at: string | undefined): void {
  const when = at === undefined ? {} : { at };
  const id = textAt(item, "call_id") ?? "";
  const open = rollout.episodes.at(-1);
  switch (item["type"]) {
    case "message": {
      const said = textOfContent(item["content"]).trim();
      // What the program itself puts before the first prompt stands in tags.
      if (item["role"] !== "user" || said === "" || said.startsWith("<") || said.startsWith("# AGENTS.md")) return;
      rollout.prompts += 1;
      rollout.episodes.push({ source: `session ${rollout.session}, prompt ${rollout.prompts}`, task: said, calls: [], ...when });
      return;
    }
    case "function_call": {
      const name = textAt(item, "name");
      const args = argumentsOf(item["arguments"]);
      if (name === undefined || args === undefined || open === undefined) return;
      const server = textAt(item, "namespace");
      const call: RecordedCall = { name, args, isError: false, ...(server === undefined ? {} : { server }), ...when };
      open.calls.push(call);
      rollout.asked.set(id, call);
      return;
    }
    case "function_call_output": {
      const call = rollout.asked.get(id);
      if (call === undefined || call.result !== undefined) return;
      const text = outputText(item["output"]);
      call.result = dataOfText(text);
      call.isError = readsAsError(text) || objectAt(item, "output")["success"] === false;
      return;
    }
    case "mcp_tool_call_end": {
      // It knows server and tool apart, and the result as the server sent it: better than the item it belongs to.
      const server = textAt(item, "invocation", "server");
      const name = textAt(item, "invocation", "tool");
      const call = rollout.asked.get(id) ?? lateCall(rollout, open, id, item, when);
      if (call === undefined || server === undefined || name === undefined) return;
      const sent = objectAt(item, "result", "Ok");
      call.name = name;
      call.server = server;
      call.isError =
        sent["content"] === undefined ? item["result"] !== undefined : sent["isError"] === true || sent["is_error"] === true;
      call.result = sent["structuredContent"] ?? sent["structured_content"] ?? dataOfText(textOfContent(sent["content"]));
      return;
    }
    default:
      return;
  }
}

/** The end of a call whose beginning is not in the rollout. */
function lateCall(
  rollout: Rollout,
  open: RecordedEpisode | undefined,
  id: string,
  item: JsonObject,
  when: { at?: string },
): RecordedCall | undefined {
  const args = argumentsOf(objectAt(item, "invocation")["arguments"]);
  const name = textAt(item, "invocation", "tool");
  if (open === undefined || args === undefined || name === undefined) return undefined;
  const call: RecordedCall = { name, args, isError: false, ...when };
  open.calls.push(call);
  rollout.asked.set(id, call);
  return call;
}

function outputText(output: JsonValue | undefined): string {
  if (typeof output === "string") {
    const data = dataOfText(output);
    return isJsonObject(data) && typeof data["output"] === "string" ? data["output"] : output;
  }
  return textOfContent(objectAt(output)["content"] ?? output);
}
