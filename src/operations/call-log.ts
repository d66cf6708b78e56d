/**
 * The call log's writer: answered calls become lines on disc, many with one write.
 *
 * Owns: calls that were answered and are not written yet, data flow within running episodes.
 * Speaks: answered calls in; `episode-calls` events to the steward.
 * Never: keeps a call waiting, or decides what a call means for its episode.
 *
 *   add ─► waiting ─ a moment later, or when somebody asks for the lines ─► one event ─► one append and fsync for all of them
 *
 * An agent has its answer before its line is on disc: what a crash can take is what was answered in the last moment, never a line
 * that was acknowledged. Lines keep the order of their answers.
 */
import type { CallLine } from "../model/episode.js";
import type { AnsweredCall, EpisodeOpening } from "../model/event.js";
import type { EpisodeId, ToolKey } from "../model/ids.js";
import type { JsonObject, JsonValue } from "../model/json.js";
import type { Clock } from "../model/ports.js";
import type { Steward } from "../steward.js";
import { dataOf, flowsInto, remember, shapeOf, type FlowMemory } from "../world/flows.js";

/** One call and how it ended. `result` is absent where the upstream gave none. */
export interface Answered {
  readonly at: string;
  readonly episode: EpisodeId;
  readonly open: EpisodeOpening | undefined;
  readonly view: string | undefined;
  readonly tool: ToolKey;
  readonly contract: string;
  readonly args: JsonObject;
  readonly result?: JsonObject | undefined;
  /** What the result came in; counted here where nobody knows. */
  readonly bytes?: number | undefined;
  /** Fault code, where the call never reached its upstream or never came back. */
  readonly fault?: string | undefined;
  /** The upstream said no. */
  readonly refused?: boolean | undefined;
  readonly ms: number;
}

export interface CallLog {
  /** Takes a call to be written soon; never waits, never throws. */
  add(call: Answered): void;
  /** Resolves when every call added so far is on disc, or its loss was logged. */
  settled(): Promise<void>;
}

export interface CallLogOptions {
  readonly steward: Pick<Steward, "post" | "world">;
  readonly clock: Clock;
  readonly redact: (value: JsonValue) => { value: JsonValue; paths: readonly string[] };
  readonly log: (level: "error", text: string, data?: Record<string, unknown>) => void;
  /** Key of the hashes by which values are compared. */
  readonly flowKey: string;
}

/** Time in which calls gather for one write, in milliseconds: what a crash of the machine may take of them. */
const GATHER_MS = 50;
/** Lines of one write, and the time spent on making them before other work has its turn, in milliseconds. */
const LINES_MOST = 256;
const TURN_MS = 8;
/** Calls that wait for a disc that does not keep up; what is above it is lost, loudly. */
const WAITING_MOST = 20_000;
/** Episodes whose data flow is remembered at a time, and values of all of them together. */
const FLOWS_MOST = 500;
const VALUES_MOST = 200_000;

/** A result above this is not printed only to be counted: that would take the time of all agents. Its few bytes of envelope count. */
const COUNTED_MOST = 1024 * 1024;
function bytesOf({ result, bytes }: Answered): number {
  if (result === undefined) return 0;
  return bytes !== undefined && bytes > COUNTED_MOST ? bytes : Buffer.byteLength(JSON.stringify(result));
}

export function createCallLog(options: CallLogOptions): CallLog {
  const { steward, clock, log } = options;
  const flows = new Map<EpisodeId, FlowMemory>();
  let values = 0;
  let waiting: Answered[] = [];
  let lost = 0;
  /** Calls taken and calls done with, ever. */
  let taken = 0;
  let done = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  function gather(): void {
    if (writing === undefined && waiting.length > 0) timer ??= setTimeout(() => void start(), GATHER_MS);
  }

  /** Writes what waits now, one writer at a time. */
  function start(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeWaiting().finally(() => {
      writing = undefined;
      gather();
    });
    return writing;
  }

  async function writeWaiting(): Promise<void> {
    for (let until = taken; done < until;) await writeSome();
    if (lost > 0) log("error", `${lost} calls were not written to the call log: the disc does not keep up.`);
    lost = 0;
  }

  async function writeSome(): Promise<void> {
    const { calls, episodes, taken: tried } = nextLines();
    try {
      if (calls.length > 0) await steward.post({ kind: "episode-calls", at: clock.now(), calls });
    } catch (error) {
      // A line that is not there is no source of a value.
      for (const id of episodes) forget(id);
      log("error", `${calls.length} calls could not be written to the call log: ${String(error)}`);
    }
    done += tried;
  }

  function nextLines(): { calls: AnsweredCall[]; episodes: ReadonlySet<EpisodeId>; taken: number } {
    const { episodes } = steward.world();
    const numbers = new Map<EpisodeId, number>();
    const calls: AnsweredCall[] = [];
    const until = clock.elapsedMs() + TURN_MS;
    let tried = 0;
    for (const call of waiting) {
      // Nobody else writes calls: the number that the decision will give is known.
      const seq = (numbers.get(call.episode) ?? episodes.get(call.episode)?.calls ?? 0) + 1;
      tried += 1;
      try {
        calls.push({ line: lineOf(call, seq), open: call.open });
        numbers.set(call.episode, seq);
      } catch (error) {
        // One call of which no line can be made must not keep the others, which wait behind it, from the disc.
        log("error", `A call of ${call.tool} could not be written to the call log: ${String(error)}`);
      }
      if (calls.length >= LINES_MOST || clock.elapsedMs() > until) break;
    }
    waiting = waiting.slice(tried);
    return { calls, episodes: new Set(numbers.keys()), taken: tried };
  }

  function lineOf(call: Answered, seq: number): Omit<CallLine, "seq" | "format"> {
    const { result } = call;
    const memory = flowsOf(call.episode);
    const redacted = options.redact(call.args);
    const data: JsonValue = result === undefined ? null : dataOf(result);
    const line = {
      at: call.at,
      episode: call.episode,
      ...(call.view === undefined ? {} : { view: call.view }),
      tool: call.tool,
      contract: call.contract,
      args: redacted.value,
      redacted: [...redacted.paths],
      isError: call.refused === true || call.fault !== undefined || result?.["isError"] === true,
      ...(call.fault === undefined ? {} : { fault: call.fault }),
      bytes: bytesOf(call),
      shape: result === undefined ? [] : shapeOf(data),
      flows: flowsInto(call.args, memory, options.flowKey),
      ms: Math.round(call.ms * 100) / 100,
      ...(result !== undefined && steward.world().policy.evidenceKeep === "full" ? { result: options.redact(result).value } : {}),
    };
    if (result !== undefined) {
      const before = memory.size;
      remember(memory, { seq, tool: call.tool }, data, options.flowKey);
      values += memory.size - before;
    }
    return line;
  }

  /** The memory of an episode; the longest unused ones give way to it. */
  function flowsOf(episode: EpisodeId): FlowMemory {
    const memory: FlowMemory = flows.get(episode) ?? new Map();
    flows.delete(episode);
    for (const oldest of flows.keys()) {
      if (flows.size < FLOWS_MOST && values <= VALUES_MOST) break;
      forget(oldest);
    }
    flows.set(episode, memory);
    return memory;
  }

  function forget(episode: EpisodeId): void {
    values -= flows.get(episode)?.size ?? 0;
    flows.delete(episode);
  }

  return {
    add(call) {
      if (waiting.length >= WAITING_MOST) {
        lost += 1;
        return;
      }
      waiting.push(call);
      taken += 1;
      gather();
    },
    async settled() {
      for (const until = taken; done < until;) await start();
    },
  };
}
