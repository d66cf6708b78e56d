/**
 * What one upstream offers, kept up to date: listings become events.
 *
 * Owns: the last good tools, when to look again (announced, polled, retried after a failure), what no transport can carry.
 * Speaks: listings of the catalog's reader.
 * Never: sessions' lives; a failed listing says so and changes nothing.
 */
import { setImmediate } from "node:timers/promises";
import { headerMarks } from "../catalog/header-marks.js";
import type { HeaderMark } from "../catalog/header-marks.js";
import { readMembers } from "../catalog/intake.js";
import type { Event } from "../model/event.js";
import type { Instant, ToolKey, UpstreamLabel } from "../model/ids.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import type { Problem } from "../model/problem.js";
import type { Tool } from "../model/tool.js";
import { listTools } from "./listing.js";
import { createRefresher } from "./refresher.js";
import type { RefreshCause } from "./refresher.js";
import type { Session } from "./session.js";

export interface Lister {
  /** The upstream says that its list moved. */
  changed(): void;
  /** Is it still listed to us? Asked soon, and once for all who wonder. */
  check(): void;
  /** Lists now; rejects with the reason where it cannot. */
  now(cause: RefreshCause): Promise<void>;
  /** Arguments of this tool that go into headers too (modern HTTP). */
  marks(tool: string): readonly HeaderMark[];
  listedOnce(): boolean;
  /** How often the list is read, where it changes over and over. */
  slowedMs(): number | undefined;
  stop(): void;
}
export interface ListerOptions {
  readonly label: UpstreamLabel;
  readonly session: () => Session | undefined;
  readonly post: (event: Event) => Promise<void> | void;
  /** The catalog's tools: what an earlier run listed the same way is handed on as it is. */
  readonly known: () => ReadonlyMap<ToolKey, Tool>;
  readonly now: () => Instant;
  readonly elapsedMs: () => number;
  readonly timeoutMs: () => number;
  readonly pollMs: number;
  readonly onListed: () => void;
  /** The session stands but cannot be listed. */
  readonly onUnlistable: (error: unknown) => void;
  /** The list begins to change over and over, or is calm again. */
  readonly onFlapping: (slowedMs: number | undefined) => void;
}

export function createLister(options: ListerOptions): Lister {
  let tools: ReadonlyMap<ToolKey, Tool> = new Map();
  let marked: ReadonlyMap<string, readonly HeaderMark[]> = new Map();
  let listed = false;
  let failures = 0;
  let announced = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const refresher = createRefresher({
    refresh,
    elapsedMs: options.elapsedMs,
    onFlapping: options.onFlapping,
  });

  async function refresh(cause: RefreshCause): Promise<boolean> {
    const session = options.session();
    if (session === undefined) throw new Error("it is not connected");
    try {
      const raw = await listTools(session, {
        timeoutMs: options.timeoutMs(),
        elapsedMs: options.elapsedMs,
        announced: () => announced,
      });
      failures = 0;
      const news = await take(session, raw.tools, cause);
      plan(raw.ttlMs === undefined ? options.pollMs : Math.min(options.pollMs, Math.max(UPSTREAM_LIMITS.pollMinMs, raw.ttlMs)));
      options.onListed();
      return news;
    } catch (error) {
      // With the session gone there is nothing to retry: its successor lists anew.
      if (options.session() === session) {
        failures += 1;
        plan(Math.min(UPSTREAM_LIMITS.backoffMs * 2 ** failures, UPSTREAM_LIMITS.backoffMaxMs));
        options.onUnlistable(error);
      }
      throw error;
    }
  }

  async function take(session: Session, raw: readonly unknown[], cause: RefreshCause): Promise<boolean> {
    const read = await inTurns(readMembers(options.label, raw, listed ? tools : options.known()), options.elapsedMs);
    // It was taken out meanwhile: its tools must not come back.
    if (stopped) return false;
    const fit = session.greeting.era === "modern" && session.transport === "http" ? withUsableHeaders(read.tools) : undefined;
    const offered = fit?.tools ?? read.tools;
    const news = !listed || offered.length !== tools.size || offered.some((tool) => tools.get(tool.key) !== tool);
    tools = new Map(offered.map((tool) => [tool.key, tool]));
    marked = fit?.marked ?? new Map();
    listed = true;
    const problems: readonly Problem[] = fit === undefined ? read.problems : [...read.problems, ...fit.problems];
    await options.post({ kind: "listing", at: options.now(), label: options.label, tools: offered, problems, cause });
    return news;
  }

  function plan(inMs: number): void {
    clearTimeout(timer);
    if (stopped || inMs <= 0) return;
    timer = setTimeout(() => {
      if (options.session() !== undefined) refresher.ask("poll");
    }, inMs);
    timer.unref();
  }

  return {
    changed() {
      announced += 1;
      refresher.ask("list_changed");
    },
    check: () => refresher.ask("poll"),
    now: (cause) => refresher.now(cause),
    marks: (tool) => marked.get(tool) ?? [],
    listedOnce: () => listed,
    slowedMs: refresher.slowedMs,
    stop() {
      stopped = true;
      clearTimeout(timer);
      refresher.stop();
    },
  };
}

/** Does work whose pieces another may be served between, and lets others in each time it held them up for a while. */
async function inTurns<T>(work: Generator<undefined, T>, elapsedMs: () => number): Promise<T> {
  let sinceMs = elapsedMs();
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (elapsedMs() - sinceMs < UPSTREAM_LIMITS.readTurnMs) continue;
    await setImmediate();
    sinceMs = elapsedMs();
  }
}

/** Tools whose marked arguments can travel as headers; the others cannot be called over this transport. */
function withUsableHeaders(all: readonly Tool[]): {
  tools: Tool[];
  marked: Map<string, readonly HeaderMark[]>;
  problems: Problem[];
} {
  const tools: Tool[] = [];
  const marked = new Map<string, readonly HeaderMark[]>();
  const problems: Problem[] = [];
  for (const tool of all) {
    const { marks, wrong } = headerMarks(tool.inputSchema);
    if (wrong === undefined) tools.push(tool);
    else problems.push({ code: "tool-header-invalid", where: tool.key, text: `${tool.key} is left out: ${wrong}.` });
    if (wrong === undefined && marks.length > 0) marked.set(tool.name, marks);
  }
  return { tools, marked, problems };
}
