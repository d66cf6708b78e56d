/**
 * The bridge's side of Streamable HTTP: requests to the daemon, answers as they come.
 *
 * Owns: one connection pool, event streams, telling a request that was never sent from one that was lost.
 * Speaks: node:http; JSON texts.
 * Never: knows sessions, eras or methods (bridge.ts).
 */
import { Agent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";

/** The request did not reach the daemon: sending it again cannot do anything twice. */
export class NotSent extends Error {}
/** The connection ended after the request was sent and before it was answered. */
export class Lost extends Error {}

export interface Endpoint {
  /** Base URL, e.g. `http://127.0.0.1:7717`. */
  readonly url: string;
  readonly token?: string | undefined;
}

export interface Exchange {
  readonly method: "POST" | "GET" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Every JSON text of the answer: the whole body, or the data of each event. */
  readonly onText: (text: string, head: Head) => void;
  /** The head of the answer, before any of its texts. */
  readonly onHead?: (head: Head) => void;
}
export interface Head {
  readonly status: number;
  readonly session: string | undefined;
}

export interface Wire {
  /** Resolves when the answer ended. Throws NotSent or Lost. */
  send(endpoint: Endpoint, exchange: Exchange): Promise<Head>;
  close(): void;
}

export function createWire(): Wire {
  const agent = new Agent({ keepAlive: true });

  function send(endpoint: Endpoint, exchange: Exchange): Promise<Head> {
    return new Promise((resolve, reject) => {
      const url = new URL(exchange.path, endpoint.url);
      const body = exchange.body === undefined ? undefined : Buffer.from(exchange.body, "utf8");
      const req = httpRequest(url, {
        agent,
        method: exchange.method,
        headers: {
          ...exchange.headers,
          ...(endpoint.token === undefined ? {} : { Authorization: `Bearer ${endpoint.token}` }),
          ...(body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": String(body.length) }),
        },
        signal: exchange.signal,
      });
      const reached = connectedYet(req);
      req.once("error", (error) => reject(reached() ? new Lost(error.message) : new NotSent(error.message)));
      req.once("response", (res) => {
        const session = res.headers["mcp-session-id"];
        const head: Head = { status: res.statusCode ?? 0, session: typeof session === "string" ? session : undefined };
        exchange.onHead?.(head);
        readAnswer(res, (text) => exchange.onText(text, head)).then(
          () => resolve(head),
          (error: unknown) => reject(new Lost(String((error as Error).message))),
        );
      });
      req.end(body);
    });
  }
  return { send, close: () => agent.destroy() };
}

function connectedYet(req: ClientRequest): () => boolean {
  let connected = false;
  req.once("socket", (socket) => {
    if (socket.connecting) socket.once("connect", () => (connected = true));
    else connected = true;
  });
  return () => connected;
}

async function readAnswer(res: IncomingMessage, onText: (text: string) => void): Promise<void> {
  if (res.headers["content-type"]?.startsWith("text/event-stream") === true) {
    const events = createEventReader(onText);
    res.setEncoding("utf8");
    for await (const chunk of res as AsyncIterable<string>) events(chunk);
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of res as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  if (text.trim() !== "") onText(text);
}

/** Data of server-sent events, as chunks come in. Comments and fields other than data are passed over. */
export function createEventReader(onData: (text: string) => void): (chunk: string) => void {
  let rest = "";
  let data: string[] = [];
  return (chunk) => {
    rest += chunk;
    let from = 0;
    for (;;) {
      const end = rest.indexOf("\n", from);
      if (end < 0) break;
      const line = rest.slice(from, rest.charCodeAt(end - 1) === 13 && end > from ? end - 1 : end);
      from = end + 1;
      if (line === "") {
        if (data.length > 0) onData(data.join("\n"));
        data = [];
      } else if (line.startsWith("data:")) data.push(line.charCodeAt(5) === 32 ? line.slice(6) : line.slice(5));
    }
    rest = rest.slice(from);
  };
}
