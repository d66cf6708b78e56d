/**
 * The door: what every request passes first, and what every error leaves by.
 *
 * Owns: refusing while stopping, Host and Origin, who the caller is, calls under way, the answer to whatever was thrown.
 * Speaks: Node requests; Faults.
 * Never: bodies, routes, operations.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "../../model/fault.js";
import type { FaultCode } from "../../model/fault.js";
import type { Log } from "../mcp/agents.js";
import { errorMessage, RPC } from "../mcp/translate.js";
import { NotJson } from "./body.js";
import { createGuard } from "./guard.js";
import type { GuardOptions } from "./guard.js";
import { isLoopbackRequest } from "./tokens.js";
import type { CallerBasics, TokenCheck } from "./tokens.js";
import { HTTP_STATUS, isMcpPath, sendFault, sendLast, sendJson, TRANSPORT_STATUS } from "./translate.js";

export interface Door {
  /** Refuses what comes while stopping, then what comes from elsewhere. True where the request is answered already. */
  gate(req: IncomingMessage, res: ServerResponse): boolean;
  /** Throws Fault `unauthorized`. */
  authorise(req: IncomingMessage): CallerBasics;
  /** Counts a request as a call under way until its answer is out; `id` is that of its JSON-RPC message, if it has one. */
  track(req: IncomingMessage, res: ServerResponse, id?: string | number): void;
  /** Answers what is still under way when a stop's time is over: nobody is left with a connection that only closes. */
  interrupt(): void;
  /** The last station of every error: a fault as it is, bad JSON as a parse error, anything else under an incident id. */
  answerError(error: unknown, req: IncomingMessage, res: ServerResponse): void;
  stop(): void;
  readonly calls: number;
}

export interface DoorOptions extends GuardOptions {
  readonly tokens: TokenCheck;
  readonly log: Log;
  readonly onFault: (code: FaultCode) => void;
  /** While stopping: does this request belong to what is being finished? */
  readonly finishes: (req: IncomingMessage) => boolean;
}

export function createDoor(options: DoorOptions): Door {
  const guard = createGuard(options);
  let stopping = false;
  const open = new Map<ServerResponse, { readonly path: string; readonly id: string | number | null }>();
  return {
    gate(req, res) {
      if (stopping && !options.finishes(req)) {
        res.setHeader("Connection", "close");
        throw new Fault("shutting-down", "");
      }
      res.setHeader("X-Content-Type-Options", "nosniff");
      return guard(req, res);
    },
    authorise(req) {
      const basics = options.tokens(req.headers.authorization, isLoopbackRequest(req));
      if (basics === undefined) throw new Fault("unauthorized", "");
      return basics;
    },
    track(req, res, id) {
      open.set(res, { path: addressOf(req), id: id ?? null });
      res.once("close", () => open.delete(res));
    },
    interrupt() {
      // It may have run: sending it again is for who asked to decide.
      const fault = new Fault("call-interrupted", "The daemon is shutting down.");
      for (const [res, { path, id }] of open) sendLast(path, res, fault, id);
    },
    answerError(error, req, res) {
      const path = addressOf(req);
      if (error instanceof NotJson && isMcpPath(path)) {
        if (!res.headersSent) sendJson(res, TRANSPORT_STATUS.badRequest, errorMessage(null, RPC.parse, error.message));
        return;
      }
      const fault = toFault(error, (incident, seen) => {
        options.log("error", `bug at ${req.method} ${path.slice(0, 200)}`, { incident, error: seen });
      });
      options.onFault(fault.code);
      sendFault(path, res, fault);
    },
    stop: () => void (stopping = true),
    get calls() {
      return open.size;
    },
  };
}

/** Address of a request as the client wrote it; express shortens `url` inside routers. */
function addressOf(req: IncomingMessage): string {
  const { originalUrl } = req as { originalUrl?: unknown };
  return typeof originalUrl === "string" ? originalUrl : (req.url ?? "");
}

function toFault(error: unknown, onBug: (incident: string, seen: string) => void): Fault {
  if (error instanceof Fault) return error;
  // A path with broken percent signs and the like: express blames the caller by a status of its own.
  const status = (error as { status?: unknown } | undefined)?.status;
  if (typeof status === "number" && status < HTTP_STATUS.bug) return new Fault("input-invalid", "The address cannot be read.");
  const incident = randomBytes(6).toString("hex");
  onBug(incident, error instanceof Error ? (error.stack ?? error.message) : String(error));
  return new Fault("bug", `Incident ${incident}.`);
}
