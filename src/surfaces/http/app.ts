/**
 * The HTTP front door: `/mcp`, `/mcp/direct`, `/v1`, health, metrics and the dashboard.
 *
 * Owns: what a request passes through, in which order; listening and the graceful stop.
 * Speaks: express on one side, Operations on the other; built apart from listening, so that tests can inject requests.
 * Never: what an endpoint means (legacy.ts, modern.ts, routes.ts); reads configuration or tokens from disc.
 *
 *   request ─ stopping? ─ Host, Origin ─ token, right ─ body limit ─ JSON ─┬─ /mcp: newer revision | session
 *                                                                          └─ /v1: route
 */
import { randomBytes } from "node:crypto";
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
import { errorMessage, RPC } from "../mcp/translate.js";
import { isJsonType, NotJson, readJson } from "./body.js";
import { createGuard } from "./guard.js";
import { createLegacyEndpoint } from "./legacy.js";
import { listen } from "./listen.js";
import type { Listening } from "./listen.js";
import { createMetrics } from "./metrics.js";
import type { Metrics } from "./metrics.js";
import { createModernEndpoint, isModern } from "./modern.js";
import { createRest } from "./rest.js";
import { createSessions } from "./sessions.js";
import type { CallerBasics, TokenCheck } from "./tokens.js";
import { isLoopbackHost, isLoopbackRequest } from "./tokens.js";
import { HTTP_STATUS, isMcpPath, sendFault, sendJson, sendText, TRANSPORT_STATUS } from "./translate.js";

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

