/**
 * The MCP surface: one protocol object for each session, connection or exchange, over one shared core.
 *
 * Owns: what all of them share: questions, lists, announcements, counting.
 * Speaks: Operations on one side, the SDK's low-level Server on the other.
 * Never: HTTP or stdio (transports connect the servers that this makes), methods (methods.ts), wire spellings (translate.ts).
 */
import { randomBytes } from "node:crypto";
import type { Server } from "@modelcontextprotocol/server";
import type { Fault, Refusal } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Caller, Operations } from "../../model/operations.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Asking } from "./agent-call.js";
import { headerMarks, mirrorProblem } from "../../catalog/header-marks.js";
import type { Headers } from "./agent-call.js";
import { createAnnouncer } from "./announce.js";
import type { ListName } from "./announce.js";
import { createFacadeList } from "./facade-list.js";
import { directInstructions } from "./instructions.js";
import { createLevels } from "./levels.js";
import { createMethods } from "./methods.js";
import { createPassing } from "./passing.js";
import { createQuestions } from "./questions.js";
import { answerBeside, createServer } from "./serving.js";
import type { ServeOptions, ServingCore } from "./serving.js";
import { createDirectCalls, createFacadeCalls } from "./tools.js";
import type { Exposure, Outcome } from "./tools.js";
import { blameOf, BRIDGED } from "./translate.js";

export type Log = (level: "debug" | "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void;

export interface AgentsOptions {
  readonly operations: Operations;
  readonly version: string;
  readonly log: Log;
  readonly count?: (exposure: Exposure, operation: string, outcome: Outcome, seconds: number) => void;
}

export interface Agents {
  /** A fresh protocol object, not connected yet. Never shared between connections. */
  serve(options: ServeOptions): Server;
  /** Answers a request as `server`, made with these options, would have. Rejects with ProtocolError. */
  answer(
    options: ServeOptions,
    server: Server,
    request: { method: string; params: JsonObject },
    asking: Asking,
  ): Promise<JsonObject>;
  /** Tells of lists that moved, once per move; the facade's tools only when its list really did. */
  onListMoved(listener: (exposure: Exposure, list: ListName) => void): () => void;
  /** Tells of a followed resource that changed, under each URI it may be followed by. */
  onResourceMoved(listener: (uris: readonly string[]) => void): () => void;
  /** Follows the resources of a modern subscription; the returned function ends it. */
  followAll(uris: readonly string[], caller: Caller): () => void;
  /** Why the headers of a direct call do not repeat its marked arguments; undefined where they do, or where nothing is marked. */
  headerMismatch(params: JsonObject, headers: Headers, caller: Caller): string | undefined;
  readonly heldCalls: number;
  close(): void;
}

export function createAgents(options: AgentsOptions): Agents {
  const { operations, log } = options;
  const questions = createQuestions({ answerMs: SURFACE_LIMITS.answerMs, heldMax: SURFACE_LIMITS.heldCallsMax });
  const passing = createPassing(operations, questions);
  const facadeList = createFacadeList((reach) => operations.facadeFacts(reach));

  const blame = (error: unknown, where: string): Fault | Refusal =>
    blameOf(error, () => {
      const incident = randomBytes(6).toString("hex");
      log("error", `bug in ${where}`, {
        incident,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      return incident;
    });
  const partsOf = (exposure: Exposure) => ({
    operations,
    questions,
    blame,
    count: (operation: string, outcome: Outcome, seconds: number) => options.count?.(exposure, operation, outcome, seconds),
    elapsedMs: () => performance.now(),
  });
  const announcer = createAnnouncer(operations, () => facadeList().tools, passing);
  const core: ServingCore = {
    version: options.version,
    methods: {
      facade: createMethods(createFacadeCalls(partsOf("facade"), facadeList), passing, SURFACE_LIMITS.facadeTtlMs),
      direct: createMethods(createDirectCalls(partsOf("direct")), passing, SURFACE_LIMITS.listTtlMs),
    },
    passing,
    levels: createLevels(),
    announcer,
    directInstructions: (caller) => directInstructions(operations, caller),
    blame,
  };

  return {
    serve: (serving) => createServer(core, serving),
    answer: (serving, server, request, asking) => answerBeside(core, serving, server, request, asking),
    onListMoved: announcer.onList,
    onResourceMoved: announcer.onResource,
    followAll(uris, caller) {
      const follower = {};
      const stop = new AbortController();
      const ended = (uri: string): void => (stop.signal.aborted ? passing.unfollow(uri, follower) : undefined);
      for (const uri of uris) {
        passing.follow(uri, follower, caller, { signal: stop.signal }).then(
          () => ended(uri),
          () => undefined,
        );
      }
      return () => {
        stop.abort();
        passing.unfollowAll(follower);
      };
    },
    headerMismatch(params, headers, caller) {
      const { name, arguments: args } = params;
      const schema = typeof name === "string" ? operations.inputSchema(name, caller) : undefined;
      if (schema === undefined) return undefined;
      const { marks } = headerMarks(schema);
      return mirrorProblem(marks, isJsonObject(args) ? args : {}, headers, headers[BRIDGED] !== undefined);
    },
    get heldCalls() {
      return questions.held;
    },
    close() {
      announcer.close();
      questions.close();
    },
  };
}

/** Resources that the params of a `subscriptions/listen` ask to follow. */
export function followedUris(params: JsonObject): readonly string[] {
  const filter = isJsonObject(params["notifications"]) ? params["notifications"]["resourceSubscriptions"] : undefined;
  return Array.isArray(filter) ? filter.filter((uri): uri is string => typeof uri === "string") : [];
}
