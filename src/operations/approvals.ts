/** Approvals of tools: what a person is shown of one, and the word that is given for exactly that. */
import { diffTool } from "../catalog/drift.js";
import { toTool } from "../catalog/intake.js";
import { scanTool } from "../catalog/scan.js";
import { toolTexts, type FieldTexts } from "../catalog/texts.js";
import { skillsReaching } from "../graph/reach.js";
import { Fault } from "../model/fault.js";
import type { Digest } from "../model/ids.js";
import type { ApprovalInput, ApprovedTool, Caller, ToolDifference } from "../model/operations.js";
import type { Tool } from "../model/tool.js";
import { holdWithin, skillWithin } from "../world/reach.js";
import { neighboursIn } from "../world/weigh-holds.js";
import type { World } from "../world/world.js";
import { findTool } from "./calls.js";
import type { Desk } from "./desk.js";

/**
 * Approves a tool for the digests that were shown; with `dryRun` nothing is approved, and the answer is what there is to see. An approval
 * names what it saw: what moved in between is not approved by it.
 */
export async function approveTool(desk: Desk, input: ApprovalInput, caller: Caller): Promise<ApprovedTool> {
  const world = desk.steward.world();
  const tool = findTool(world, input.tool, caller);
  const difference = differenceOf(world, tool, caller);
  if (input.dryRun === true) return { tool: tool.key, approved: false, difference, standing: standingOf(world, tool, caller) };
  const { contract, text, document } = input;
  if (contract === undefined || text === undefined)
    throw new Fault(
      "input-invalid",
      `An approval names the digests it saw: give contract and text of ${tool.key}, as \`difference.digests\` of the same request with "dryRun": true has them.`,
      { digests: { ...difference.digests } },
    );
  await desk.steward.post({
    kind: "tool-approved",
    at: desk.clock.now(),
    by: caller.principal,
    tool: tool.key,
    contract: contract as Digest,
    text: text as Digest,
    ...(document === undefined ? {} : { document: document as Digest }),
  });
  return { tool: tool.key, approved: true, difference, standing: standingOf(desk.steward.world(), tool, caller) };
}

function standingOf(world: World, tool: Tool, caller: Caller): string[] {
  return skillsReaching(world.graph, [tool.key])
    .filter((name) => {
      const skill = world.library.skills.get(name);
      return skill !== undefined && skillWithin(world, skill, caller.upstreams);
    })
    .sort()
    .map((skill) => `${skill}: ${world.standings.get(skill)?.standing ?? "unknown"}`);
}

/** From what was accepted (or last looked at) to what the tool is now. */
function differenceOf(world: World, tool: Tool, caller: Caller): ToolDifference {
  const hold = holdWithin(world, tool.key, caller.upstreams);
  const from = hold === undefined ? world.holds.review[tool.key]?.from : hold.from;
  const listed = from === undefined || from.document === tool.digests.document ? undefined : world.definitions.get(from.document);
  const before = listed === undefined ? undefined : toTool(tool.label, listed);
  const { contract, text, document } = tool.digests;
  return {
    digests: { contract, text, document },
    held: hold !== undefined,
    ...(hold?.predecessor === undefined ? {} : { predecessor: hold.predecessor }),
    reasons: [...(hold?.reasons ?? [])],
    known: before !== undefined,
    changes:
      before === undefined
        ? []
        : diffTool(before, tool).changes.map(({ rule, verdict, path, text: says }) => ({ rule, verdict, path, text: says })),
    texts: textChanges(before, tool),
    findings: scanTool(tool, neighboursIn(world)(tool.label)).map(({ code, severity, where, text: says }) => ({
      code,
      severity,
      where,
      text: says,
    })),
  };
}

/** Every text that came, went or is another; of a tool whose former definition is not known, all of them. */
function textChanges(before: Tool | undefined, after: Tool): ToolDifference["texts"] {
  const [old, now] = [before === undefined ? new Map<string, string>() : placed(before), placed(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((where) => {
    const [was, is] = [old.get(where) ?? "", now.get(where) ?? ""];
    return was === is ? [] : [{ where, before: was, after: is }];
  });
}

/** As listed, invisible characters and all. */
function placed({ document }: Tool): Map<string, string> {
  const texts = toolTexts(document);
  const of = (side: string, fields: FieldTexts): [string, string][] =>
    [...fields].map(([field, all]) => [field === "" ? side : `${side} ${field}`, all.join("\n")]);
  return new Map([
    ["title", texts.title],
    ["description", texts.description],
    ...of("parameter", texts.input),
    ...of("output", texts.output),
  ]);
}
