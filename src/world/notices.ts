/** What a view says beside its tools and skills: upstreams not listed yet, words that may have been meant, that nothing was found. */
import { reaches, type Reach } from "../model/reach.js";
import type { ViewDecisions, ViewRecord, ViewRequest } from "../model/view.js";
import { needText } from "../provision/plan.js";
import { needWords } from "../retrieve/query.js";
import type { Proposal } from "../retrieve/unmatched.js";
import type { World } from "./world.js";

type Notices = ViewRecord["found"]["notices"];

/** Upstreams within reach of which no tool is known yet. */
export function connectingNotice(world: World, reach: Reach): Notices {
  const connecting = [...world.presence]
    .filter(([label, presence]) => presence.state === "connecting" && reaches(reach, label) && !hasTools(world, label))
    .map(([label]) => label);
  if (connecting.length === 0) return [];
  return [{ code: "connecting", text: `Not listed yet: ${connecting.sort().join(", ")}; ask again in a moment.` }];
}

function hasTools(world: World, label: string): boolean {
  for (const tool of world.catalog.tools.values()) if (tool.label === label) return true;
  return false;
}

export function proposalNotice(proposed: readonly Proposal[]): Notices {
  if (proposed.length === 0) return [];
  const asked = proposed.map(({ word, meant }) => `No tool knows "${word}"; did you mean ${meant.join(" or ")}?`);
  return [{ code: "did-you-mean", text: asked.join(" ") }];
}

/** The need was put right before it was searched for. */
export function correctedNotice(proposed: readonly Proposal[]): Notices {
  const words = proposed.map(({ word, meant }) => `"${meant[0] ?? word}" instead of "${word}"`);
  return [{ code: "did-you-mean", text: `Searched for ${words.join(" and ")}, which no tool knows.` }];
}

/** Tools are given, and the words of the need say little for them. */
export function weakNotice(search: { readonly weak: boolean }): Notices {
  if (!search.weak) return [];
  return [
    {
      code: "weak-match",
      text: "The best match is weak: what is needed may not be here; look at what a tool does before you call it.",
    },
  ];
}

/** An answer in which nothing is given says so, and what to do about it. */
export function emptyNotice(world: World, request: ViewRequest, decisions: ViewDecisions): Notices {
  if (decisions.tools.length + decisions.skills.length > 0) return [];
  const text =
    needWords(needText(request)).length === 0
      ? "There is no word to search for; say in a few words what is to be done, or name a tool."
      : world.catalog.tools.size === 0
        ? "There is nothing to search: no tool is in the catalog."
        : "Nothing in the catalog fits well enough; say the need in other words, or name a system.";
  return [{ code: "nothing-fits", text }];
}