export function createHttpApp(options: HttpAppOptions): HttpSurface {
  const { operations, policy, log, tokens } = options;
  const now = (): number => performance.now();
  const state = { stopping: false, calls: 0 };
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
  const live = () => ({ sessions: sessions.size, calls: state.calls, held: agents.heldCalls });
  const metrics = createMetrics(operations, live, options.metrics);
  const legacy = createLegacyEndpoint(agents, sessions, now);
  const modern = createModernEndpoint(agents, log);
  const guard = createGuard({ allowedHosts: hostNames(options.http), allowedOrigins: options.http.allowedOrigins });

  const authorise = (req: IncomingMessage): CallerBasics => {
    const basics = tokens(req.headers.authorization, isLoopbackRequest(req));
    if (basics === undefined) throw new Fault("unauthorized", "");
    return basics;
  };
  const track = (res: ServerResponse): void => {
    state.calls += 1;
    res.once("close", () => (state.calls -= 1));
  };

  async function mcp(exposure: Exposure, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const basics = authorise(req);
    if (!basics.rights.has("agent")) throw new Fault("forbidden", "It needs the right agent.");
    switch (req.method) {
      case "POST": {
        if (!isJsonType(req.headers["content-type"])) {
          sendJson(
            res,
            TRANSPORT_STATUS.unsupportedMedia,
            errorMessage(null, RPC.invalidRequest, "The Content-Type must be application/json."),
          );
          return;
        }
        const body = await readJson(req, res, policy.requestBytes);
        const listens = (body as { method?: unknown } | null)?.method === "subscriptions/listen";
        if (!listens) track(res);
        const endpoint = isModern(req, body) ? modern : legacy;
        return endpoint.post(exposure, req, res, body, basics);
      }
      case "GET":
        return legacy.get(exposure, req, res, basics);
      case "DELETE":
        return legacy.delete(exposure, req, res, basics);
      default:
        res.setHeader("Allow", "GET, POST, DELETE");
        sendJson(res, TRANSPORT_STATUS.methodNotAllowed, errorMessage(null, RPC.transport, "Method not allowed."));
    }
  }

  /** While stopping, a session with calls in flight may still answer what they ask. */
  const finishes = (req: IncomingMessage): boolean => {
    const id = req.headers["mcp-session-id"];
    if (req.method !== "POST" || typeof id !== "string") return false;
    return (sessions.use(id)?.transport.inFlight ?? 0) > 0;
  };

  /** Refuses what comes while stopping, then what comes from elsewhere. True where the request is answered already. */
  function gate(req: IncomingMessage, res: ServerResponse): boolean {
    if (state.stopping && !finishes(req)) {
      res.setHeader("Connection", "close");
      throw new Fault("shutting-down", "");
    }
    res.setHeader("X-Content-Type-Options", "nosniff");
    return guard(req, res);
  }
  /** The MCP routes, with everything that belongs to them: express adds nothing to them but time. */
  async function serveMcp(exposure: Exposure, req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      if (!gate(req, res)) await mcp(exposure, req, res);
    } catch (error) {
      answerError(error, req, res);
    }
  }

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");
  app.use((req, res, next) => {
    const exposure = exposureOf(req.url);
    if (exposure !== undefined) void serveMcp(exposure, req, res);
    else if (!gate(req, res)) next();
  });
  app.use(
    "/v1",
    createRest({ operations, version: options.version, requestBytes: policy.requestBytes, metrics, authorise, track }),
  );
  app.get("/healthz", (_req, res) => sendJson(res, TRANSPORT_STATUS.ok, { status: "ok", version: options.version }));
  app.get("/readyz", (_req, res) => {
    const { ready, catalog } = operations.health();
    sendJson(res, ready ? TRANSPORT_STATUS.ok : TRANSPORT_STATUS.unavailable, { ready, catalog });
  });
  app.get("/metrics", async (req, res) => {
    authorise(req);
    const { type, text } = await metrics.text();
    sendText(res, TRANSPORT_STATUS.ok, text, type);
  });
  app.get("/", (_req, res) => {
    const { html, policy: content } = dashboardPage(options.version);
    res.setHeader("Content-Security-Policy", content);
    sendText(res, TRANSPORT_STATUS.ok, html, "text/html; charset=utf-8");
  });
  app.use((req) => {
    throw new Fault("route-unknown", `${req.method} ${req.path.slice(0, 200)}`);
  });
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => answerError(error, req, res));

  /** The last station of every error: a fault as it is, bad JSON as a parse error, anything else under an incident id. */
  function answerError(error: unknown, req: IncomingMessage, res: ServerResponse): void {
    const path = (req as Partial<Request>).originalUrl ?? req.url;
    if (error instanceof NotJson && isMcpPath(path)) {
      if (!res.headersSent) sendJson(res, TRANSPORT_STATUS.badRequest, errorMessage(null, RPC.parse, error.message));
      return;
    }
    let fault: Fault;
    if (error instanceof Fault) fault = error;
    else {
      const incident = randomBytes(6).toString("hex");
      const seen = error instanceof Error ? (error.stack ?? error.message) : String(error);
      // A path with broken percent signs and the like: express blames the caller by a status of its own.
      const status = (error as { status?: unknown }).status;
      if (typeof status === "number" && status < HTTP_STATUS.bug)
        fault = new Fault("input-invalid", "The address cannot be read.");
      else {
        log("error", `bug at ${req.method} ${path?.slice(0, 200)}`, { incident, error: seen });
        fault = new Fault("bug", `Incident ${incident}.`);
      }
    }
    metrics.fault(fault.code);
    sendFault(path, res, fault);
  }

  const ticker = setInterval(() => {
    for (const session of sessions.all()) session.transport.tick();
    sessions.sweep();
  }, SURFACE_LIMITS.keepAliveMs);
  ticker.unref();

  async function end(): Promise<void> {
    clearInterval(ticker);
    agents.close();
    await Promise.all([modern.close(), sessions.closeAll()]);
  }

  return {
    app,
    metrics,
    live,
    async listen(host, port) {
      if (!isLoopbackHost(host) && !tokens.configured) {
        throw new Fault("bind-refused", `The address asked for is ${host}.`);
      }
      const listener = (req: IncomingMessage, res: ServerResponse): void => {
        const exposure = exposureOf(req.url);
        if (exposure !== undefined) void serveMcp(exposure, req, res);
        else app(req, res);
      };
      return listen(listener, host, port, {
        stopping: () => {
          state.stopping = true;
          for (const session of sessions.all()) session.transport.endStream();
        },
        busy: () => state.calls > 0,
        end,
      });
    },
    close: end,
  };
}

function exposureOf(url: string | undefined): Exposure | undefined {
  if (url === "/mcp" || url?.startsWith("/mcp?") === true) return "facade";
  return url === "/mcp/direct" || url?.startsWith("/mcp/direct?") === true ? "direct" : undefined;
}

/** Names under which the daemon may be addressed: what it is bound to, unless that is every address, and what is configured. */
function hostNames(http: Config["http"]): readonly string[] {
  const everywhere = ["0.0.0.0", "::", ""];
  const bound = http.host.includes(":") ? `[${http.host}]` : http.host;
  return everywhere.includes(http.host) ? http.allowedHosts : [bound, ...http.allowedHosts];
}
