/**
 * Serves `/v1`: authorises, reads, runs one operation, answers.
 *
 * Owns: the order of those steps for every route; event streams of long work.
 * Speaks: express, routes; faults become problem documents.
 * Never: knows a single operation (routes*.ts).
 */
import { Router } from "express";
import type { Request, Response } from "express";
import { z } from "zod";
import { Fault, Refusal } from "../../model/fault.js";
import { isJsonObject, kindInWords } from "../../model/json.js";
import type { Caller, Operations } from "../../model/operations.js";
import type { Reach } from "../../model/reach.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import { passedHeaders } from "../mcp/agent-call.js";
import { inputFault, readInput } from "../mcp/facade-input.js";
import type { Outcome } from "../mcp/tools.js";
import { refusalResult } from "../mcp/translate.js";
import { isJsonType, NotJson, readJson, unsafeName } from "./body.js";
import type { Door } from "./door.js";
import type { Metrics } from "./metrics.js";
import { openApi } from "./openapi.js";
import { TextAnswer } from "./route.js";
import type { Route } from "./route.js";
import { ROUTES } from "./routes.js";
import { keepAlive } from "./exchange.js";
import { problemOf, sendJson, sendText, TRANSPORT_STATUS } from "./translate.js";

export interface RestOptions {
  readonly operations: Operations;
  readonly version: string;
  readonly requestBytes: number;
  readonly metrics: Metrics;
  readonly door: Door;
}

export function createRest(options: RestOptions): Router {
  const router = Router();
  let document: string | undefined;
  router.get("/openapi.json", (_req, res) => {
    document ??= JSON.stringify(openApi(options.version));
    sendText(res, TRANSPORT_STATUS.ok, document, "application/json");
  });
  for (const route of ROUTES) router[route.method](route.path, (req, res) => serve(route, req, res, options));
  return router;
}

async function serve(route: Route, req: Request, res: Response, options: RestOptions): Promise<void> {
  const basics = options.door.authorise(req);
  if (route.rights.length > 0 && !route.rights.some((right) => basics.rights.has(right))) {
    throw new Fault("forbidden", `It needs the right ${route.rights.join(" or ")}.`, { rights: [...route.rights] });
  }
  refuseLimited(route, basics.upstreams);
  options.door.track(req, res);
  const caller: Caller = { ...basics, session: undefined };
  const gone = new AbortController();
  let done = false;
  res.once("close", () => {
    if (!done) gone.abort();
  });
  const began = performance.now();
  let outcome: Outcome = "ok";
  try {
    const query = readQuery(route, req);
    const body = await readBody(route, req, res, options.requestBytes);
    const streaming = route.event !== undefined && req.headers.accept?.includes("text/event-stream") === true;
    const stream = streaming ? openEvents(res) : undefined;
    const work = route.run(options.operations, {
      params: req.params as Record<string, string>,
      query: query as never,
      body: body as never,
      caller,
      signal: gone.signal,
      headers: passedHeaders(req.headers),
      tell: (progress) => stream?.event("progress", progress),
      inEpisode: (episode) => {
        if (!res.headersSent) res.setHeader("Steward-Episode", episode);
      },
    });
    if (stream !== undefined) await streamed(route.event ?? "", work, stream);
    else answer(await work, res);
  } catch (error) {
    outcome = error instanceof Refusal ? "refused" : error instanceof Fault ? "fault" : "bug";
    if (!(error instanceof Refusal)) throw error instanceof z.ZodError ? inputFault(error) : error;
    // The upstream said no: that is its answer, not a problem of ours.
    answer(refusalResult(error), res);
  } finally {
    done = true;
    options.metrics.call("rest", route.path.slice(1), outcome, (performance.now() - began) / 1_000);
  }
}

function refuseLimited(route: Route, reach: Reach): void {
  if (reach === undefined || route.withinReach === true) return;
  const text = `${route.method.toUpperCase()} /v1${route.path} is about every upstream, and this token is limited to ${[...reach].join(", ")}; it takes a token whose entry in state/tokens.json has "upstreams": ["*"].`;
  throw new Fault("forbidden", text, { upstreams: [...reach] });
}

function readQuery(route: Route, req: Request): unknown {
  // A slip of typing would be answered as if nothing had been asked.
  return readInput((route.query ?? z.object({})).strict(), req.query);
}

async function readBody(route: Route, req: Request, res: Response, limitBytes: number): Promise<unknown> {
  if (route.body === undefined) return undefined;
  const empty = req.headers["transfer-encoding"] === undefined && Number(req.headers["content-length"] ?? "0") === 0;
  if (!empty && !isJsonType(req.headers["content-type"])) throw new Fault("input-invalid", "The body must be application/json.");
  let raw: unknown;
  try {
    raw = empty ? undefined : await readJson(req, res, limitBytes);
  } catch (error) {
    throw error instanceof NotJson ? new Fault("input-invalid", error.message) : error;
  }
  if (route.unread === true) return raw;
  const unsafe = unsafeName(raw);
  if (unsafe !== undefined) throw new Fault("input-invalid", `${unsafe}: nothing can be called __proto__ here.`);
  const parsed = route.body.safeParse(raw);
  if (!parsed.success) throw isJsonObject(raw) ? inputFault(parsed.error) : noObject(route.body, raw);
  return parsed.data;
}

/** What the body has to be, what of it must be there, and what came instead. */
function noObject(body: z.ZodType, raw: unknown): Fault {
  const { required = [] } = z.toJSONSchema(body, { io: "input", unrepresentable: "any" });
  const fields = required.map((field) => `\`${field}\``).join(", ");
  const came = raw === undefined ? "there was no body" : `${kindInWords(raw)} came`;
  return new Fault("input-invalid", `The body has to be a JSON object${fields === "" ? "" : ` with ${fields}`}; ${came}.`);
}

function answer(value: unknown, res: Response): void {
  // A stop answered in its place.
  if (res.writableEnded) return;
  if (value instanceof TextAnswer) sendText(res, TRANSPORT_STATUS.ok, value.text, value.type);
  else sendJson(res, TRANSPORT_STATUS.ok, value);
}

/** An event stream that begins with its first event or comment: a fault before it is an ordinary problem. */
interface Events {
  readonly begun: () => boolean;
  event(name: string, data: unknown): void;
  end(name: string, data: unknown): void;
  comment(): void;
}

function openEvents(res: Response): Events {
  const begin = (): void => {
    if (!res.headersSent)
      res.writeHead(TRANSPORT_STATUS.ok, {
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-cache, no-transform",
        "X-Accel-Buffering": "no",
      });
  };
  const written = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  return {
    begun: () => res.headersSent,
    event(name, data) {
      // Who left hears nothing, and who does not read is no reason to keep what is said meanwhile.
      if (res.destroyed || res.writableEnded || res.writableNeedDrain) return;
      begin();
      res.write(written(name, data));
    },
    end(name, data) {
      if (res.writableEnded) return;
      begin();
      res.end(written(name, data));
    },
    comment() {
      begin();
      keepAlive(res);
    },
  };
}

/** Long work as an event stream: comments keep it open, one event ends it. */
async function streamed(event: string, work: Promise<unknown>, stream: Events): Promise<void> {
  const timer = setInterval(() => stream.comment(), SURFACE_LIMITS.keepAliveMs);
  try {
    stream.end(event, await work);
  } catch (error) {
    if (!stream.begun() || !(error instanceof Fault)) throw error;
    stream.end("problem", problemOf(error));
  } finally {
    clearInterval(timer);
  }
}
