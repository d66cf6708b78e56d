// A minimal pass-through proxy, stdio to stdio, on the legacy line of the SDK: what a call costs at the least with that library.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const [command, ...args] = process.argv.slice(2);
const any = z.any();
const client = new Client({ name: "proxy", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args }));
const server = new Server({ name: "proxy", version: "1" }, { capabilities: { tools: {} } });
server.fallbackRequestHandler = (request) => client.request({ method: request.method, params: request.params }, any);
await server.connect(new StdioServerTransport());
