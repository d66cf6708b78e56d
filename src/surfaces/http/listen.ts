/**
 * Listening, and stopping so that calls under way are answered.
 *
 * Owns: the server's timeouts, the order of a stop, its bound.
 * Speaks: node:http.
 * Never: knows what a request is for.
 *
 *   close(boundMs): refuse new requests → wait until nothing is under way or the bound is over → stop listening → end
 *   sessions and streams → what was said leaves → close what is still connected.
 */
import { createServer, maxHeaderSize } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Fault } from "../../model/fault.js";
import { SURFACE_LIMITS } from "../../model/policy.js";

export interface Listening {
  /** `http://host:port`, as a client on this machine would write it. */
  readonly url: string;
  readonly port: number;
  /** Stops. Idempotent; resolves when the port is free. Takes at most `boundMs` milliseconds and a little. */
  close(boundMs: number): Promise<void>;
}

export interface Stopping {
  /** From now on requests are refused and no stream is kept open for announcements. */
  readonly stopping: () => void;
  readonly busy: () => boolean;
  /** Ends sessions and streams. */
  readonly end: () => Promise<void>;
}

/** How often a stop looks whether calls have finished, in milliseconds. */
const LOOK_MS = 20;
/** How long last words may take to leave, to readers that are slow, in milliseconds. */
const LAST_WORDS_MS = 1_000;

export async function listen(app: RequestListener, host: string, port: number, stop: Stopping): Promise<Listening> {
  const server = createServer(app);
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.keepAliveTimeout = SURFACE_LIMITS.idleConnectionMs;
  server.headersTimeout = SURFACE_LIMITS.headersTimeoutMs;
  // The time a client may take to send a request. Answers may take as long as their calls do.
  server.requestTimeout = SURFACE_LIMITS.requestTimeoutMs;
  server.on("clientError", refuseUnread);
  await bind(server, host, port);
  const address = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${shown(host)}:${address.port}`,
    port: address.port,
    close: (boundMs) => (closing ??= close(server, sockets, boundMs, stop)),
  };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why =
        error.code === "EADDRINUSE"
          ? "the port is taken (`--port` or steward.http.port in config/steward.json name another)"
          : (error.code ?? error.message);
      reject(
        new Fault("config-invalid", `Cannot listen on ${host}:${port}: ${why}.`, { code: error.code ?? "" }, { cause: error }),
      );
    });
    server.listen(port, host, () => resolve());
  });
}

async function close(server: Server, sockets: ReadonlySet<Socket>, boundMs: number, stop: Stopping): Promise<void> {
  stop.stopping();
  // The port stays open meanwhile: what comes is refused in words, and an agent may still answer what a call asks it.
  const until = performance.now() + boundMs;
  while (stop.busy() && performance.now() < until) await pause();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await stop.end();
  // Last words that were just written still have to leave.
  const leftBy = performance.now() + LAST_WORDS_MS;
  do await pause();
  while ([...sockets].some((socket) => socket.writableLength > 0) && performance.now() < leftBy);
  server.closeAllConnections();
  await closed;
}

/** A request that cannot be read as HTTP: told in words, and its connection ended. What still comes is dropped, so that the words arrive. */
function refuseUnread(error: NodeJS.ErrnoException, stream: Duplex): void {
  if (error.code === "ECONNRESET") return void stream.destroy();
  // Told already: this is more of the same.
  if (stream.destroyed || !stream.writable) return;
  const [status, why] = UNREAD[error.code ?? ""] ?? ["400 Bad Request", "This is not an HTTP request that can be read."];
  const body = Buffer.from(JSON.stringify({ type: "about:blank", title: why, status: Number.parseInt(status, 10) }));
  stream.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.toString()}`,
  );
  stream.on("error", () => undefined).resume();
  setTimeout(() => stream.destroy(), LAST_WORDS_MS).unref();
}

const UNREAD: Readonly<Record<string, readonly [status: string, why: string]>> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    `The headers of a request may take ${maxHeaderSize} bytes in all.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not arrive in time."],
};

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

function shown(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
