/**
 * The chat-completions wire: a question as endpoints take it, and what came back as we understand it.
 *
 * Owns: every name of that API that is used here.
 * Speaks: prompts and dialects in, request bodies out; any JSON in, a reading out.
 * Never: throws for what a server sent ([L12]: odd shapes are common), or takes a cut answer for a whole one.
 */
import type OpenAI from "openai";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Dialect } from "./ladder.js";
import type { Prompt } from "./prompt.js";

export type ChatBody = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

export interface Asked {
  readonly model: string;
  readonly prompt: Prompt;
  /** Name and JSON Schema of the answer. */
  readonly form: { readonly name: string; readonly schema: JsonObject };
  readonly answerTokens: number;
}

export function chatBody(asked: Asked, dialect: Dialect): ChatBody {
  const { prompt, form } = asked;
  const strict = { name: form.name, strict: true, schema: form.schema as Record<string, unknown> };
  // Where the endpoint does not hold the model to the schema, the model is told it. (json_object endpoints want the word JSON said.)
  const system =
    dialect.rung === "json_schema" ? prompt.system : `${prompt.system}\nIts JSON Schema: ${JSON.stringify(form.schema)}`;
  return {
    model: asked.model,
    messages: [
      { role: "system", content: system },
      { role: "user", content: prompt.user },
    ],
    ...(dialect.rung === "json_schema" ? { response_format: { type: "json_schema" as const, json_schema: strict } } : {}),
    ...(dialect.rung === "json_object" ? { response_format: { type: "json_object" as const } } : {}),
    ...(dialect.bound === "none" ? {} : { [dialect.bound]: asked.answerTokens }),
    ...(dialect.temperature ? { temperature: 0 } : {}),
  };
}

export type Reading =
  | { readonly kind: "text"; readonly text: string }
  /** Ended by the bound on tokens: what there is of it means nothing. */
  | { readonly kind: "cut" }
  | { readonly kind: "refused" }
  /** No answer in it: no choices, no content, an error under status 200, not even an object. */
  | { readonly kind: "empty"; readonly said: string };

export interface Usage {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

const CUT = new Set(["length", "max_tokens", "model_length"]);
const REFUSED = new Set(["content_filter", "refusal", "safety"]);

export function readCompletion(body: unknown): { reading: Reading; usage: Usage | undefined } {
  if (!isJsonObject(body)) return { reading: { kind: "empty", said: "the body is no JSON object" }, usage: undefined };
  const usage = readUsage(body["usage"]);
  const choice = Array.isArray(body["choices"]) ? body["choices"][0] : undefined;
  if (!isJsonObject(choice)) return { reading: { kind: "empty", said: complaintOf(body) ?? "there are no choices" }, usage };
  return { reading: readChoice(choice), usage };
}

function readChoice(choice: JsonObject): Reading {
  const message = isJsonObject(choice["message"]) ? choice["message"] : {};
  // Before anything is read of the text: a cut answer may well parse, and says half.
  const finish = typeof choice["finish_reason"] === "string" ? choice["finish_reason"].toLowerCase() : "";
  if (CUT.has(finish)) return { kind: "cut" };
  if (REFUSED.has(finish) || isRefusal(message)) return { kind: "refused" };
  // An unknown, empty or missing reason counts as an end: the text is validated in any case.
  const text = textOf(message["content"] ?? choice["text"]);
  return text.trim() === "" ? { kind: "empty", said: "the content is empty" } : { kind: "text", text };
}

/** A refusal stands in a field of its own, with content null; or among the parts of the content. */
function isRefusal(message: JsonObject): boolean {
  if (typeof message["refusal"] === "string" && message["refusal"].trim() !== "") return true;
  return Array.isArray(message["content"]) && message["content"].some((part) => isJsonObject(part) && part["type"] === "refusal");
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isJsonObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("");
}

function readUsage(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { prompt_tokens: prompt, completion_tokens: answer } = usage;
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  // Some servers fill in zeros: no prompt has none, and a budget must not believe it.
  return isCount(prompt) && isCount(answer) && prompt > 0 ? { promptTokens: prompt, answerTokens: answer } : undefined;
}

/** What an error body says, as text for the log and for finding out what it complains of. */
export function complaintOf(body: unknown): string | undefined {
  if (typeof body === "string") return body.trim() === "" ? undefined : body;
  if (!isJsonObject(body)) return undefined;
  const error = body["error"] ?? body["message"] ?? body["detail"];
  if (error === undefined || error === null) return undefined;
  return typeof error === "string" ? error : JSON.stringify(error);
}

/**
 * How long a busy endpoint asks to be left alone, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date.
 * Undefined where it does not say, or says nothing that is a time.
 */
export function retryAfterMs(headers: { get(name: string): string | null }, nowMs: number): number | undefined {
  const inMs = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(inMs)) return Math.max(0, inMs);
  const given = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(given)) return Number(given) * 1_000;
  const date = Date.parse(given);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
