/** Results of τ-bench and τ²-bench: runs whose reward was judged on the final state of a database, so their outcome is `state`. */
import type { JsonObject } from "../model/json.js";
import type { RecordedCall, RecordedEpisode } from "../model/recorded.js";
import { argumentsOf, dataOfText, listAt, objectAt, readsAsError, textAt } from "./fields.js";
import { callsOfChat, taskOfChat } from "./openai-chat.js";
import type { LogContext, LogFormat } from "./format.js";

/** A run counts as done where it earned the whole reward. */
const WHOLE_REWARD = 1 - 1e-9;

type Judged = NonNullable<RecordedEpisode["outcome"]>;

function judged(reward: unknown): Judged | undefined {
  if (typeof reward !== "number") return undefined;
  return { outcome: reward >= WHOLE_REWARD ? "success" : "failure", trust: "state", note: `reward ${reward}` };
}

/** A list (or lines) of runs, each with its messages (`traj`) or its calls alone (`calls`). */
export const tauBench: LogFormat = {
  name: "tau-bench",
  wrote: "results of τ-bench",
  recognises: (documents) => documents.some(isRun),
  isOwn: isRun,
  read: (documents, context) =>
    documents.flatMap((run): RecordedEpisode[] => {
      const source = `task ${textAt(run, "task_id") ?? "?"}, trial ${textAt(run, "trial") ?? "0"}`;
      const messages = listAt(run, "traj");
      const calls = messages.length > 0 ? callsOfChat(messages, source, context) : plainCalls(run, source, context);
      const task =
        textAt(run, "info", "task", "instruction") ?? textAt(run, "instruction") ?? textAt(run, "task") ?? taskOfChat(messages);
      return calls.length === 0 ? [] : [withOutcome({ source, task, calls }, judged(run["reward"]))];
    }),
};

function isRun(document: JsonObject): boolean {
  return "reward" in document && (Array.isArray(document["traj"]) || Array.isArray(document["calls"]));
}

function plainCalls(run: JsonObject, source: string, context: LogContext): RecordedCall[] {
  return listAt(run, "calls").flatMap((call): RecordedCall[] => {
    const name = textAt(call, "name");
    const args = argumentsOf(call["arguments"] ?? call["kwargs"]);
    if (name === undefined || args === undefined) {
      context.note({
        code: "log-call-unreadable",
        where: context.where,
        text: `${source}: a call without a name or arguments is left out.`,
      });
      return [];
    }
    const output = textAt(call, "output");
    return [
      {
        name,
        args,
        isError: output !== undefined && readsAsError(output),
        ...(output === undefined ? {} : { result: dataOfText(output) }),
      },
    ];
  });
}

/** One document with `simulations` and their `tasks`. */
export const tau2Bench: LogFormat = {
  name: "tau2-bench",
  wrote: "results of τ²-bench",
  recognises: (documents) => documents.some(isResult),
  isOwn: isResult,
  read: (documents, context) =>
    documents.flatMap((document) => {
      const tasks = new Map(listAt(document, "tasks").map((task) => [textAt(task, "id"), task]));
      return listAt(document, "simulations").flatMap((run): RecordedEpisode[] => {
        const id = textAt(run, "task_id");
        const source = `task ${id ?? "?"}, trial ${textAt(run, "trial") ?? "0"}`;
        const messages = listAt(run, "messages");
        const calls = callsOfChat(messages, source, context);
        const task = scenarioText(tasks.get(id)) ?? taskOfChat(messages);
        return calls.length === 0 ? [] : [withOutcome({ source, task, calls }, judged(objectAt(run, "reward_info")["reward"]))];
      });
    }),
};

function isResult(document: JsonObject): boolean {
  return Array.isArray(document["simulations"]);
}

/** What the simulated user was told to want: a text, or its parts. */
function scenarioText(task: JsonObject | undefined): string | undefined {
  const told = objectAt(task, "user_scenario")["instructions"];
  if (typeof told === "string") return told;
  const parts = ["reason_for_call", "known_info", "task_instructions"].flatMap((part) => textAt(told, part) ?? []);
  return parts.length === 0 ? undefined : parts.join("\n");
}

export function withOutcome(episode: RecordedEpisode, outcome: Judged | undefined): RecordedEpisode {
  return outcome === undefined ? episode : { ...episode, outcome };
}
