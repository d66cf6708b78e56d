/**
 * A view decided by a model: one question, held against its candidates, within the time an agent waits.
 *
 * Owns: which question is asked, and what happens where no usable answer comes: the rules' decision as it is, with the reason.
 * Speaks: candidates in, decisions out; recorded, they are all a replay needs.
 * Never: fails for what a model does, or asks where there is nothing to choose.
 *
 * The rules decide first, before the first `await`, on the world the candidates came from: what they say is at hand when the model
 * says nothing, and it is byte for byte what they alone would have said.
 */
import type { JsonObject } from "../model/json.js";
import type { Manager } from "../model/ports.js";
import type { ViewDecisions } from "../model/view.js";
import type { z } from "zod";
import { answerSchema } from "./answer.js";
import { decideExplore, decideRetrieve, decideStart, type Decided } from "./answer-view.js";
import { NOTHING_SPENT, type Account, type Spent } from "./budget.js";
import type { Endpoint, Question, Reply, Say } from "./llm-client.js";
import type { LlmLimits } from "./llm-limits.js";
import { isEmpty, poolOf, type ViewPool } from "./llm-pool.js";
import { promptOf, type PromptParts } from "./prompt.js";
import { explorePrompt, exploreShape, retrievePrompt, retrieveShape, startPrompt, startShape } from "./prompt-view.js";

export interface ViewDeps {
  readonly endpoint: Endpoint;
  readonly rules: Manager;
  readonly limits: LlmLimits;
  readonly account: Account;
  readonly secrets: () => readonly string[];
  readonly log: Say;
}

export function viewDecider(deps: ViewDeps): Manager["decideView"] {
  const { limits, account } = deps;
  let underway = 0;
  return async (candidates) => {
    const ruling = deps.rules.decideView(candidates);
    // Awaited later; until then a failure of it is nobody's unhandled one.
    ruling.catch(() => undefined);
    const pool = poolOf(candidates);
    if (isEmpty(pool)) return await ruling;
    const fallBack = async (why: string, fault: string, spent: Spent, dropped = 0): Promise<ViewDecisions> => {
      account.add(candidates.request.kind, { spent, fault, dropped });
      return withSpent({ ...(await ruling), fellBack: why }, spent, dropped);
    };
    if (underway >= limits.viewsAtOnce) return await fallBack("the model is busy with other turns", "crowded", NOTHING_SPENT);
    underway += 1;
    let answered: Answered;
    try {
      answered = await askFor(deps, pool);
    } catch (error) {
      // Our own mistake, met by some answer nobody thought of: it must not cost the agent its view.
      deps.log("error", "a model's part in a view failed", { error: String(error) });
      return await fallBack("the model's answer could not be handled", "invalid", NOTHING_SPENT);
    } finally {
      underway -= 1;
    }
    const { reply, decide } = answered;
    if (reply.kind === "failed") return await fallBack(reply.why, reply.fault, reply.spent);
    const { decisions, dropped } = decide(await ruling);
    if (decisions === undefined)
      return await fallBack("the model named nothing that was there to choose", "invalid", reply.spent, dropped);
    account.add(candidates.request.kind, { spent: reply.spent, dropped });
    return withSpent(decisions, reply.spent, dropped);
  };
}

/** A reply, and what it means against the rules' decision. */
interface Answered {
  readonly reply: Reply<unknown>;
  readonly decide: (byRules: ViewDecisions) => Decided;
}

async function askFor(deps: ViewDeps, pool: ViewPool): Promise<Answered> {
  const ask = async <Shape extends z.ZodType>(
    name: string,
    shape: Shape,
    parts: PromptParts,
    decide: (answer: z.infer<Shape>, byRules: ViewDecisions) => Decided,
  ): Promise<Answered> => {
    const reply = await deps.endpoint.ask(questionOf(deps, name, shape, parts), {
      withinMs: deps.limits.viewMs,
      retries: deps.limits.viewRetries,
      // An agent waits: it is not made to wait for somebody else's quota.
      retryAfterMostMs: 0,
    });
    const nothing: Decided = { decisions: undefined, dropped: 0 };
    return { reply, decide: (byRules) => (reply.kind === "answered" ? decide(reply.answer, byRules) : nothing) };
  };
  const secrets = deps.secrets();
  switch (pool.request.kind) {
    case "start":
      return await ask("plan", startShape, startPrompt(pool, secrets), (answer) => decideStart(answer, pool));
    case "retrieve":
      return await ask("choice", retrieveShape, retrievePrompt(pool, secrets), decideRetrieve);
    case "explore":
      return await ask("choice", exploreShape, explorePrompt(pool, secrets), decideExplore);
  }
}

function questionOf<Shape extends z.ZodType>(
  deps: ViewDeps,
  name: string,
  shape: Shape,
  parts: PromptParts,
): Question<z.infer<Shape>> {
  return {
    prompt: promptOf(parts, deps.secrets()),
    form: { name, schema: answerSchema(shape) },
    answerTokens: deps.limits.viewAnswerTokens,
    read: (answer: JsonObject) => shape.safeParse(answer).data as z.infer<Shape> | undefined,
  };
}

/** What the model's part cost is kept with the decisions; where nothing was asked there is nothing to keep. */
function withSpent(decisions: ViewDecisions, spent: Spent, dropped: number): ViewDecisions {
  return spent.calls === 0 ? decisions : { ...decisions, spent: { ...spent, dropped } };
}
