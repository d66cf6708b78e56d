/** describe_tools: whole definitions, and for what cannot be given the reason and what to use instead. */
import { MARK_NOTES } from "./marks.js";
import type { Counted, DescribeAnswer, DescribedTool, DescribeToolsInput } from "../model/facade.js";
import { Fault } from "../model/fault.js";
import type { JsonObject } from "../model/json.js";
import type { Caller } from "../model/operations.js";
import type { Tool } from "../model/tool.js";
import { nameOf } from "../world/advance.js";
import { marksOf } from "../world/turn.js";
import type { World } from "../world/world.js";
import { findTool } from "./calls.js";
import { pinOf } from "./pins.js";
import { chooseEpisode, type Desk } from "./desk.js";

export function describeTools(desk: Desk, input: DescribeToolsInput, caller: Caller): Counted<DescribeAnswer> {
  const world = desk.steward.world();
  const pinned = pinOf(desk, world, caller);
  const tools: DescribedTool[] = [];
  const missing: { asked: string; why: string; instead: readonly string[] }[] = [];
  for (const asked of input.tools) {
    try {
      tools.push(described(world, findTool(world, asked, caller, pinned)));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const data = (error.data ?? {}) as { instead?: string[]; suggestions?: string[] };
      missing.push({ asked, why: error.detail, instead: data.instead ?? data.suggestions ?? [] });
    }
  }
  return { body: { tools, missing }, episode: chooseEpisode(desk, caller, input.episode).id };
}

/** The definition as listed, its texts cleaned of what is invisible; schemas and unknown fields untouched. */
function described(world: World, tool: Tool): DescribedTool {
  const definition: JsonObject = {
    ...tool.document,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description: tool.description,
    inputSchema: tool.inputSchema,
  };
  const marks = marksOf(world, tool.key);
  return {
    tool: tool.key,
    name: nameOf(world, tool.key),
    definition,
    marks,
    notes: [...marks.map((mark) => MARK_NOTES[mark] ?? mark), ...tool.problems.map((problem) => problem.text)],
  };
}
