/** What upstreams ask and tell agents while a call runs. */
import { expect } from "vitest";
import type { JsonObject } from "../../../src/model/json.js";
import { ANSWERS } from "./agent.js";
import { structured, way, type Cell, type Feature, type Seen } from "./cell.js";

const FORM = { mode: "form", message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
const URL_ = { mode: "url", message: "Sign in.", url: "https://example.com/login", elicitationId: "e-1" };
const SAMPLE = { messages: [{ role: "user", content: { type: "text", text: "The capital of France?" } }], maxTokens: 10 };

const asks = (method: string, params: JsonObject) => async (cell: Cell) => {
  cell.agent.asked.length = 0;
  const { by, answer } = await structured(cell, "ask", { method, params });
  expect(answer).toMatchObject(ANSWERS[method] ?? {});
  expect(cell.agent.asked).toEqual([method]);
  return way(cell.agent.era === "legacy" ? "request" : "input_required", String(by));
};

async function logging(cell: Cell): Promise<Seen> {
  const { agent } = cell;
  // Each era its own: a level that the other's probe left behind proves nothing.
  const { level, below } = agent.era === "legacy" ? { level: "warning", below: "notice" } : { level: "info", below: "debug" };
  const meta = agent.era === "modern" ? { _meta: { "io.modelcontextprotocol/logLevel": level } } : {};
  if (agent.era === "legacy") await agent.ask("logging/setLevel", { level });
  const told = async (at: string) => {
    agent.heard.length = 0;
    const { by } = await structured(cell, "log", { at, data: { at } }, meta);
    return { by: String(by), heard: agent.heard.filter((message) => message["method"] === "notifications/message") };
  };
  const loud = await told(level);
  expect(loud.heard).toMatchObject([{ params: { level, logger: "every", data: { at: level } } }]);
  expect((await told(below)).heard).toEqual([]);
  return way(agent.era === "legacy" ? "logging/setLevel" : "request metadata", loud.by);
}

const group = "What upstreams ask and tell";
export const QUESTIONS: readonly Feature[] = [
  { group, name: "sampling", probe: asks("sampling/createMessage", SAMPLE) },
  { group, name: "elicitation by form", probe: asks("elicitation/create", FORM) },
  { group, name: "elicitation by URL", probe: asks("elicitation/create", URL_) },
  { group, name: "roots", probe: asks("roots/list", {}) },
  { group, name: "log messages, from the level that the agent wants", probe: logging },
];
