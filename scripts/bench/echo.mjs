// The upstream of the call benchmark: answers at once, so that what is measured is the way to it.
import { createInterface } from "node:readline";

const tool = {
  name: "echo",
  description: "Gives back its text.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  annotations: { readOnlyHint: true },
};
const answers = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "echo", version: "1" },
  }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": (params) => ({ content: [{ type: "text", text: params.arguments.text }] }),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const message =
    answer === undefined
      ? { jsonrpc: "2.0", id, error: { code: -32601, message: "unknown method" } }
      : { jsonrpc: "2.0", id, result: answer(params) };
  process.stdout.write(`${JSON.stringify(message)}\n`);
});
process.stdin.on("end", () => process.exit(0));
