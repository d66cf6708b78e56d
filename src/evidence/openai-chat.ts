/** OpenAI chat messages with `tool_calls`: `{messages: […]}`, a list of such, one a line, or the bare messages of one conversation. */
import type { JsonObject, JsonValue } from "../model/json.js";
import type { RecordedCall, RecordedEpisode } from "../model/recorded.js";
import { argumentsOf, dataOfText, listAt, objectAt, readsAsError, textAt, textOfContent } from "./fields.js";
import type { LogContext, LogFormat } from "./format.js";

export const openAiChat: LogFormat = {
  name: "openai-chat",
  wrote: "OpenAI chat messages",
  recognises: (documents) => documents.some(isConversation) || documents.some(isMessage),
  isOwn: isConversation,
  read(documents, context) {
    const conversations = documents.filter(isConversation).map((one) => listAt(one, "messages"));
    // Messages that stand beside conversations are one more.
    const bare = documents.filter((one) => !isConversation(one));
    const lists = bare.length > 0 ? [...conversations, bare] : conversations;
    return lists.flatMap((messages, n): RecordedEpisode[] => {
      const calls = callsOfChat(messages, `conversation ${n + 1}`, context);
      const task = taskOfChat(messages);
      return calls.length === 0 ? [] : [{ source: `conversation ${n + 1}`, task, calls }];
    });
  },
};

function isConversation(document: JsonObject): boolean {
  return Array.isArray(document["messages"]);
}

/** One message of a conversation whose messages stand bare. */
export function isMessage(document: JsonObject): boolean {
  return ["user", "assistant", "tool", "system", "developer"].includes(String(document["role"]));
}

/** What the user asked first. */
export function taskOfChat(messages: readonly JsonObject[]): string {
  const first = messages.find((message) => message["role"] === "user");
  return textOfContent(first?.["content"]).trim();
}

/**
 * The calls of a conversation in order, each with its result. Understood are `tool_calls` in both forms (arguments as text or as an
 * object), the older `function_call`, and results that name their call by `tool_call_id` or `id`, or follow it.
 */
export function callsOfChat(messages: readonly JsonObject[], source: string, context: LogContext): RecordedCall[] {
  const calls: RecordedCall[] = [];
  const waiting: { id: string | undefined; call: RecordedCall }[] = [];
  for (const message of messages) {
    for (const { id, name, given } of askedIn(message)) {
      const args = argumentsOf(given);
      if (args === undefined) {
        const text = `${source}: the arguments of a call of ${name} are no object; the call is left out.`;
        context.note({ code: "log-call-unreadable", where: context.where, text });
        continue;
      }
      const call: RecordedCall = { name, args, isError: false };
      calls.push(call);
      waiting.push({ id, call });
    }
    if (message["role"] !== "tool" && message["role"] !== "function") continue;
    const id = textAt(message, "tool_call_id") ?? textAt(message, "id");
    const at = Math.max(
      0,
      waiting.findIndex((one) => one.id !== undefined && one.id === id),
    );
    const answered = waiting.splice(at, 1)[0]?.call;
    if (answered === undefined) continue;
    const text = textOfContent(message["content"]);
    answered.result = dataOfText(text);
    answered.isError = message["error"] === true || readsAsError(text);
  }
  return calls;
}

function askedIn(message: JsonObject): { id: string | undefined; name: string; given: JsonValue | undefined }[] {
  // τ² has calls of its simulated user as well: those are not the agent's.
  const isAgents = (call: JsonObject): boolean => call["requestor"] === undefined || call["requestor"] === "assistant";
  const asked = listAt(message, "tool_calls")
    .filter(isAgents)
    .flatMap((call) => {
      const made = call["function"] === undefined ? call : objectAt(call, "function");
      const name = textAt(made, "name");
      return name === undefined ? [] : [{ id: textAt(call, "id"), name, given: made["arguments"] }];
    });
  const legacy = objectAt(message, "function_call");
  const name = textAt(legacy, "name");
  return name === undefined ? asked : [...asked, { id: undefined, name, given: legacy["arguments"] }];
}
