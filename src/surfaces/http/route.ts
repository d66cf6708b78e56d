/**
 * One route of `/v1`, as data: what it takes, who may ask, what it answers.
 *
 * Owns: the shape of a route and of the call that reaches its operation.
 * Speaks: zod schemas and Operations.
 * Never: express (rest.ts serves routes) or OpenAPI syntax (openapi.ts describes them).
 */
import { z } from "zod";
import type { Right } from "../../model/home.js";
import type { Caller, Operations } from "../../model/operations.js";

export interface RestCall<Query, Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Headers that may go on to an upstream whose allow list names them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the answer was asked for as events: one event `progress` now. */
  readonly tell: (progress: unknown) => void;
  /** Names the episode in a header of the answer. */
  readonly inEpisode: (episode: string) => void;
}

/** A text answer of another type than JSON. */
export class TextAnswer {
  constructor(
    readonly type: string,
    readonly text: string,
  ) {}
}

export interface Route {
  readonly method: "get" | "post" | "delete";
  /** Express path below `/v1`, e.g. `/skills/:name`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: "facade" | "catalog" | "skills" | "graph" | "maintenance" | "episodes" | "daemon";
  /** Any one of these rights is enough; empty = every caller that is authorised at all. */
  readonly rights: readonly Right[];
  /**
   * A token limited to some upstreams is answered too, of those alone. Without it such a token is refused: a route that speaks of
   * the whole house cannot forget whom it speaks to.
   */
  readonly withinReach?: true;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The body reaches the operation as it came; the route reads it itself. */
  readonly unread?: boolean;
  readonly answer: z.ZodType;
  /** The answer may be asked for as server-sent events: `progress` and comments while it is made, then one event of this name. */
  readonly event?: string;
  readonly run: (operations: Operations, call: RestCall<never, never>) => Promise<unknown>;
}

interface Parts<Query extends z.ZodObject, Body extends z.ZodType> extends Omit<Route, "query" | "body" | "run"> {
  readonly query?: Query;
  readonly body?: Body;
  readonly run: (operations: Operations, call: RestCall<z.infer<Query>, z.infer<Body>>) => Promise<unknown> | unknown;
}

/** Ties the types of query and body to the operation that gets them. */
export function route<Query extends z.ZodObject = z.ZodObject, Body extends z.ZodType = z.ZodType>(
  parts: Parts<Query, Body>,
): Route {
  return { ...parts, run: async (operations, call) => parts.run(operations, call) };
}

/** Rights of people, as opposed to agents. */
export const PEOPLE: readonly Right[] = ["operate", "verify", "approve"];

/** Pieces of bodies and queries that several routes take. */
export const noBody = z.strictObject({}).optional();
const WHOLE = "must be a whole number, 0 or more";
/** In a body: a number, nothing that could be read as one. */
export const wholeNumber = z.int({ error: WHOLE }).min(0, { error: WHOLE });
/** In a query or a path: digits alone. An empty text is no 0. */
export const digits = <Schema extends z.ZodType>(schema: Schema): z.ZodPreprocess<Schema> =>
  z.preprocess((given) => (typeof given === "string" && /^\d{1,16}$/.test(given) ? Number(given) : given), schema);
export const count = digits(wholeNumber);
export const name = z.string().min(1).max(300);

/** A number in a path. Throws a ZodError, which the surface answers as invalid input. */
export function readCount(params: Readonly<Record<string, string>>, of: string): number {
  return z.record(z.string(), count).parse({ [of]: params[of] })[of] ?? 0;
}
