/**
 * Asking `/v1` of a daemon, as a verb does.
 *
 * Owns: the one place where the command line opens a connection; how its problems become one line and an exit code.
 * Speaks: paths and bodies in, parsed answers out; of long work its progress too.
 * Never: which daemon (verbs.ts) or what an answer means.
 */
import type { JsonObject, JsonValue } from "../../model/json.js";
import { CliFault, exitOf, type Access } from "./access.js";

export function asking(url: string, token: string | undefined): Pick<Access, "ask" | "askText" | "follow"> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const reach = async (path: string, init: RequestInit): Promise<Response> => {
    try {
      return await fetch(`${url}${path}`, init);
    } catch (error) {
      throw unanswered(url, error);
    }
  };
  const request = (method: string, accept: string, body: JsonValue | undefined): RequestInit => ({
    method,
    headers: { ...headers, accept, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    async ask(method, path, body) {
      const response = await reach(path, request(method, "application/json", body));
      const answer = (await response.json()) as JsonValue;
      if (!response.ok) throw refused(answer, response.status);
      return answer;
    },
    async follow(method, path, body, tell) {
      const response = await reach(path, request(method, EVENTS, body));
      if (response.headers.get("content-type")?.startsWith(EVENTS) !== true || response.body === null) {
        const answer = (await response.json()) as JsonValue;
        if (!response.ok) throw refused(answer, response.status);
        return answer;
      }
      for await (const { event, data } of eventsOf(response.body, url)) {
        if (event === "problem") throw refused(data, response.status);
        if (event !== "progress") return data;
        tell(data);
      }
      throw new CliFault(`The daemon at ${url} ended the connection before it answered.`);
    },
    async askText(path) {
      return await (await reach(path, { headers })).text();
    },
  };
}

const EVENTS = "text/event-stream";

function unanswered(url: string, error: unknown): CliFault {
  return new CliFault(`The daemon at ${url} does not answer: ${error instanceof Error ? error.message : String(error)}`);
}

function refused(answer: JsonValue, status: number): CliFault {
  const problem = answer as { title?: string; detail?: string; code?: string };
  const told = [problem.title, problem.detail].filter((part) => part !== undefined).join(" ");
  return new CliFault(told || `HTTP ${status}`, exitOf(problem.code), answer);
}

/** Events of our own stream: one `data` line each; comments keep it open and say nothing. */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  url: string,
): AsyncGenerator<{ readonly event: string; readonly data: JsonObject }> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) as JsonObject };
      }
    }
  } catch (error) {
    throw unanswered(url, error);
  }
}
