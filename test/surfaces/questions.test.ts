/** Questions of upstreams to agents: both ways to ask, both ways to be asked. */
import { afterEach, describe, expect, it } from "vitest";
import { ElicitRequestSchema, CreateMessageRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../../src/model/json.js";
import type { CallOptions } from "../../src/model/ports.js";
import type { AgentCall } from "../../src/surfaces/mcp/agent-call.js";
import { createQuestions } from "../../src/surfaces/mcp/questions.js";
import { fakeOperations, text } from "./fake.js";
import { callWith, closeAll, currentClient, legacyClient, post, start } from "./start.js";

afterEach(closeAll);

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const FORM = { message: "Your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
const answered = { action: "accept", content: { name: "Ada" } };

/** An upstream of the older revisions: it asks by a request while the call runs. */
const asksByRequest = async (_args: JsonObject, options: CallOptions): Promise<JsonObject> => {
  if (options.onRequest === undefined) return text("nobody to ask");
  const first = await options.onRequest("elicitation/create", FORM);
  const second = await options.onRequest("elicitation/create", { ...FORM, message: "Sure?" });
  return text(`${JSON.stringify(first)} then ${JSON.stringify(second)}`);
};
/** An upstream of the newer revision: it answers with questions and is called again. */
const asksByAnswer = (_args: JsonObject, options: CallOptions): JsonObject => {
  const said = options.inputResponses?.["who"];
  if (said === undefined || options.requestState !== "state-1") {
    return {
      resultType: "input_required",
      inputRequests: { who: { method: "elicitation/create", params: FORM } },
      requestState: "state-1",
    };
  }
  return text(`${JSON.stringify(said)} with ${options.requestState}`);
};
const UPSTREAMS = [
  ["asks by request", asksByRequest, 2],
  ["asks by its answer", asksByAnswer, 1],
] as const;

describe.each(UPSTREAMS)("an upstream that %s", (_way, tool, questions) => {
  const operations = () => fakeOperations([{ label: "shop", tools: { ask: tool } }]);
  const firstText = (result: Record<string, unknown>) => (result["content"] as { text: string }[])[0]?.text ?? "";

  it("reaches a legacy agent, which answers by request", async () => {
    const { url } = await start({ operations: operations() });
    const client = await legacyClient(url, "/mcp", { elicitation: {} });
    let asked = 0;
    client.setRequestHandler(ElicitRequestSchema, async (request) => {
      asked += 1;
      expect(request.params.message).toMatch(/name|Sure/);
      return answered as never;
    });
    expect(firstText(await callWith(client, { name: "call_tool", arguments: { tool: "shop/ask" } }))).toContain('"name":"Ada"');
    expect(asked).toBe(questions);
  });

  it.each(["legacy", "modern"] as const)("reaches the current SDK's %s agent, which answers in its own way", async (era) => {
    const { url, surface } = await start({ operations: operations() });
    const client = await currentClient(url, era, "/mcp/direct", { elicitation: {} });
    let asked = 0;
    client.setRequestHandler("elicitation/create", async () => {
      asked += 1;
      return answered as never;
    });
    expect(firstText(await callWith(client, { name: "shop__ask", arguments: {} }))).toContain('"name":"Ada"');
    expect(asked).toBe(questions);
    expect(surface.live().held).toBe(0);
  });

  it("does not reach an agent that never said it can be asked", async () => {
    const { url } = await start({ operations: operations() });
    for (const client of [await legacyClient(url), await currentClient(url, "modern")]) {
      const result = await callWith(client, { name: "call_tool", arguments: { tool: "shop/ask" } }).catch(
        (error: unknown) => error as JsonObject,
      );
      if (tool === asksByRequest) expect(firstText(result as JsonObject)).toBe("nobody to ask");
      else expect(JSON.stringify(result) + String(result)).toMatch(/did not declare|capability/i);
    }
  });
});

describe("a question", () => {
  it("of a kind the agent did not declare is refused to the upstream, by its own protocol's code", async () => {
    let refused: unknown;
    const operations = fakeOperations([
      {
        label: "shop",
        tools: {
          sample: async (_args, options) => {
            refused = await options
              .onRequest?.("sampling/createMessage", { messages: [], maxTokens: 1 })
              .catch((error: unknown) => error);
            return text("went on without");
          },
        },
      },
    ]);
    const { url } = await start({ operations });
    const client = await legacyClient(url, "/mcp", { elicitation: {} });
    client.setRequestHandler(ElicitRequestSchema, async () => answered as never);
    const result = await callWith(client, { name: "call_tool", arguments: { tool: "shop/sample" } });
    expect(JSON.stringify(result)).toContain("went on without");
    expect(refused).toMatchObject({ code: -32601 });
  });

  it("for sampling and its answer pass without loss", async () => {
    const operations = fakeOperations([
      {
        label: "shop",
        tools: {
          sample: async (_args, options) => {
            const params = {
              messages: [{ role: "user", content: { type: "text", text: "hi" } }],
              maxTokens: 5,
              _meta: { "x/y": 1 },
            };
            return text(JSON.stringify(await options.onRequest?.("sampling/createMessage", params)));
          },
        },
      },
    ]);
    const { url } = await start({ operations });
    const client = await legacyClient(url, "/mcp", { sampling: {} });
    client.setRequestHandler(CreateMessageRequestSchema, async (request) => ({
      model: "m",
      role: "assistant",
      content: { type: "text", text: `${request.params.maxTokens}` },
      _meta: { "own/key": JSON.stringify(request.params._meta) },
    }));
    const result = await callWith(client, { name: "call_tool", arguments: { tool: "shop/sample" } });
    expect(JSON.stringify(result)).toContain('\\"own/key\\"');
  });

  it("that the agent answers with an error ends the call with a readable result", async () => {
    const operations = fakeOperations([{ label: "shop", tools: { ask: asksByAnswer } }]);
    const { url } = await start({ operations });
    const client = await legacyClient(url, "/mcp", { elicitation: {} });
    client.setRequestHandler(ElicitRequestSchema, async () => {
      throw new Error("no person here");
    });
    const result = await callWith(client, { name: "call_tool", arguments: { tool: "shop/ask" } });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: "call-cancelled" } } });
    expect(JSON.stringify(result)).toContain("no person here");
  });
});

