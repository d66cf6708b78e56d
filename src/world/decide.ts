/**
 * Decide: what one event means in this world, as changes and effects.
 *
 * Owns: the mapping from event kinds to decisions; nothing else. It may only call.
 * Speaks: events in, changes out.
 * Never: IO; a technique of its own (each lives in its noun's room or in a decide-* file by event).
 *
 * Throws Fault where the event is a request that cannot be granted: nothing is changed then.
 */
import { assertNever } from "../model/fault.js";
import type { Event } from "../model/event.js";
import {
  decideCatalogPinned,
  decideConfigured,
  decideListing,
  decidePresence,
  decideTick,
  decideToolApproved,
} from "./decide-catalog.js";
import { decideLineageJudged } from "./decide-lineage.js";
import {
  decideEpisodeCalls,
  decideEpisodeFinished,
  decideEpisodeOpened,
  decideEpisodesImported,
  decideViewAnswered,
  retireEpisodes,
} from "./decide-episodes.js";
import {
  decideLibraryReverted,
  decideSkillApproved,
  decideSkillPinned,
  decideSkillRemoved,
  decideSkillsWritten,
} from "./decide-library.js";
import { decideSkillsServed } from "./decide-upstream-skills.js";
import { decideMaintenanceProposed } from "./decide-maintenance.js";
import { decideTextsEmbedded } from "./decide-vectors.js";
import { decidePatternsRun, decideSamples } from "./decide-samples.js";
import { decideTakeoverStated } from "./decide-takeover.js";
import { openDraft, put, type Decision, type Draft } from "./draft.js";
import type { World } from "./world.js";

export function decide(world: World, event: Event): Decision {
  const draft = openDraft(world, event.at);
  decideInto(draft, event);
  decideSamples(draft);
  return { changes: draft.changes, effects: draft.effects, answer: draft.answer };
}

function decideInto(draft: Draft, event: Event): void {
  switch (event.kind) {
    case "tick":
      decideTick(draft, event);
      return retireEpisodes(draft, event.at);
    case "configured":
      return decideConfigured(draft, event);
    case "listing":
      return decideListing(draft, event);
    case "presence":
      return decidePresence(draft, event);
    case "catalog-pinned":
      return decideCatalogPinned(draft, event);
    case "tool-approved":
      return decideToolApproved(draft, event);
    case "patterns-run":
      return decidePatternsRun(draft, event);
    case "lineage-judged":
      return decideLineageJudged(draft, event);
    case "takeover-stated":
      return decideTakeoverStated(draft, event);
    case "view-answered":
      return decideViewAnswered(draft, event);
    case "episode-opened":
      return decideEpisodeOpened(draft, event);
    case "episode-calls":
      return decideEpisodeCalls(draft, event);
    case "episode-finished":
      return decideEpisodeFinished(draft, event);
    case "episodes-imported":
      return decideEpisodesImported(draft, event);
    case "skills-written":
      return decideSkillsWritten(draft, event);
    case "skills-served":
      return decideSkillsServed(draft, event);
    case "skill-pinned":
      return decideSkillPinned(draft, event);
    case "skill-approved":
      return decideSkillApproved(draft, event);
    case "skill-removed":
      return decideSkillRemoved(draft, event);
    case "library-reverted":
      return decideLibraryReverted(draft, event);
    case "experience-calibrated":
      return put(draft, { kind: "calibration", calibration: event.calibration });
    case "texts-embedded":
      return decideTextsEmbedded(draft, event);
    case "maintenance-proposed":
      return decideMaintenanceProposed(draft, event);
    default:
      return assertNever(event, "event");
  }
}
