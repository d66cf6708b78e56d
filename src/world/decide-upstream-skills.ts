/**
 * What the skills that an upstream serves mean for the library.
 */
import type { Event } from "../model/event.js";
import { NOTHING_TAKEN, planTaking } from "../skills/taken.js";
import { applyWrites, presentDigests, problemWithSkill } from "./decide-library.js";
import { settleStandings } from "./decide-standings.js";
import { put, type Draft } from "./draft.js";
import { servings, takenFrom } from "./upstream-skills.js";

/** Those that are taken in follow what is served: new and changed ones are written, those that went rest. Nothing is removed. */
export function decideSkillsServed(draft: Draft, event: Extract<Event, { kind: "skills-served" }>): void {
  const { label } = event;
  // The configuration moved while they were read.
  if (!draft.known.skillsFrom.has(label)) return;
  const before = draft.known.upstreamSkills.get(label) ?? NOTHING_TAKEN;
  const foreign = [...servings(draft.known)].flatMap(([name, serving]) => (serving.label === label ? [] : [name]));
  const { taken, writes } = planTaking({
    label,
    found: event.found,
    refused: event.refused,
    before,
    foreign: new Set(foreign),
    library: draft.known.library,
    pinned: draft.known.pinned,
    tools: draft.known.catalog.tools,
    blocked: (skill, accepted) => {
      const problem = problemWithSkill(draft.known, skill, accepted);
      return problem === undefined ? undefined : { uri: "", code: problem.code, text: problem.text };
    },
  });
  if (JSON.stringify(taken) !== JSON.stringify(before)) {
    put(draft, { kind: "upstream-skills", label, taken });
    const told = new Set(before.refused.map((one) => JSON.stringify(one)));
    for (const refused of taken.refused)
      if (!told.has(JSON.stringify(refused)))
        draft.effects.push({ kind: "log", level: "warn", text: `${label} serves ${refused.uri}: ${refused.text}` });
  }
  const written = writes.map(({ skill, uri, kind }) => ({
    name: skill.name,
    files: skill.files,
    provenance: "import" as const,
    verified: presentDigests(draft.known, skill.contract),
    edit: {
      kind,
      skill: skill.name,
      cause: `served by the upstream ${label} as ${uri}`,
      signature: `upstream:${label}:${skill.digest}`,
      by: "import" as const,
    },
  }));
  if (written.length > 0) applyWrites(draft, written, `skills of the upstream ${label}`);
  settleStandings(draft, {
    skills: [...takenFrom(draft.known, label), ...(Object.keys(before.skills) as (typeof written)[number]["name"][])],
  });
  draft.answer = { written: written.map(({ name }) => name), refused: taken.refused.length };
}
