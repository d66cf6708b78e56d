/**
 * `/mcp` and `/mcp/direct`: one address each for both protocol eras.
 *
 * Owns: the right an agent needs, what each HTTP method means, which era a POST belongs to.
 * Speaks: Node requests; hands over to legacy.ts and modern.ts.
 * Never: express: these routes are served before it, since it adds nothing to them but time.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "../../model/fault.js";
import type { Exposure } from "../mcp/tools.js";
import { errorMessage, RPC } from "../mcp/translate.js";
import { isJsonType, readJson } from "./body.js";
import type { Door } from "./door.js";
import type { LegacyEndpoint } from "./legacy.js";
import { isModern } from "./modern.js";
import type { ModernEndpoint } from "./modern.js";
import { sendJson, TRANSPORT_STATUS } from "./translate.js";

export interface McpRouteParts {
  readonly door: Door;
  readonly legacy: LegacyEndpoint;
  readonly modern: ModernEndpoint;
  readonly requestBytes: number;
}

/** Which endpoint an address names, if any. */
export function exposureOf(url: string | undefined): Exposure | undefined {
  if (url === "/mcp" || url?.startsWith("/mcp?") === true) return "facade";
  return url === "/mcp/direct" || url?.startsWith("/mcp/direct?") === true ? "direct" : undefined;
}

/** Serves one request to its end; never throws. */
export function createMcpRoute(parts: McpRouteParts) {
  return async (exposure: Exposure, req: IncomingMessage, res: ServerResponse): Promise<void> => {
    try {
      if (!parts.door.gate(req, res)) await serve(parts, exposure, req, res);
    } catch (error) {
      parts.door.answerError(error, req, res);
    }
  };
}

/** Id of the request in a body; undefined for a batch or what asks nothing. */
function idOf(body: unknown): string | number | undefined {
  const id = (body as { id?: unknown } | null)?.id;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

async function serve(parts: McpRouteParts, exposure: Exposure, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { door, legacy, modern } = parts;
  const basics = door.authorise(req);
  if (!basics.rights.has("agent")) throw new Fault("forbidden", "It needs the right agent.");
  switch (req.method) {
    case "POST": {
      if (!isJsonType(req.headers["content-type"])) {
        const message = errorMessage(null, RPC.invalidRequest, "The Content-Type must be application/json.");
        return sendJson(res, TRANSPORT_STATUS.unsupportedMedia, message);
      }
      const body = await readJson(req, res, parts.requestBytes);
      // A subscription is no call: nobody waits for its end.
      if ((body as { method?: unknown } | null)?.method !== "subscriptions/listen") door.track(req, res, idOf(body));
      return (isModern(req, body) ? modern : legacy).post(exposure, req, res, body, basics);
    }
    case "GET":
      return legacy.get(exposure, req, res, basics);
    case "DELETE":
      return legacy.delete(exposure, req, res, basics);
    default:
      res.setHeader("Allow", "GET, POST, DELETE");
      return sendJson(res, TRANSPORT_STATUS.methodNotAllowed, errorMessage(null, RPC.transport, "Method not allowed."));
  }
}
