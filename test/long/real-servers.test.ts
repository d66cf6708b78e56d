import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { StdioUpstream } from "../../src/model/config.js";
import type { JsonObject } from "../../src/model/json.js";
import { isAlive, label, stand, tempFolder, textOf } from "../upstream/stand.js";

const modules = resolve(import.meta.dirname, "../../node_modules");

/** The program of an installed package, run by this Node. */
function packaged(name: string, args: readonly string[], bin?: string): StdioUpstream {
  const manifest = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as {
    bin: string | Record<string, string>;
  };
  const programs = typeof manifest.bin === "string" ? { only: manifest.bin } : manifest.bin;
  const program = bin === undefined ? Object.values(programs)[0] : programs[bin];
  const short = label(name.replace(/^.*\//, "").slice(0, 32));
  return {
    kind: "stdio",
    label: short,
    prefix: short,
    command: process.execPath,
    args: [join(modules, name, program ?? ""), ...args],
    env: { HOME: tempHome() },
    cwd: undefined,
    disabled: false,
    callTimeoutMs: 60_000,
    connectTimeoutMs: 60_000,
    idleStopMs: 0,
  };
}
function tempHome(): string {
  return tempFolder();
}

interface Real {
  readonly name: string;
  readonly args: (folder: string) => readonly string[];
  readonly call: (folder: string) => { readonly name: string; readonly args: JsonObject };
  readonly answers: RegExp;
  readonly tools: number;
}
const real: readonly Real[] = [
  {
    name: "@modelcontextprotocol/server-everything",
    args: () => ["stdio"],
    call: () => ({ name: "echo", args: { message: "hello" } }),
    answers: /hello/,
    tools: 8,
  },
  {
    name: "@modelcontextprotocol/server-filesystem",
    args: (folder) => [folder],
    call: (folder) => ({ name: "read_text_file", args: { path: join(folder, "note.txt") } }),
    answers: /written here/,
    tools: 10,
  },
  {
    name: "@modelcontextprotocol/server-memory",
    args: () => [],
    call: () => ({ name: "read_graph", args: {} }),
    answers: /entities/,
    tools: 8,
  },
  {
    name: "@modelcontextprotocol/server-sequential-thinking",
    args: () => [],
    call: () => ({
      name: "sequentialthinking",
      args: { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    }),
    answers: /thoughtNumber/,
    tools: 1,
  },
  {
    name: "@coo-quack/calc-mcp",
    args: () => [],
    call: () => ({ name: "math", args: { action: "eval", expression: "6*7" } }),
    answers: /42/,
    tools: 10,
  },
  {
    name: "@cyanheads/git-mcp-server",
    args: () => [],
    call: (folder) => ({ name: "git_status", args: { path: folder } }),
    answers: /branch|clean|untracked/i,
    tools: 20,
  },
];

describe("real servers", () => {
  for (const { name, args, call, answers, tools } of real) {
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
