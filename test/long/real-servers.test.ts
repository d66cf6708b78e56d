import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { StdioUpstream } from "../../src/model/config.js";
import type { JsonObject } from "../../src/model/json.js";
import { isAlive, label, stand, tempFolder, textOf } from "../upstream/stand.js";
import { labelOf, modules, programOf, REAL } from "./real-servers.js";

/** The program of an installed package, run by this Node. */
function packaged(name: string, args: readonly string[]): StdioUpstream {
  const short = label(labelOf(name));
  return {
    kind: "stdio",
    label: short,
    prefix: short,
    command: process.execPath,
    args: [programOf(name), ...args],
    env: { HOME: tempFolder() },
    cwd: undefined,
    disabled: false,
    callTimeoutMs: 60_000,
    connectTimeoutMs: 60_000,
    idleStopMs: 0,
  };
}

describe("real servers", () => {
  for (const { name, args, call, answers, tools } of REAL) {
    it.skipIf(!existsSync(join(modules, name)))(`${name}: lists whole, answers a call, leaves no process`, async () => {
      const folder = tempFolder();
      mkdirSync(join(folder, "sub"));
      writeFileSync(join(folder, "note.txt"), "written here");
      execFileSync("git", ["init", "-q", folder]);
      const one = stand(packaged(name, args(folder)));
      const asked = call(folder);
      const result = await one.call(asked.name, asked.args);
      await one.reach("up");
      expect(JSON.stringify(result)).toMatch(answers);
      expect(result["isError"]).not.toBe(true);
      const listing = one.listings().at(-1);
      expect(listing?.tools.length).toBeGreaterThanOrEqual(tools);
      expect(listing?.problems.filter((problem) => problem.code.startsWith("tool-"))).toEqual([]);
      process.stdout.write(
        `${name}: ${listing?.tools.length ?? 0} tools, era ${one.status().era ?? "?"}, ${one.status().server?.version ?? "?"}, stdout noise ${one.status().noiseLines}\n`,
      );
      const pid = one.status().pid ?? 0;
      await one.stop();
      expect(await isAlive(pid)).toBe(false);
    });
  }

  it("server-everything asks the agent through us: elicitation and sampling come back with its answers", async () => {
    const one = stand(packaged("@modelcontextprotocol/server-everything", ["stdio"]));
    await one.reach("up");
    const asked: string[] = [];
    const onRequest = async (method: string): Promise<JsonObject> => {
      asked.push(method);
      if (method === "sampling/createMessage")
        return { role: "assistant", model: "m", content: { type: "text", text: "sampled" } };
      return { action: "decline" };
    };
    const names =
      one
        .listings()
        .at(-1)
        ?.tools.map((tool) => tool.name) ?? [];
    for (const name of names.filter((found) => /sampling|elicitation/.test(found) && !/url/.test(found))) {
      const result = await one
        .call(name, { prompt: "hi", maxTokens: 10 }, { onRequest })
        .catch((error: unknown) => ({ content: [{ text: String(error) }] }));
      expect(textOf(result as JsonObject)).not.toBe("");
    }
    expect(asked).toContain("sampling/createMessage");
    expect(asked.some((method) => method.startsWith("elicitation/"))).toBe(true);
  });

  it("package runners are ended with what they run", async () => {
    const folder = join(modules, ".bin");
    expect(readdirSync(folder)).toContain("mcp-server-everything");
    const one = stand({
      ...packaged("@modelcontextprotocol/server-everything", []),
      command: "npx",
      args: ["--no-install", "mcp-server-everything", "stdio"],
      cwd: resolve(modules, ".."),
    });
    await one.reach("up");
    const { pid } = one.status();
    await one.stop();
    expect(await isAlive(pid ?? 0)).toBe(false);
  });
});
