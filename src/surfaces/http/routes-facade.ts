/** Routes of the six facade operations: the same bodies as by MCP; answers without MCP's envelope. */
import { z } from "zod";
import {
  callToolInput,
  describeToolsInput,
  exploreCapabilitiesInput,
  finishTaskInput,
  retrieveToolsInput,
  startTaskInput,
} from "../../model/facade.js";
import type { Counted } from "../../model/facade.js";
import { readCallInput } from "../mcp/facade-input.js";
import { withEpisode } from "../mcp/translate.js";
import * as answers from "./answers.js";
import { count, route } from "./route.js";
import type { Route } from "./route.js";

/** The body of a counted answer; its episode goes into a header. */
async function told<Body>(
  call: { readonly inEpisode: (episode: string) => void },
  counted: Promise<Counted<Body>>,
): Promise<Body> {
  const { body, episode } = await counted;
  call.inEpisode(episode);
  return body;
}
const asAgent = { tag: "facade", rights: ["agent"], withinReach: true } as const;

export const facadeRoutes: readonly Route[] = [
  route({
    ...asAgent,
    method: "post",
    path: "/start_task",
    summary: "Plan, skills and tools for a task, in a new episode or as the next turn of a running one.",
    body: startTaskInput,
    answer: answers.view,
    run: (operations, call) => told(call, operations.startTask(call.body, call.caller)),
  }),
  route({
    ...asAgent,
    method: "post",
    path: "/retrieve_tools",
    summary: "Tools for one need, or one by its name.",
    body: retrieveToolsInput,
    answer: answers.view,
    run: (operations, call) => told(call, operations.retrieveTools(call.body, call.caller)),
  }),
  route({
    ...asAgent,
    method: "post",
    path: "/explore_capabilities",
    summary: "What the ecosystem can do for a need: skills, tools, alternatives.",
    body: exploreCapabilitiesInput,
    answer: answers.view,
    run: (operations, call) => told(call, operations.exploreCapabilities(call.body, call.caller)),
  }),
  route({
    ...asAgent,
    method: "post",
    path: "/describe_tools",
    summary: "Full definitions of up to five tools.",
    body: describeToolsInput,
    answer: answers.described,
    run: (operations, call) => told(call, operations.describeTools(call.body, call.caller)),
  }),
  route({
    ...asAgent,
    method: "post",
    path: "/call_tool",
    summary: "Calls a tool; the answer is the upstream's own result.",
    body: callToolInput,
    // The arguments are the tool's own: they are checked by its schema, not walked here.
    unread: true,
    answer: answers.toolResult,
    run: async (operations, call) => {
      const input = readCallInput(call.body);
      const counted = await operations.callTool(input, call.caller, {
        signal: call.signal,
        headers: call.headers,
        origin: call.caller.principal,
        direct: false,
      });
      call.inEpisode(counted.episode);
      return withEpisode(counted.body.result, counted.episode);
    },
  }),
  route({
    ...asAgent,
    method: "post",
    path: "/finish_task",
    summary: "Ends an episode; an agent's outcome is a claim.",
    body: finishTaskInput,
    answer: answers.finished,
    run: (operations, call) => told(call, operations.finishTask(call.body, call.caller)),
  }),
  route({
    ...asAgent,
    method: "get",
    path: "/results/:id",
    summary: "A result that call_tool cut: all of it, or one page.",
    query: z.object({ page: count.optional() }),
    answer: answers.keptResult,
    run: (operations, { params, query, caller }) =>
      operations.keptResult(query.page === undefined ? (params["id"] ?? "") : `${params["id"]}/${query.page}`, caller),
  }),
];
