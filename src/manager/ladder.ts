/**
 * The capability ladder: what an endpoint was found to take, from the strictest form of answer down to plain text.
 *
 *   json_schema → json_object → plain         what keeps the answer in form
 *   max_tokens → max_completion_tokens → none  how its length is bounded
 *   temperature 0 → none                       reasoning models refuse one
 *
 * Owns: one step down for one complaint; remembering where an endpoint and model ended, for a time.
 * Speaks: dialects and complaints.
 * Never: sends anything, or believes a step before an answer came of it.
 */
import { z } from "zod";
import { sha256 } from "../catalog/canonical.js";
import type { LlmMemory } from "./llm-memory.js";

export const RUNGS = ["json_schema", "json_object", "plain"] as const;
const BOUNDS = ["max_tokens", "max_completion_tokens", "none"] as const;

const dialectSchema = z.object({
  rung: z.enum(RUNGS),
  /** The name under which the endpoint takes the bound on an answer's tokens. */
  bound: z.enum(BOUNDS),
  temperature: z.boolean(),
});
/** How an endpoint is asked. */
export type Dialect = z.infer<typeof dialectSchema>;

export const TOP: Dialect = Object.freeze({ rung: "json_schema", bound: "max_tokens", temperature: true });

const rememberedSchema = dialectSchema.extend({ at: z.number() });

export interface Ladder {
  current(): Dialect;
  /** An answer came in this dialect: it is where the next question starts. */
  worked(dialect: Dialect): void;
}

/** `nowMs`: wall-clock milliseconds, since what is remembered outlives the process. */
export function openLadder(options: {
  readonly memory: LlmMemory;
  readonly baseUrl: string;
  readonly model: string;
  readonly nowMs: () => number;
  readonly forgetMs: number;
}): Ladder {
  const { memory, nowMs, forgetMs } = options;
  // Hashed: an address may hold credentials, and the memory lies on disc.
  const key = `ladder ${sha256(`${options.baseUrl}\n${options.model}`).slice(0, 20)}`;
  return {
    current() {
      const known = rememberedSchema.safeParse(memory.get(key));
      if (!known.success) return TOP;
      const age = nowMs() - known.data.at;
      return age < 0 || age > forgetMs ? TOP : dialectSchema.parse(known.data);
    },
    worked(dialect) {
      if (isSame(dialect, this.current())) return;
      memory.set(key, { ...dialect, at: nowMs() });
    },
  };
}

/**
 * The next dialect to try after the endpoint refused a question (`complaint`: its own words) or after its answer was not in form
 * (no complaint). Undefined where nothing is left to give up.
 */
export function stepDown(dialect: Dialect, complaint?: string): Dialect | undefined {
  if (complaint !== undefined) {
    if (dialect.temperature && /temperature/i.test(complaint)) return { ...dialect, temperature: false };
    if (/max_(?:completion_)?tokens/i.test(complaint)) {
      const bound = BOUNDS[BOUNDS.indexOf(dialect.bound) + 1];
      if (bound !== undefined) return { ...dialect, bound };
    }
  }
  const rung = RUNGS[RUNGS.indexOf(dialect.rung) + 1];
  return rung === undefined ? undefined : { ...dialect, rung };
}

function isSame(a: Dialect, b: Dialect): boolean {
  return a.rung === b.rung && a.bound === b.bound && a.temperature === b.temperature;
}
