/**
 * A world served as a real MCP server over stdio: what `steward lab shop --part shop` runs.
 *
 * Owns: the process around one part of a world: its listing, calls, policy resource, switch and state file.
 * Speaks: MCP by the official SDK's low-level server; stdout carries nothing else.
 * Never: what the tools do (worlds/); a call that is answered before its effect is on disc.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { CallToolResult, Tool as ListedByProtocol } from "@modelcontextprotocol/sdk/types.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { Fault } from "../model/fault.js";
import { isJsonObject, type JsonObject } from "../model/json.js";
import { readSwitch, readTables, switchStamp, writeTables } from "./state-file.js";
import { createShop, SHOP_PARTS, type ShopPart, type WorldPart } from "./worlds/shop/shop.js";

/** How often the switch file is looked at when nobody asks for anything. Requests look at once. */
const SWITCH_POLL_MS = 150;
const SERVER_VERSION = "1.0.0";

export interface ServeOptions {
  readonly part: ShopPart;
  /** File that names the catalog version; without it the version stays. */
  readonly switchFile?: string | undefined;
  /** File that keeps the tables over restarts; without it every start is afresh. */
  readonly stateFile?: string | undefined;
  /** Version while the switch says nothing. Default 1. */
  readonly version?: number | undefined;
  /** Default stdio of this process. */
  readonly transport?: Transport | undefined;
  /** Where remarks go. Default stderr. */
  readonly remark?: ((text: string) => void) | undefined;
}

/** Serves until the transport closes (stdin ends). Throws Fault `format-newer` for a state file of a newer kind. */
export async function serveWorld(options: ServeOptions): Promise<void> {
  const remark = options.remark ?? ((text: string) => void process.stderr.write(`${text}\n`));
  const world = openWorld(options, remark);
  const server = new Server(
    { name: `steward-lab-shop-${options.part}`, title: `Sample shop: ${options.part}`, version: SERVER_VERSION },
    { capabilities: { tools: { listChanged: true }, resources: {} }, instructions: world.policy() },
  );
  const followSwitch = switchFollower(world, options.switchFile, remark, () => {
    // Before the handshake nobody has listed anything that could have changed.
    if (server.getClientVersion() === undefined) return;
    void server.sendToolListChanged().catch((error: unknown) => remark(`list_changed was not sent: ${String(error)}`));
  });
  handleRequests(server, world, followSwitch, keeper(world, options.stateFile));

  const closed = new Promise<void>((resolve) => {
    server.onclose = () => resolve();
  });
  const timer = setInterval(followSwitch, SWITCH_POLL_MS);
  timer.unref();
  if (options.transport === undefined) {
    // The SDK's transport does not take the end of stdin for the end of the session.
    process.stdin.once("end", () => void server.close());
    process.stdin.once("close", () => void server.close());
  }
  await server.connect(options.transport ?? new StdioServerTransport());
  await closed;
  clearInterval(timer);
}

function openWorld(options: ServeOptions, remark: (text: string) => void): WorldPart {
  const { part, stateFile, version = 1 } = options;
  const kept = stateFile === undefined ? undefined : readTables(stateFile, "shop", part);
  if (kept?.note !== undefined) remark(kept.note);
  return createShop({ part, version, tables: kept?.tables });
}

/** Writes the tables when a call moved them, before the call is answered. */
function keeper(world: WorldPart, stateFile: string | undefined): () => void {
  let written = JSON.stringify(world.state());
  return () => {
    const now = JSON.stringify(world.state());
    if (now === written || stateFile === undefined) return;
    writeTables(stateFile, "shop", world.part, world.state());
    written = now;
  };
}

/** Level-triggered: compares what the switch says with what is shown, whenever it is called. */
function switchFollower(
  world: WorldPart,
  path: string | undefined,
  remark: (text: string) => void,
  moved: () => void,
): () => void {
  let stamp = "";
  return () => {
    if (path === undefined) return;
    const now = switchStamp(path);
    if (now === stamp) return;
    stamp = now;
    const version = readSwitch(path);
    if (version === undefined || version === world.version()) {
      if (version === undefined && now !== "") remark(`${path} does not name a catalog version; v${world.version()} stays.`);
      return;
    }
    try {
      world.setVersion(version);
    } catch (error) {
      remark(error instanceof Error ? error.message : String(error));
      return;
    }
    moved();
  };
}

function handleRequests(server: Server, world: WorldPart, followSwitch: () => void, keep: () => void): void {
  const policyUri = `${world.part}://policy`;
  followSwitch();
  server.setRequestHandler(ListToolsRequestSchema, () => {
    followSwitch();
    return { tools: world.tools() as unknown as ListedByProtocol[] };
  });
  server.setRequestHandler(CallToolRequestSchema, (request) => {
    followSwitch();
    const given: unknown = request.params.arguments ?? {};
    const result = world.call(request.params.name, isJsonObject(given) ? given : ({} as JsonObject));
    keep();
    return result as unknown as CallToolResult;
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: [{ uri: policyUri, name: `${world.part}-policy`, title: "Policy", mimeType: "text/markdown" }],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, (request) => {
    if (request.params.uri !== policyUri)
      throw new McpError(ErrorCode.InvalidParams, `There is no resource ${request.params.uri}.`);
    return { contents: [{ uri: policyUri, mimeType: "text/markdown", text: world.policy() }] };
  });
}

const USAGE = `usage: steward lab shop --part ${SHOP_PARTS.join("|")} [--switch FILE] [--state FILE] [--catalog-version N]`;

/** The `lab` verb of the command line; `argv` is what follows `lab`. Resolves with the exit code. */
export async function runLabVerb(argv: readonly string[]): Promise<number> {
  const options = readArguments(argv);
  if (typeof options === "string") {
    process.stderr.write(`${options}\n${USAGE}\n`);
    return 2;
  }
  try {
    await serveWorld(options);
    return 0;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

/** The options, or a sentence about what is wrong with them. */
function readArguments(argv: readonly string[]): ServeOptions | string {
  const [world, ...rest] = argv;
  if (world !== "shop") return `There is no world ${world ?? "(none given)"}; the sample ecosystem is \`shop\`.`;
  const values = new Map<string, string>();
  for (let n = 0; n < rest.length; n += 2) {
    const [name = "", value] = [rest[n], rest[n + 1]];
    if (!["--part", "--switch", "--state", "--catalog-version"].includes(name)) return `Unknown option ${name}.`;
    if (value === undefined) return `${name} needs a value.`;
    values.set(name, value);
  }
  const part = SHOP_PARTS.find((one) => one === values.get("--part"));
  if (part === undefined) return `--part must be one of ${SHOP_PARTS.join(", ")}.`;
  const version = values.get("--catalog-version");
  if (version !== undefined && !/^[1-3]$/.test(version)) return "--catalog-version must be 1, 2 or 3.";
  return {
    part,
    switchFile: values.get("--switch"),
    stateFile: values.get("--state"),
    version: version === undefined ? undefined : Number(version),
  };
}
