/**
 * What a model is asked for one proposed takeover, and the form of its answer.
 *
 * Owns: what of the two sides and of the evidence is shown.
 * Speaks: one open link in; our own sentences, rows of data and a zod shape out.
 * Never: asks for a tool or a parameter by other names than the data has.
 */
import { z } from "zod";
import type { OpenLink } from "../model/ports.js";
import { parameterRows, shown, toolRow, type PromptParts } from "./prompt.js";

export const lineageShape = z.object({
  verdict: z.enum(["confirm", "reject", "leave"]),
  mapping: z.enum(["as proposed", "corrected"]).default("as proposed"),
  /** All pairs, where the mapping is corrected. */
  params: z.array(z.object({ old: z.string(), new: z.string() })).default([]),
  why: z.string().default(""),
});
export type LineageAnswer = z.infer<typeof lineageShape>;

export function lineagePrompt({ link, from, to }: OpenLink, secrets: readonly string[]): PromptParts {
  return {
    task: [
      "A tool left a catalog, and another one (or several) that is there may have taken over from it. A comparison of names, texts and",
      "parameters proposes so and is not sure. Decide whether what the old tool was called for can be had from the new one.",
      'Verdict "confirm": the same thing is done to the same kind of thing, with no other effect, and what the old tool was given has its',
      'place. Verdict "reject": it does something else, does it to something else, or has an effect the old one had not. Verdict "leave":',
      "the data does not decide it. A wrong confirmation makes procedures call the wrong tool: where in doubt, leave.",
      'Mapping "as proposed": the pairs of parameters are right. Mapping "corrected": give all pairs in `params`; `old` is a parameter of',
      "the tool that left, `new` one of a tool that would take over, each at most once. Arguments that are fixed stay as they are.",
      "Say in `why`, in one sentence, what decided it.",
    ],
    blocks: [
      {
        title: "The proposed takeover",
        rows: [{ kind: link.kind, left: link.from, takes_over: [...link.to], score: link.score }],
      },
      { title: "Its pairs of parameters", rows: Object.entries(link.params).map(([old, next]) => ({ old, new: next })) },
      {
        title: "Its fixed arguments",
        rows: Object.entries(link.fixedArguments).map(([name, value]) => ({ parameter: name, value })),
      },
      { title: "Evidence", rows: link.evidence.map((text) => ({ says: shown(text, secrets) })) },
      { title: "The tool that left", rows: [toolRow(from, secrets)] },
      { title: "Its parameters", rows: parameterRows(from, secrets) },
      { title: "What would take over", rows: to.map((tool) => toolRow(tool, secrets)) },
      { title: "The parameters of that", rows: to.flatMap((tool) => parameterRows(tool, secrets)) },
    ],
  };
}
