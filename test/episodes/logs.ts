/** One short task as each program writes it down: an order is looked up and cancelled with the reason the person gave. */
import type { JsonObject } from "../../src/model/json.js";

const lookedUp = { order_id: "A-1001", customer_id: "C-77", status: "open" };

export const chat: readonly JsonObject[] = [
  { role: "system", content: "You help customers." },
  { role: "user", content: "Cancel order A-1001, I changed my mind." },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "get_order", arguments: '{"order_id":"A-1001"}' } }],
  },
  { role: "tool", tool_call_id: "c1", content: JSON.stringify(lookedUp) },
  {
    role: "assistant",
    tool_calls: [
      { id: "c2", type: "function", function: { name: "cancel_order", arguments: '{"order_id":"A-1001","customer_id":"C-77"}' } },
    ],
  },
  { role: "tool", tool_call_id: "c2", content: '{"cancelled":true}' },
  { role: "assistant", content: "Done." },
];

const toolUse = (id: string, name: string, input: JsonObject): JsonObject => ({ type: "tool_use", id, name, input });
const toolResult = (id: string, content: string): JsonObject => ({
  type: "tool_result",
  tool_use_id: id,
  content: [{ type: "text", text: content }],
});

export const claudeCodeLines: readonly JsonObject[] = [
  { type: "summary", summary: "Orders", leafUuid: "x" },
  {
    type: "user",
    sessionId: "s1",
    timestamp: "2026-01-02T10:00:00Z",
    message: { role: "user", content: "Cancel order A-1001, I changed my mind." },
  },
  {
    type: "assistant",
    sessionId: "s1",
    timestamp: "2026-01-02T10:00:01Z",
    message: { role: "assistant", content: [toolUse("t1", "mcp__shop__get_order", { order_id: "A-1001" })] },
  },
  { type: "user", sessionId: "s1", message: { role: "user", content: [toolResult("t1", JSON.stringify(lookedUp))] } },
  {
    type: "assistant",
    sessionId: "s1",
    message: {
      role: "assistant",
      content: [
        toolUse("t2", "mcp__steward__call_tool", {
          tool: "shop/cancel_order",
          arguments: { order_id: "A-1001", customer_id: "C-77" },
        }),
      ],
    },
  },
  { type: "user", sessionId: "s1", message: { role: "user", content: [toolResult("t2", '{"cancelled":true}')] } },
];

export const codexLines: readonly JsonObject[] = [
  { timestamp: "2026-01-02T10:00:00Z", type: "session_meta", payload: { id: "r1", cwd: "/w" } },
  {
    type: "response_item",
    payload: {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "<environment_context>…</environment_context>" }],
    },
  },
  {
    type: "response_item",
    payload: {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "Cancel order A-1001, I changed my mind." }],
    },
  },
  {
    type: "response_item",
    payload: { type: "function_call", name: "shop__get_order", arguments: '{"order_id":"A-1001"}', call_id: "k1" },
  },
  {
    type: "event_msg",
    payload: {
      type: "mcp_tool_call_end",
      call_id: "k1",
      invocation: { server: "shop", tool: "get_order", arguments: { order_id: "A-1001" } },
      result: { Ok: { content: [{ type: "text", text: JSON.stringify(lookedUp) }], isError: false } },
    },
  },
  { type: "response_item", payload: { type: "function_call_output", call_id: "k1", output: JSON.stringify(lookedUp) } },
  {
    type: "response_item",
    payload: {
      type: "function_call",
      name: "shop__cancel_order",
      arguments: '{"order_id":"A-1001","customer_id":"C-77"}',
      call_id: "k2",
    },
  },
  {
    type: "response_item",
    payload: {
      type: "function_call_output",
      call_id: "k2",
      output: '{"output":"{\\"cancelled\\":true}","metadata":{"exit_code":0}}',
    },
  },
];

export const tauRuns: readonly JsonObject[] = [
  {
    task_id: 1,
    trial: 0,
    reward: 1,
    info: { task: { instruction: "Cancel order A-1001, I changed my mind." } },
    traj: [...chat],
  },
  {
    task_id: 2,
    trial: 0,
    reward: 0,
    calls: [{ name: "get_order", arguments: { order_id: "A-9" }, output: "Error: order not found" }],
  },
];

export const tau2Results: JsonObject = {
  tasks: [{ id: "7", user_scenario: { instructions: { reason_for_call: "Cancel order A-1001, I changed my mind." } } }],
  simulations: [
    {
      task_id: "7",
      trial: 0,
      reward_info: { reward: 1 },
      messages: [
        { role: "user", content: "Hello" },
        {
          role: "assistant",
          tool_calls: [{ id: "a", name: "get_order", arguments: { order_id: "A-1001" }, requestor: "assistant" }],
        },
        { role: "tool", id: "a", content: JSON.stringify(lookedUp), error: false },
        { role: "user", tool_calls: [{ id: "u", name: "check_phone", arguments: {}, requestor: "user" }] },
        { role: "tool", id: "u", content: "ok", requestor: "user", error: false },
        {
          role: "assistant",
          tool_calls: [{ id: "b", name: "cancel_order", arguments: { order_id: "A-1001", customer_id: "C-77" } }],
        },
        { role: "tool", id: "b", content: '{"cancelled":true}', error: false },
      ],
    },
  ],
};

export const liveRuns: readonly JsonObject[] = [
  {
    task_id: "l1",
    Question: "Cancel order A-1001, I changed my mind.",
    task_success: "success",
    messages: [
      { role: "user", content: "Cancel order A-1001, I changed my mind." },
      { role: "assistant", tool_calls: [{ id: "1", function: { name: "route", arguments: '{"query":"orders"}' } }] },
      { role: "tool", tool_call_id: "1", content: "matched" },
      {
        role: "assistant",
        tool_calls: [
          {
            id: "2",
            function: {
              name: "execute-tool",
              arguments: '{"server_name":"shop","tool_name":"get_order","params":{"order_id":"A-1001"}}',
            },
          },
        ],
      },
      {
        role: "tool",
        tool_call_id: "2",
        content: `meta=None content=[TextContent(type='text', text='{\\n  "content": [{"type": "text", "text": "{\\\\"order_id\\\\": \\\\"A-1001\\\\", \\\\"customer_id\\\\": \\\\"C-77\\\\"}"}],\\n  "isError": false\\n}', annotations=None)] isError=False`,
      },
      {
        role: "assistant",
        tool_calls: [
          {
            id: "3",
            function: {
              name: "execute-tool",
              arguments: '{"server_name":"shop","tool_name":"cancel_order","params":{"order_id":"A-1001","customer_id":"C-77"}}',
            },
          },
        ],
      },
      {
        role: "tool",
        tool_call_id: "3",
        content: "meta=None content=[TextContent(type='text', text='ok', annotations=None)] isError=False",
      },
    ],
  },
];

export const lines = (documents: readonly JsonObject[]): string =>
  documents.map((document) => `${JSON.stringify(document)}\n`).join("");
