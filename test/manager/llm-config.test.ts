import { describe, expect, it } from "vitest";
import { interpret } from "../../src/config/config.js";
import type { Config } from "../../src/model/config.js";
import type { JsonObject } from "../../src/model/json.js";

const read = (manager: JsonObject): Config =>
  interpret({ mcpServers: {}, steward: { manager } }, [], "/home", { env: { OPENAI_API_KEY: "key-0123456" } }, []);
const LLM = { kind: "llm", baseUrl: "http://localhost:1/v1", model: "m" };

describe("the configuration of a model", () => {
  it("says how long a view waits, what a run may cost and whether checked edits are applied", () => {
    const config = read({ ...LLM, viewTimeoutMs: "3 s", maintenanceTokens: 50_000, applyChecked: true });
    expect(config.problems).toEqual([]);
    expect(config.manager).toEqual({
      ...LLM,
      apiKeyEnv: "OPENAI_API_KEY",
      viewTimeoutMs: 3_000,
      maintenanceTokens: 50_000,
      applyChecked: true,
    });
    expect(config.secrets).toContain("key-0123456");
  });

  it("leaves the defaults in force where nothing is said, and names what is wrong", () => {
    expect(read(LLM).manager).toEqual({ ...LLM, apiKeyEnv: "OPENAI_API_KEY" });
    const config = read({ ...LLM, viewTimeoutMs: "3 h" });
    expect(config.manager).toEqual({ ...LLM, apiKeyEnv: "OPENAI_API_KEY" });
    expect(config.problems.map(({ where }) => where)).toEqual(["steward.manager.viewTimeoutMs"]);
    expect(read({ ...LLM, applyChecked: "yes" }).problems[0]?.where).toBe("steward.manager.applyChecked");
  });
});
