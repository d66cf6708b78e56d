/**
 * tools/list and tools/call, for the facade and for direct exposure.
 *
 * Owns: which operation a facade tool is, how a direct tool is listed, what a fault looks like in each exposure.
 * Speaks: AgentCall and MCP params in; tool results out, an upstream's own untouched.
 * Never: checks a tool's schema or holds a result back.
 */
import type { ProtocolError } from "@modelcontextprotocol/server";
import {
  describeToolsInput,
  exploreCapabilitiesInput,
  finishTaskInput,
  retrieveToolsInput,
  startTaskInput,
} from "../../model/facade.js";
import { assertNever, Fault, Refusal } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Operations } from "../../model/operations.js";
import { readArguments } from "../../operations/arguments.js";
import type { AgentCall } from "./agent-call.js";
import { readCallInput, readInput } from "./facade-input.js";
import { FACADE_NAMES, isFacadeName } from "./facade-list.js";
import type { FacadeList, FacadeName } from "./facade-list.js";
import type { Questions } from "./questions.js";
import { bodyResult, faultResult, invalidParams, MCP_FORMS, protocolError, refusalResult, withEpisode } from "./translate.js";

export type Exposure = "facade" | "direct";

export interface ToolCalls {
  list(call: AgentCall): { readonly tools: readonly JsonObject[] };
  call(params: JsonObject, call: AgentCall): Promise<JsonObject>;
}

export interface ToolCallParts {
  readonly operations: Operations;
  readonly questions: Questions;
  /** Turns what is neither fault nor refusal into a fault with an incident id, logged. */
  readonly blame: (error: unknown, where: string) => Fault | Refusal;
  /** Counts a call: which, how it ended, how long it took in seconds. */
  readonly count: (operation: string, outcome: Outcome, seconds: number) => void;
  readonly elapsedMs: () => number;
}
export type Outcome = "ok" | "tool-error" | "refused" | "fault" | "bug";

export function createFacadeCalls(parts: ToolCallParts, list: FacadeList): ToolCalls {
  const { operations, questions } = parts;

  async function run(name: FacadeName, raw: unknown, call: AgentCall): Promise<JsonObject> {
    switch (name) {
      case "start_task":
        return bodyResult(await operations.startTask(named(readInput(startTaskInput, raw), call), call.caller));
      case "retrieve_tools":
        return bodyResult(await operations.retrieveTools(named(readInput(retrieveToolsInput, raw), call), call.caller));
      case "explore_capabilities":
        return bodyResult(
          await operations.exploreCapabilities(named(readInput(exploreCapabilitiesInput, raw), call), call.caller),
        );
      case "describe_tools":
        return bodyResult(await operations.describeTools(named(readInput(describeToolsInput, raw), call), call.caller));
      case "finish_task":
        return bodyResult(await operations.finishTask(readInput(finishTaskInput, raw), call.caller));
      case "call_tool": {
        const input = named(readCallInput(raw), call);
        return questions.run(call, async (options) => {
          const counted = await operations.callTool(input, call.caller, { ...options, direct: false });
          return withEpisode(counted.body.result, counted.episode);
        });
      }
      default:
        return assertNever(name, "facade tool");
    }
  }

  return {
    list: (call) => ({ tools: list(call.caller.upstreams).tools }),
    async call(params, call) {
      const name = params["name"];
      if (!isFacadeName(name)) throw invalidParams(unknownName(name), { tools: [...FACADE_NAMES] });
      return counted(parts, name, call, () => run(name, facadeArguments(params["arguments"]), call), faultResult, refusalResult);
    },
  };
}

/** A facade tool's own arguments may come as JSON text as well: clients that stringify do it on every level. */
function facadeArguments(raw: JsonObject[string] | undefined): unknown {
  return typeof raw === "string" ? readArguments(raw) : raw;
}

function unknownName(name: unknown): string {
  if (typeof name !== "string") return `${nameWrong(name)} This endpoint lists ${FACADE_NAMES.join(", ")}.`;
  return `Unknown tool "${name}". This endpoint lists ${FACADE_NAMES.join(", ")}; call tools of upstreams with call_tool.`;
}

/** What is wrong with a name that is no text. */
function nameWrong(name: unknown): string {
  const given =
    name === null ? "null" : Array.isArray(name) ? "a list" : typeof name === "object" ? "an object" : `a ${typeof name}`;
  return name === undefined ? "name is missing: tools/call needs the name of a tool." : `name must be a text, not ${given}.`;
}

/** The episode in `_meta` counts where the arguments name none. */
function named<Input extends { episode?: string | undefined }>(input: Input, call: AgentCall): Input {
  return input.episode === undefined && call.episode !== undefined ? { ...input, episode: call.episode } : input;
}

export function createDirectCalls(parts: ToolCallParts): ToolCalls {
  const { operations, questions } = parts;
  return {
    list: (call) => ({
      tools: operations
        .directTools(call.caller)
        .map((tool) => (call.era === "legacy" ? legacyDocument(tool.document) : tool.document)),
    }),
    async call(params, call) {
      const name = params["name"];
      if (typeof name !== "string") throw invalidParams(nameWrong(name));
      const run = (): Promise<JsonObject> => {
        const input = { tool: name, arguments: readArguments(params["arguments"]), episode: call.episode };
        return questions.run(call, async (options) => {
          // Untouched to the last key: who speaks to an upstream's own tools is told of no episode.
          return (await operations.callTool(input, call.caller, { ...options, direct: true })).body.result;
        });
      };
      return counted(parts, "direct", call, run, directFault, (refusal) => {
        throw protocolError(refusal);
      });
    },
  };
}

/** Older clients refuse a whole list for one output schema whose root is not an object: only that schema is left out. */
function legacyDocument(document: JsonObject): JsonObject {
  const output = document["outputSchema"];
  if (output === undefined || (isJsonObject(output) && output["type"] === "object")) return document;
  const { outputSchema: _dropped, ...rest } = document;
  return rest;
}

function directFault(fault: Fault): JsonObject {
  if (MCP_FORMS[fault.code].direct === "error") throw protocolError(fault);
  return faultResult(fault);
}

/** Runs one call, counts it and gives what was thrown its form. A missing capability of the agent stays a protocol error. */
async function counted(
  parts: ToolCallParts,
  operation: string,
  call: AgentCall,
  run: () => Promise<JsonObject>,
  onFault: (fault: Fault) => JsonObject,
  onRefusal: (refusal: Refusal) => JsonObject,
): Promise<JsonObject> {
  const began = parts.elapsedMs();
  let outcome: Outcome = "ok";
  try {
    const result = await run();
    if (result["isError"] === true) outcome = "tool-error";
    return result;
  } catch (error) {
    if (isAboutAgent(error)) {
      outcome = "refused";
      throw error;
    }
    const blamed = parts.blame(error, `${call.method} ${operation}`);
    outcome = blamed instanceof Refusal ? "refused" : blamed.code === "bug" ? "bug" : "fault";
    return blamed instanceof Refusal ? onRefusal(blamed) : onFault(blamed);
  } finally {
    parts.count(operation, outcome, (parts.elapsedMs() - began) / 1_000);
  }
}

/** Errors about the agent's own request, thrown here as protocol errors: unlike an upstream's refusal they never become results. */
function isAboutAgent(error: unknown): error is ProtocolError {
  return (
    error instanceof Error &&
    !(error instanceof Refusal) &&
    !(error instanceof Fault) &&
    Number.isInteger((error as ProtocolError).code)
  );
}
