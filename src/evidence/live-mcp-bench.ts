/** Runs of LiveMCPBench: tasks solved through its `execute-tool`, which names server, tool and parameters. */
import { isJsonObject, type JsonValue } from "../model/json.js";
import type { RecordedCall, RecordedEpisode } from "../model/recorded.js";
import { dataOfText, listAt, textAt } from "./fields.js";
import { callsOfChat, taskOfChat } from "./openai-chat.js";
import type { LogFormat } from "./format.js";
import { withOutcome } from "./tau.js";

export const liveMcpBench: LogFormat = {
  name: "live-mcp-bench",
  wrote: "runs of LiveMCPBench",
  recognises: (documents) => documents.some((one) => Array.isArray(one["messages"]) && "Question" in one),
  isOwn: (document) => Array.isArray(document["messages"]) && ("Question" in document || "task_success" in document),
  read: (documents, context) =>
    documents.flatMap((run): RecordedEpisode[] => {
      const id = textAt(run, "task_id") ?? "?";
      const messages = listAt(run, "messages");
      const calls = callsOfChat(messages, `task ${id}`, context).flatMap(executed);
      // What the run says of itself is a claim; a person's label is a verification.
      const human = context.verdicts.get(id);
      const said = textAt(run, "task_success");
      const outcome =
        human !== undefined
          ? ({ outcome: human, trust: "human" } as const)
          : said === "success" || said === "failure"
            ? ({ outcome: said, trust: "claim" } as const)
            : undefined;
      const task = textAt(run, "Question") ?? taskOfChat(messages);
      return calls.length === 0 ? [] : [withOutcome({ source: `task ${id}`, task, calls }, outcome)];
    }),
};

/** The call behind `execute-tool`; the search before it (`route`) is the benchmark's own. */
function executed(call: RecordedCall): RecordedCall[] {
  const server = call.args["server_name"];
  const name = call.args["tool_name"];
  const params = call.args["params"];
  if (call.name !== "execute-tool" || typeof server !== "string" || typeof name !== "string") return [];
  const { result, isError } = printedResult(call.result);
  return [{ name, server, args: isJsonObject(params) ? params : {}, isError, ...(result === undefined ? {} : { result }) }];
}

/** A result as its program printed it: `meta=None content=[TextContent(type='text', text='…', …)] isError=False`. */
function printedResult(value: JsonValue | undefined): { result: JsonValue | undefined; isError: boolean } {
  if (typeof value !== "string") return { result: value, isError: false };
  const printed = /TextContent\(type='text', text=(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/s.exec(value);
  const isError = /\bisError=True\s*$/.test(value) || /"isError": true/.test(value);
  if (printed === null) return { result: value, isError };
  const text = (printed[1] ?? printed[2] ?? "").replace(
    /\\(n|t|r|.)/gs,
    (_whole, mark: string) => ({ n: "\n", t: "\t", r: "\r" })[mark] ?? mark,
  );
  const data = dataOfText(text);
  // Within it stands the result as the server sent it.
  const inner =
    isJsonObject(data) && Array.isArray(data["content"])
      ? listAt(data, "content").flatMap((block) => textAt(block, "text") ?? [])
      : undefined;
  return { result: inner === undefined ? data : dataOfText(inner.join("\n")), isError: isError || readsAsFailure(text) };
}

function readsAsFailure(text: string): boolean {
  return /^Error executing tool\b/.test(text);
}
