import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { isJsonObject, type JsonObject } from "../../src/model/json.js";
import type { Facade } from "./agent.js";

export interface Connected extends Facade {
  close(): Promise<void>;
}

const info = { name: "scripted-agent", version: "1.0.0" };

function facade(call: (name: string, args: JsonObject) => Promise<unknown>, close: () => Promise<void>): Connected {
  return {
    async ask(name, args) {
      const result = await call(name, args);
      if (!isJsonObject(result)) throw new Error(`${name} answered no object`);
      if (name === "call_tool") return result;
      if (result["isError"] === true || !isJsonObject(result["structuredContent"]))
        throw new Error(`${name}: ${JSON.stringify(result["content"])}`);
      return result["structuredContent"];
    },
    close,
  };
}

/** The legacy line of the SDK, with a session. */
export async function connectLegacy(url: string): Promise<Connected> {
  const client = new LegacyClient(info, { capabilities: {} });
  // The SDK's own transport type is not exact about optional properties.
  await client.connect(new LegacyTransport(new URL(`${url}/mcp`)) as never);
  return facade(
    (name, args) => client.callTool({ name, arguments: args }),
    () => client.close(),
  );
}

/** The maintained line in the era without sessions. */
export async function connectModern(url: string): Promise<Connected> {
  const client = new ModernClient(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } } as never);
  await client.connect(new ModernTransport(new URL(`${url}/mcp`)));
  return facade(
    (name, args) => client.callTool({ name, arguments: args }),
    () => client.close(),
  );
}
