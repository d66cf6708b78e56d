/**
 * Probing: recorded calls made again on live upstreams, on tools that only read, as far as the policy lets a run.
 *
 * Owns: what may be called at all, the run's count of calls and its deadline, what was answered already in this run.
 * Speaks: probes in, findings out.
 * Never: calls a tool that does not only read, or one that is held; logs a call as somebody's (no episode has it, nothing learns from it).
 */
import { cleanText } from "../catalog/clean.js";
import { Fault, Refusal } from "../model/fault.js";
import { isJsonObject, type JsonObject } from "../model/json.js";
import { PROBE_LIMITS } from "../model/policy.js";
import type { Tool } from "../model/tool.js";
import { dataOf } from "../world/flows.js";
import { judgeAnswer, type Probe, type ProbeFinding, type Unfit } from "../world/probe.js";
import type { World } from "../world/world.js";
import type { Desk } from "./desk.js";

/** What trying some recorded calls came to. */
export interface Tried {
  /** `shown`: enough answered alike and none otherwise. `refuted`: one did not. `open`: too little was answered. */
  readonly verdict: "shown" | "refuted" | "open";
  readonly evidence: readonly string[];
  /** Whether anything was answered: what only failed to be reached is tried again. */
  readonly answered: boolean;
}

export interface Prober {
  /** May this tool be called without anybody asking for it? A sentence says why not. */
  refusal(tool: Tool): string | undefined;
  try(probes: readonly Probe[], unfit: readonly Unfit[]): Promise<Tried>;
  calls(): number;
}

export function openProber(desk: Desk, world: World): Prober {
  const endsMs = desk.clock.elapsedMs() + PROBE_LIMITS.runMs;
  const known = new Map<string, Promise<ProbeFinding | undefined>>();
  let calls = 0;

  function refusal(tool: Tool): string | undefined {
    if (world.policy.probeCalls === 0) return "the policy lets maintenance call nothing (probeCalls)";
    if (!readsOnly(tool) && !desk.readsOnly(tool.key)) return `${tool.key} does not say that it only reads`;
    if (world.holds.held[tool.key] !== undefined) return `${tool.key} is held`;
    const state = world.presence.get(tool.label)?.state;
    return state === "up" || state === "idle" ? undefined : `its upstream ${tool.label} is ${state ?? "not there"}`;
  }

  /** undefined: no answer came, which says nothing of the tool. */
  async function ask(probe: Probe): Promise<ProbeFinding | undefined> {
    const leftMs = endsMs - desk.clock.elapsedMs();
    if (calls >= world.policy.probeCalls || leftMs <= 0) return undefined;
    calls += 1;
    const { tool, args } = probe;
    const signal = AbortSignal.timeout(Math.min(PROBE_LIMITS.callMs, leftMs));
    try {
      const result = await desk.upstreams.call({ label: tool.label, name: tool.name, args, repeatable: true, signal });
      if (result["isError"] === true) return refused(probe, errorText(result));
      return judgeAnswer(probe, dataOf(result));
    } catch (error) {
      if (error instanceof Refusal) return refused(probe, error.message);
      desk.log(
        "info",
        `a recorded call could not be tried on ${tool.key}: ${error instanceof Fault ? error.code : String(error)}`,
      );
      return undefined;
    }
  }

  function refused(probe: Probe, said: string): ProbeFinding {
    const quote = String(desk.redact(cleanText(said).text.replace(/\s+/g, " ").slice(0, 160)).value);
    return { verdict: "differs", values: 0, text: `${probe.of}: answered with an error now${quote === "" ? "" : ` (${quote})`}` };
  }

  return {
    refusal,
    calls: () => calls,
    async try(probes, unfit) {
      const evidence = unfit.slice(0, PROBE_LIMITS.triedMost).map(({ of, why }) => `${of}: ${why}`);
      if (evidence.length > 0) return { verdict: "refuted", evidence, answered: true };
      let agreeing = 0;
      let values = 0;
      let answered = false;
      for (const probe of probes.slice(0, PROBE_LIMITS.triedMost)) {
        const finding = known.get(probe.id) ?? ask(probe);
        known.set(probe.id, finding);
        const found = await finding;
        if (found === undefined) continue;
        answered = true;
        evidence.push(found.text);
        if (found.verdict === "differs") return { verdict: "refuted", evidence, answered };
        if (found.verdict === "agrees") {
          agreeing += 1;
          values += found.values;
        }
        if (agreeing >= PROBE_LIMITS.agreeing && values > 0) return { verdict: "shown", evidence, answered };
      }
      return { verdict: "open", evidence, answered };
    },
  };
}

/** Says of itself that it only reads, and nothing else that is at odds with that. */
function readsOnly(tool: Tool): boolean {
  const said = tool.document["annotations"];
  return tool.annotations.readOnly && !(isJsonObject(said) && said["destructiveHint"] === true);
}

function errorText(result: JsonObject): string {
  const data = dataOf(result);
  return typeof data === "string" ? data : JSON.stringify(data);
}
