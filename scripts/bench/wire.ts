/** Thin clients for the call benchmark: one line or one POST a message, nothing that could hide what a proxy costs. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { Agent, request } from "undici";

export interface Wire {
  call(name: string, args: object): Promise<unknown>;
  close(): Promise<void>;
  /** The process at the other end, where this wire started it. */
  readonly pid: number | undefined;
}

const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } };

export async function stdioWire(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Wire> {
  const child = spawn(command, [...args], { stdio: ["pipe", "pipe", "ignore"], env });
  const waiting = new Map<number, (message: { result?: unknown; error?: unknown }) => void>();
  let next = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as { id?: number; result?: unknown; error?: unknown };
    if (message.id === undefined) return;
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const ask = (method: string, params: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = (next += 1);
      waiting.set(id, (message) =>
        message.error === undefined ? resolve(message.result) : reject(new Error(JSON.stringify(message.error))),
      );
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  await ask("initialize", hello);
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return { call: (name, args) => ask("tools/call", { name, arguments: args }), close: () => ended(child), pid: child.pid };
}

/** Time a process may take to end by itself, in milliseconds: a daemon finishes what it has to write. */
const END_MS = 15_000;

/** Resolves when the process is gone. */
export function ended(child: ChildProcess, ask: () => void = () => child.stdin?.end()): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const last = setTimeout(() => child.kill("SIGKILL"), END_MS);
    child.once("exit", () => {
      clearTimeout(last);
      resolve();
    });
    ask();
  });
}

export async function httpWire(url: string): Promise<Wire> {
  const dispatcher = new Agent({ connections: 64, pipelining: 1 });
  let session: string | undefined;
  let next = 0;
  const post = async (body: object): Promise<unknown> => {
    const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    if (session !== undefined)
      Object.assign(headers, { "mcp-session-id": session, "mcp-protocol-version": hello.protocolVersion });
    const response = await request(url, { method: "POST", headers, body: JSON.stringify(body), dispatcher });
    const given = response.headers["mcp-session-id"];
    if (typeof given === "string") session = given;
    const text = await response.body.text();
    if (text === "") return undefined;
    const data = text.startsWith("{")
      ? text
      : (text.split("\n").find((line) => line.startsWith("data: {")) ?? "data: {}").slice(6);
    const message = JSON.parse(data) as { result?: unknown; error?: unknown };
    if (message.error !== undefined) throw new Error(JSON.stringify(message.error));
    return message.result;
  };
  const ask = (method: string, params: unknown): Promise<unknown> => post({ jsonrpc: "2.0", id: (next += 1), method, params });
  await ask("initialize", hello);
  await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  return { call: (name, args) => ask("tools/call", { name, arguments: args }), close: () => dispatcher.close(), pid: undefined };
}