describe("a call that waits for a modern agent's answer", () => {
  const modern = (overrides: Partial<AgentCall> = {}): AgentCall => ({
    era: "modern",
    method: "tools/call",
    caller: { principal: "bot", rights: new Set(), upstreams: undefined, session: undefined },
    signal: new AbortController().signal,
    meta: undefined,
    headers: undefined,
    logLevel: undefined,
    episode: undefined,
    capabilities: { elicitation: {} },
    inputResponses: undefined,
    requestState: undefined,
    notify: () => undefined,
    progress: undefined,
    tell: () => undefined,
    ask: () => Promise.reject(new Error("modern agents are not asked by request")),
    ...overrides,
  });
  const run = (options: CallOptions) => asksByRequest({}, options);
  const keysOf = (result: JsonObject) => Object.keys(result["inputRequests"] as JsonObject);

  it("goes on with the answer, each round under a new state that is good once", async () => {
    const questions = createQuestions({ answerMs: 1_000, heldMax: 10 });
    const first = await questions.run(modern(), run);
    const state = String(first["requestState"]);
    const second = await questions.run(modern({ requestState: state, inputResponses: { q1: answered } }), run);
    expect(keysOf(second)).toEqual(["q2"]);
    expect(second["requestState"]).not.toBe(state);
    await expect(questions.run(modern({ requestState: state, inputResponses: { q1: answered } }), run)).rejects.toMatchObject({
      code: -32602,
    });
    const done = await questions.run(
      modern({ requestState: String(second["requestState"]), inputResponses: { q2: answered } }),
      run,
    );
    expect(JSON.stringify(done)).toContain("then");
    expect(questions.held).toBe(0);
  });

  it("asks again for an answer that did not come, and keeps those that did", async () => {
    const questions = createQuestions({ answerMs: 1_000, heldMax: 10 });
    const both = async (options: CallOptions) => {
      const answers = await Promise.all([
        options.onRequest?.("elicitation/create", FORM),
        options.onRequest?.("elicitation/create", FORM),
      ]);
      return text(JSON.stringify(answers));
    };
    const first = await questions.run(modern(), both);
    expect(keysOf(first)).toEqual(["q1", "q2"]);
    const again = await questions.run(
      modern({ requestState: String(first["requestState"]), inputResponses: { q2: answered, other: {} } }),
      both,
    );
    expect(keysOf(again)).toEqual(["q1"]);
    const done = await questions.run(
      modern({ requestState: String(again["requestState"]), inputResponses: { q1: answered } }),
      both,
    );
    expect(JSON.stringify(done)).toContain("Ada");
  });

  it("is not another's: a state that was forged, moved or given by somebody else is refused", async () => {
    const questions = createQuestions({ answerMs: 1_000, heldMax: 10 });
    const state = String((await questions.run(modern(), run))["requestState"]);
    const other = { principal: "eve", rights: new Set<never>(), upstreams: undefined, session: undefined };
    const [, id = "", round = "", mac = ""] = /^steward1\.(\w+)\.(\d+)\.(.+)$/.exec(state) ?? [];
    const forged = [
      `steward1.${id}.${Number(round) + 1}.${mac}`,
      `steward1.${"0".repeat(32)}.${round}.${mac}`,
      "steward1.",
      `${state}x`,
    ];
    for (const requestState of forged) {
      await expect(questions.run(modern({ requestState, inputResponses: { q1: answered } }), run)).rejects.toMatchObject({
        code: -32602,
      });
    }
    await expect(
      questions.run(modern({ requestState: state, caller: other, inputResponses: { q1: answered } }), run),
    ).rejects.toMatchObject({ code: -32602 });
    expect(questions.held).toBe(1);
    questions.close();
  });

  it("is given up when the agent never answers: the upstream's call is aborted [K05]", async () => {
    const questions = createQuestions({ answerMs: 30, heldMax: 10 });
    let signal: AbortSignal | undefined;
    await questions.run(modern(), (options) => {
      signal = options.signal;
      return run(options);
    });
    await until(() => questions.held === 0);
    expect(signal?.aborted).toBe(true);
  });

  it("is aborted when the agent goes away while it runs, not when it only thinks about the question [K05]", async () => {
    const questions = createQuestions({ answerMs: 1_000, heldMax: 10 });
    let signal: AbortSignal | undefined;
    const seen = (options: CallOptions) => {
      signal = options.signal;
      return run(options);
    };
    const first = new AbortController();
    const asked = await questions.run(modern({ signal: first.signal }), seen);
    first.abort();
    expect(signal?.aborted).toBe(false);
    const second = new AbortController();
    const slow = (options: CallOptions) => (
      (signal = options.signal),
      new Promise<JsonObject>((_, reject) =>
        options.signal.addEventListener("abort", () => reject(options.signal.reason as Error)),
      )
    );
    const pending = questions.run(modern({ signal: second.signal }), slow).catch((error: unknown) => error);
    second.abort();
    expect(await pending).toMatchObject({ code: "call-cancelled" });
    expect(signal?.aborted).toBe(true);
    expect(asked["resultType"]).toBe("input_required");
    questions.close();
  });

  it("is one of a bounded number", async () => {
    const questions = createQuestions({ answerMs: 1_000, heldMax: 2 });
    await questions.run(modern(), run);
    await questions.run(modern(), run);
    await expect(questions.run(modern(), run)).rejects.toMatchObject({ code: "busy" });
    questions.close();
  });

  it("answers a question of a modern upstream that the agent cannot take with the missing capability, as HTTP 400", async () => {
    const operations = fakeOperations([{ label: "shop", tools: { ask: asksByAnswer } }]);
    const { url } = await start({ operations });
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
    };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "shop__ask", arguments: {}, _meta: meta } };
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "shop__ask" };
    const answer = await post(`${url}/mcp/direct`, message, headers);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    });
  });
});
