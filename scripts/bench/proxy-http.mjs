// A minimal pass-through proxy, Streamable HTTP to stdio, on the maintained line of the SDK (legacy sessions).
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const [command, ...args] = process.argv.slice(2);
const any = z.any();
const client = new Client({ name: "proxy", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args }));
const sessions = new Map();
const http = createServer(async (request, response) => {
  const known = sessions.get(request.headers["mcp-session-id"]);
  if (known !== undefined) return known.handleRequest(request, response);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  const server = new Server({ name: "proxy", version: "1" }, { capabilities: { tools: {} } });
  server.fallbackRequestHandler = (message) => client.request({ method: message.method, params: message.params }, any);
  await server.connect(transport);
  await transport.handleRequest(request, response);
});
http.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
process.on("SIGTERM", () => process.exit(0));
