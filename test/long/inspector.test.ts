/** The inspector, as a person runs it from a shell, before STEWARD before real servers: in both protocol eras, and where it chooses. */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject } from "../../src/model/json.js";
import { dropHome, newHome, startDaemon, type Daemon } from "../e2e/daemon.js";
import { connectAgent } from "../surfaces/mcp-matrix/agent.js";
import { tempFolder } from "../upstream/stand.js";
import { labelOf, modules, programOf, REAL } from "./real-servers.js";

const inspector = join(modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const run = promisify(execFile);

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** One run of `mcp-inspector --cli`; its own files stay in a folder of the test. */
async function inspect(url: string, era: string, method: string, ...more: readonly string[]): Promise<Ran> {
  const home = tempFolder();
  const args = [inspector, "--cli", url, "--transport", "http", "--protocol-era", era, "--method", method];
  const env = { ...process.env, HOME: home, MCP_CATALOG_PATH: join(home, "mcp.json"), NO_COLOR: "1" };
  const options = { env, maxBuffer: 64 * 1024 * 1024, timeout: 120_000 };
  try {
    const { stdout, stderr } = await run(process.execPath, [...args, ...more, "-q"], options);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code?: number; stdout?: string; stderr?: string };
    return { code: typeof code === "number" ? code : -1, out: stdout, err: stderr };
  }
}

/** The result of a run that must be fine. */
async function resultOf(url: string, era: string, method: string, ...more: readonly string[]): Promise<JsonObject> {
  const { code, out, err } = await inspect(url, era, method, "--format", "json", ...more);
  expect([code, code === 0 ? "" : out + err]).toEqual([0, ""]);
  const said: unknown = JSON.parse(out);
  if (!isJsonObject(said)) throw new Error(`${method} answered ${out}`);
  return isJsonObject(said["result"]) ? said["result"] : said;
}

const named = (items: unknown, field: string): string[] => (items as JsonObject[]).map((item) => String(item[field]));

const work = newHome();
const home = newHome();
const shop = newHome();
const note = join(work, "note.txt");
let servers: Daemon;
let starter: Daemon;

beforeAll(async () => {
  mkdirSync(join(home, "config"), { recursive: true });
  writeFileSync(note, "written here");
  execFileSync("git", ["init", "-q", work]);
  const mcpServers = Object.fromEntries(
    REAL.map(({ name, args }) => [labelOf(name), { command: process.execPath, args: [programOf(name), ...args(work)] }]),
  );
  writeFileSync(join(home, "config/steward.json"), JSON.stringify({ mcpServers }));
  servers = await startDaemon(home, []);
  starter = await startDaemon(shop);
  await servers.ready();
  await starter.ready();
});
afterAll(async () => {
  await servers.stop();
  await starter.stop();
  for (const folder of [home, shop, work]) dropHome(folder);
});

describe.each(["legacy", "modern"] as const)("an SDK agent of the %s era before STEWARD before real servers", (era) => {
  it.each(REAL)("calls $name by the facade and by name, with one answer", async ({ name, call, answers }) => {
    const asked = call(work);
    const facade = await connectAgent(era, `${servers.url}/mcp`);
    const direct = await connectAgent(era, `${servers.url}/mcp/direct`);
    const tool = `${labelOf(name)}/${asked.name}`;
    const results = [
      await facade.ask("tools/call", { name: "call_tool", arguments: { tool, arguments: asked.args } }),
      await direct.ask("tools/call", { name: tool.replace("/", "__"), arguments: asked.args }),
    ];
    for (const result of results) {
      expect(JSON.stringify(result)).toMatch(answers);
      expect(result["isError"]).not.toBe(true);
    }
    await facade.close();
    await direct.close();
  });
});

describe.each(["legacy", "auto", "modern"])("the inspector, protocol era %s", (era) => {
  it("lists the facade's six tools, and finds nothing to complain about in their schemas", async () => {
    const { tools } = await resultOf(`${servers.url}/mcp`, era, "tools/list");
    expect(named(tools, "name")).toEqual([
      "start_task",
      "retrieve_tools",
      "explore_capabilities",
      "describe_tools",
      "call_tool",
      "finish_task",
    ]);
    expect((await inspect(`${servers.url}/mcp`, era, "tools/list", "--strict")).code).toBe(0);
  });

  it("calls tools of both servers by the facade and by name", async () => {
    const asked = ["--tool-name", "call_tool", "--tool-arg", "tool=server-filesystem/read_text_file", "--tool-arg"];
    const read = await resultOf(`${servers.url}/mcp`, era, "tools/call", ...asked, `arguments=${JSON.stringify({ path: note })}`);
    expect(JSON.stringify(read)).toContain("written here");
    const direct = await resultOf(
      `${servers.url}/mcp/direct`,
      era,
      "tools/call",
      ...["--tool-name", "server-everything__echo", "--tool-arg", "message=hello"],
    );
    expect(JSON.stringify(direct)).toContain("hello");
  });

  it("lists and reads resources, lists and gets prompts", async () => {
    const url = `${servers.url}/mcp/direct`;
    const { resources } = await resultOf(url, era, "resources/list");
    const uri = named(resources, "uri").find((one) => one.startsWith("steward://upstream/server-everything/")) ?? "";
    const { contents } = await resultOf(url, era, "resources/read", "--uri", uri);
    expect(named(contents, "uri")).toEqual([uri]);
    const { prompts } = await resultOf(url, era, "prompts/list");
    const prompt = named(prompts, "name").find((name) => name.startsWith("server-everything__simple")) ?? "";
    const { messages } = await resultOf(url, era, "prompts/get", "--prompt-name", prompt);
    expect((messages as unknown[]).length).toBeGreaterThan(0);
  });

  it("verifies every skill that is served, digest by digest", async () => {
    const { skills } = await resultOf(`${starter.url}/mcp`, era, "skills/list");
    expect((skills as unknown[]).length).toBeGreaterThan(3);
    const { code, out, err } = await inspect(`${starter.url}/mcp`, era, "skills/list", "--verify", "--require-digests");
    process.stdout.write(`${era}: ${(skills as unknown[]).length} skills verified, exit ${code}\n`);
    expect([code, code === 0 ? "" : out + err]).toEqual([0, ""]);
  });
});
