/**
 * Proposed takeovers judged by a model: one small question each, held against both tools.
 *
 * Owns: which links are asked about, and which answers are taken.
 * Speaks: open links in; verdicts, and links none came for, out.
 * Never: asks again about definitions it was asked about; makes up a mapping (names that are no parameters spoil the answer);
 *        fails for what a model does: a link without a verdict stays proposed.
 */
import { opinionOf } from "../catalog/lineage/opinion.js";
import { propertiesOf } from "../maintain/fields.js";
import type { LineageVerdict } from "../model/lineage.js";
import { LINEAGE_LOOKS } from "../model/policy.js";
import type { LineageMatch, LineageQuestion, Manager, OpenLink } from "../model/ports.js";
import { tokensOf } from "./budget.js";
import { openRun, type Run, type RunDeps } from "./llm-run.js";
import { lineagePrompt, lineageShape, type LineageAnswer } from "./prompt-lineage.js";
import { shown } from "./prompt.js";

const LINEAGE = { name: "lineage", shape: lineageShape };
/** Characters of the model's reason that are kept. */
const WHY_CHARS = 300;

export function lineageMatcher(deps: RunDeps): Manager["matchLineage"] {
  return async ({ links, at }: LineageQuestion): Promise<LineageMatch> => {
    const fresh = links.filter(({ link, basis }) => opinionOf(link, "manager")?.basis !== basis);
    const within = {
      tokens: Math.floor(deps.limits.runTokens * LINEAGE_LOOKS.tokenShare),
      ms: deps.limits.runMs * LINEAGE_LOOKS.tokenShare,
    };
    const run = openRun(deps, within, "proposed takeovers are left to people");
    const verdicts: LineageVerdict[] = [];
    const unjudged: { link: string; why: string }[] = [];
    for (const open of fresh.slice(0, LINEAGE_LOOKS.askedMost)) {
      const outcome = await judged(deps, run, open, at);
      if ("why" in outcome) unjudged.push({ link: open.link.id, why: outcome.why });
      else verdicts.push(outcome);
    }
    const later = `at most ${LINEAGE_LOOKS.askedMost} takeovers are asked about in one run`;
    for (const { link } of fresh.slice(LINEAGE_LOOKS.askedMost)) unjudged.push({ link: link.id, why: later });
    return { verdicts, unjudged, tokens: run.used() };
  };
}

async function judged(deps: RunDeps, run: Run, open: OpenLink, at: string): Promise<LineageVerdict | { readonly why: string }> {
  const secrets = deps.secrets();
  const asked = await run.ask(LINEAGE, lineagePrompt(open, secrets));
  const { spent } = asked;
  if (asked.answer === undefined) {
    if (spent.calls > 0) deps.account.add("lineage", { spent, fault: asked.fault });
    return { why: asked.why };
  }
  const mapping = mappingOf(asked.answer, open);
  if (typeof mapping === "string") {
    deps.account.add("lineage", { spent, fault: "invalid", dropped: 1 });
    deps.log("info", `a model's verdict on ${open.link.id} was not taken: ${mapping}`);
    return { why: `the model's verdict was not taken: ${mapping}` };
  }
  deps.account.add("lineage", { spent });
  const said = shown(asked.answer.why, secrets, WHY_CHARS);
  return {
    link: open.link.id,
    ...(mapping === undefined ? {} : { params: mapping }),
    opinion: {
      how: "manager",
      verdict: asked.answer.verdict,
      by: deps.model,
      at,
      basis: open.basis,
      why: said === "" ? "it gave no reason" : said,
      evidence: mapping === undefined ? [] : [`parameters corrected: ${pairsText(mapping)}`],
      tokens: tokensOf(spent),
    },
  };
}

/** The corrected pairs of a confirmation; undefined where it is as proposed; a sentence where a pair is none. */
function mappingOf(answer: LineageAnswer, { link, from, to }: OpenLink): Record<string, string> | undefined | string {
  if (answer.verdict !== "confirm" || answer.mapping === "as proposed") return undefined;
  const [old, next] = [propertiesOf(from.inputSchema), to.map((tool) => propertiesOf(tool.inputSchema))];
  const pairs = new Map<string, string>();
  for (const pair of answer.params) {
    if (!Object.hasOwn(old, pair.old)) return `${link.from} has no parameter ${shown(pair.old, [])}`;
    if (!next.some((properties) => Object.hasOwn(properties, pair.new)))
      return `${link.to.join(" and ")} has no parameter ${shown(pair.new, [])}`;
    if (Object.hasOwn(link.fixedArguments, pair.new)) return `${pair.new} is fixed`;
    if (pairs.has(pair.old) || [...pairs.values()].includes(pair.new)) return `${pair.old} or ${pair.new} is paired twice`;
    pairs.set(pair.old, pair.new);
  }
  const isSame = pairs.size === Object.keys(link.params).length && [...pairs].every(([name, to]) => link.params[name] === to);
  return isSame ? undefined : Object.fromEntries(pairs);
}

function pairsText(params: Readonly<Record<string, string>>): string {
  return (
    Object.entries(params)
      .map(([old, next]) => `${old} → ${next}`)
      .join(", ") || "none"
  );
}
