/**
 * A history as the daemon lives it: listings, a library of scripted skills with their verified calls, standings after each version.
 */
import type { Catalog } from "../../src/model/catalog.js";
import type { CallLine } from "../../src/model/episode.js";
import type { Event } from "../../src/model/event.js";
import type { EpisodeId, SkillName, ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { WrittenSkill } from "../../src/model/skill.js";
import { renderBody } from "../../src/skills/body.js";
import { asName, renderSkill } from "../../src/skills/text.js";
import { play } from "../../src/world/foresee.js";
import { derive } from "../../src/world/rebuild.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import type { ScriptedSkill } from "./drift-skills.js";

const AT = "2026-01-01T00:00:00.000Z";

export interface NamedSkill extends ScriptedSkill {
  readonly name: SkillName;
}

/** Names by which the skills stand in the library: the tool's own, kept apart by a number. */
export function nameSkills(skills: readonly ScriptedSkill[]): NamedSkill[] {
  return skills.map((skill, index) => ({
    ...skill,
    name: `tool-${asName(skill.tool.name).slice(0, 48).replace(/-+$/, "")}-${index}` as SkillName,
  }));
}

/** The world at the first version, with every skill written and every recorded call verified. Each caller gets one of its own. */
export function startWorld(
  labels: readonly UpstreamLabel[],
  first: Catalog,
  skills: readonly NamedSkill[],
  write: (skill: NamedSkill) => WrittenSkill = written,
): World {
  const upstreams = new Map(labels.map((label) => [label, { disabled: false, prefix: label }]));
  const events: Event[] = [
    { kind: "configured", at: AT, starting: true, upstreams, policy: DEFAULT_POLICY },
    ...listings(labels, first),
    { kind: "skills-written", at: AT, by: "starter", written: skills.map(write), missing: [] },
    ...skills.flatMap((skill, index) => verifiedCalls(skill, index)),
  ];
  return play(derive(emptyKnown, new Map()), events).world;
}

/** The world after one more version; upstreams without a tool in it list none. */
export function moveWorld(world: World, labels: readonly UpstreamLabel[], catalog: Catalog): World {
  let { world: moved, questions } = play(world, listings(labels, catalog));
  while (questions.length > 0) {
    const answers = questions.map(({ pattern, text }) => ({ pattern, text, matches: matchesPattern(pattern, text) }));
    ({ world: moved, questions } = play(moved, [{ kind: "patterns-run", at: AT, answers }]));
  }
  return moved;
}

/** Published schemas and texts of our own: nothing here runs for ever. */
function matchesPattern(pattern: string, text: string): boolean | undefined {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return undefined;
  }
}

function listings(labels: readonly UpstreamLabel[], catalog: Catalog): Event[] {
  const tools = [...catalog.tools.values()];
  return labels.map((label) => ({
    kind: "listing",
    at: AT,
    label,
    tools: tools.filter((tool) => tool.label === label),
    problems: [],
    cause: "poll",
  }));
}

function written({ name, tool, usage }: NamedSkill): WrittenSkill {
  const files = renderSkill({
    name,
    tier: "tool",
    description: `Use ${asName(tool.name)}.`,
    body: renderBody({ whenToUse: "It is asked for.", steps: [`Call \`${tool.key}\` with what the request says.`] }),
    contract: {
      requires: [{ tool: tool.key, contractDigest: tool.digests.contract, params: [...usage.params], reads: [...usage.reads] }],
      uses: [],
      produces: [],
      evidence: [],
    },
  });
  return { folder: name, files };
}

/** An episode in which the recorded calls were made and that a replay verified. */
function verifiedCalls({ tool, usage }: NamedSkill, index: number): Event[] {
  if (usage.recorded.length === 0) return [];
  const episode = `ep_scripted${index}` as EpisodeId;
  const calls: CallLine[] = usage.recorded.map((args, seq) => ({
    format: "call/1",
    at: AT,
    episode,
    seq: seq + 1,
    tool: tool.key satisfies ToolKey,
    contract: tool.digests.contract,
    args,
    redacted: [],
    isError: false,
    bytes: 0,
    shape: [],
    flows: [],
    ms: 0,
  }));
  return [
    { kind: "episode-opened", at: AT, episode, opening: { task: `use ${tool.name}`, explicit: true, principal: "eval" } },
    { kind: "episode-finished", at: AT, episode, outcome: { outcome: "success", trust: "replay", by: "eval", at: AT }, calls },
  ];
}
