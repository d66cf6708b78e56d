/**
 * The HTTP front door: `/mcp`, `/mcp/direct`, `/v1`, health, metrics and the dashboard.
 *
 * Owns: which parts stand behind which address, the order of a stop.
 * Speaks: express on one side, Operations on the other; built apart from listening, so that tests can inject requests.
 * Never: what an endpoint means (legacy.ts, modern.ts, routes.ts); reads configuration or tokens from disc.
 *
 *   request ─ stopping? ─ Host, Origin ─ token, right ─ body limit ─ JSON ─┬─ /mcp: newer revision | session
 *                                                                          └─ /v1: route
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import express from "express";
import type { Express, NextFunction, Request, Response } from "express";
import type { Registry } from "prom-client";
import type { Config } from "../../model/config.js";
import { Fault } from "../../model/fault.js";
import type { Operations } from "../../model/operations.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Policy } from "../../model/policy.js";
import { dashboardPage } from "../dashboard/page.js";
import { createAgents } from "../mcp/agents.js";
import type { Log } from "../mcp/agents.js";
import type { Exposure } from "../mcp/tools.js";
import { createDoor } from "./door.js";
import type { Door } from "./door.js";
import { createLegacyEndpoint } from "./legacy.js";
import { listen } from "./listen.js";
import type { Listening } from "./listen.js";
import { createMcpRoute, exposureOf } from "./mcp-route.js";
import { createMetrics } from "./metrics.js";
import type { Metrics } from "./metrics.js";
import { createModernEndpoint } from "./modern.js";
import { createRest } from "./rest.js";
import { createSessions } from "./sessions.js";
import type { Sessions } from "./sessions.js";
import { isLoopbackHost } from "./tokens.js";
import type { TokenCheck } from "./tokens.js";
import { sendJson, sendText, TRANSPORT_STATUS } from "./translate.js";

export interface HttpAppOptions {
  readonly operations: Operations;
  readonly policy: Policy;
  readonly http: Config["http"];
  readonly tokens: TokenCheck;
  readonly log: Log;
  readonly version: string;
  /** Metrics are registered here; without, the surface has a registry of its own. */
  readonly metrics?: Registry;
}

export interface HttpSurface {
  readonly app: Express;
  readonly metrics: Metrics;
  /** Open legacy sessions, and calls under way in either protocol. */
  readonly live: () => { readonly sessions: number; readonly calls: number; readonly held: number };
  /**
   * Binds and serves. Throws Fault `bind-refused` for an address beyond loopback without a token. `close` stops taking
   * requests, lets calls finish for at most `boundMs`, then ends what is left.
   */
  listen(host: string, port: number): Promise<Listening>;
  /** Ends sessions and streams without listening ever having begun (tests that inject). */
  close(): Promise<void>;
}

type ServeMcp = (exposure: Exposure, req: IncomingMessage, res: ServerResponse) => Promise<void>;

export function createHttpApp(options: HttpAppOptions): HttpSurface {
  const { operations, policy, log } = options;
  const now = (): number => performance.now();
  const agents = createAgents({
    operations,
    version: options.version,
    log,
    count: (exposure, operation, outcome, seconds) => metrics.call(exposure, operation, outcome, seconds),
  });
  const sessions = createSessions({
    max: policy.sessionsMax,
    idleMs: policy.sessionIdleMs,
    perMinute: SURFACE_LIMITS.sessionsPerMinute,
    now,
  });
  const names = new Set(options.http.allowedHosts.map((name) => name.toLowerCase()));
  const door = createDoor({
    allowedHosts: names,
    allowedOrigins: options.http.allowedOrigins,
    tokens: options.tokens,
    log,
    onFault: (code) => metrics.fault(code),
    finishes: (req) => hasCallsInFlight(req, sessions),
  });
  const live = () => ({ sessions: sessions.size, calls: door.calls, held: agents.heldCalls });
  const metrics = createMetrics(operations, live, options.metrics);
  const modern = createModernEndpoint(agents, log);
  const legacy = createLegacyEndpoint(agents, sessions, now);
  const serveMcp = createMcpRoute({ door, legacy, modern, requestBytes: policy.requestBytes });
  const app = createExpress(options, door, metrics, serveMcp);

  const ticker = setInterval(() => {
    for (const session of sessions.all()) session.transport.tick();
    sessions.sweep();
  }, SURFACE_LIMITS.keepAliveMs);
  ticker.unref();

  async function end(): Promise<void> {
    clearInterval(ticker);
    agents.close();
    // Sessions answer what they have under way themselves; whatever is left is answered by the door.
    await sessions.closeAll();
    door.interrupt();
    await modern.close();
  }
  return {
    app,
    metrics,
    live,
    async listen(host, port) {
      if (!isLoopbackHost(host) && !options.tokens.configured) {
        throw new Fault("bind-refused", `The address asked for is ${host}.`);
      }
      names.add(host.toLowerCase());
      const listener = (req: IncomingMessage, res: ServerResponse): void => {
        const exposure = exposureOf(req.url);
        if (exposure !== undefined) void serveMcp(exposure, req, res);
        else app(req, res);
      };
      return listen(listener, host, port, {
        stopping: () => {
          door.stop();
          for (const session of sessions.all()) session.transport.endStream();
        },
        busy: () => door.calls > 0,
        end,
      });
    },
    close: end,
  };
}

/** While stopping, a session with calls in flight may still answer what they ask. */
function hasCallsInFlight(req: IncomingMessage, sessions: Sessions): boolean {
  const id = req.headers["mcp-session-id"];
  if (req.method !== "POST" || typeof id !== "string") return false;
  return (sessions.use(id)?.transport.inFlight ?? 0) > 0;
}

function createExpress(options: HttpAppOptions, door: Door, metrics: Metrics, serveMcp: ServeMcp): Express {
  const { operations, version, policy } = options;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");
  app.use((req, res, next) => {
    const exposure = exposureOf(req.url);
    if (exposure !== undefined) void serveMcp(exposure, req, res);
    else if (!door.gate(req, res)) next();
  });
  app.use("/v1", createRest({ operations, version, requestBytes: policy.requestBytes, metrics, door }));
  app.get("/healthz", (_req, res) => sendJson(res, TRANSPORT_STATUS.ok, { status: "ok", version }));
  app.get("/readyz", (_req, res) => {
    const { ready, catalog } = operations.health();
    sendJson(res, ready ? TRANSPORT_STATUS.ok : TRANSPORT_STATUS.unavailable, { ready, catalog });
  });
  app.get("/metrics", async (req, res) => {
    door.authorise(req);
    const { type, text } = await metrics.text();
    sendText(res, TRANSPORT_STATUS.ok, text, type);
  });
  app.get("/", (_req, res) => {
    const { html, policy: content } = dashboardPage(version);
    res.setHeader("Content-Security-Policy", content);
    sendText(res, TRANSPORT_STATUS.ok, html, "text/html; charset=utf-8");
  });
  app.use((req) => {
    throw new Fault("route-unknown", `${req.method} ${req.path.slice(0, 200)}`);
  });
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => door.answerError(error, req, res));
  return app;
}
