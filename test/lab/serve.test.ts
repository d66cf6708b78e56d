import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, it, expect } from "vitest";
import { runLabVerb, serveWorld, type ServeOptions } from "../../src/lab/serve.js";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const home = (): string => mkdtempSync(join(tmpdir(), "steward-lab-"));
/** As the demo verb writes it: whole, by rename. */
function setSwitch(path: string, version: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify({ format: "demo/1", version }));
  renameSync(`${path}.new`, path);
}

async function serve(options: ServeOptions) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const remarks: string[] = [];
  const done = serveWorld({ ...options, transport: far, remark: (text) => void remarks.push(text) });
  const client = new Client({ name: "test", version: "1" });
  let changes = 0;
  let wake: () => void = () => undefined;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
    wake();
  });
  await client.connect(near);
  const close = async (): Promise<void> => {
    await client.close();
    await done;
  };
  open.push(close);
  return {
    client,
    remarks,
    close,
    names: async () => (await client.listTools()).tools.map((tool) => tool.name),
    changes: () => changes,
    changed: () => new Promise<void>((resolve) => (changes > 0 ? resolve() : (wake = resolve))),
  };
}

describe("a served part of the shop", () => {
  it("gives its policy as instructions and as a resource", async () => {
    const { client } = await serve({ part: "depot" });
    expect(client.getInstructions()).toContain("# Depot policy");
    const { contents } = await client.readResource({ uri: "depot://policy" });
    expect(contents[0]).toMatchObject({ mimeType: "text/markdown", text: client.getInstructions() });
    await expect(client.readResource({ uri: "depot://other" })).rejects.toThrow(/no resource/);
  });

  it("shows another catalog when the switch file moves, and says so once", async () => {
    const path = join(home(), "demo.json");
    setSwitch(path, 1);
    const shop = await serve({ part: "shop", switchFile: path });
    expect(await shop.names()).toContain("find_customer");
    setSwitch(path, 2);
    await shop.changed();
    expect(await shop.names()).toContain("lookup_customer");
    expect(await shop.names()).not.toContain("find_customer");
    expect(shop.changes()).toBe(1);
  });

  it("never answers by the old catalog once the switch has moved, notified or not", async () => {
    const path = join(home(), "demo.json");
    const shop = await serve({ part: "shop", switchFile: path });
    setSwitch(path, 3);
    const result = await shop.client.callTool({ name: "get_order_status", arguments: { order_id: "O-1001" } });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result.content)).toContain("exists in v1 and v2 only; this is v3");
    expect(await shop.names()).toContain("refund_order");
  });

  it("keeps its version and says why where the switch names none that exists", async () => {
    const path = join(home(), "demo.json");
    setSwitch(path, 2);
    const shop = await serve({ part: "shop", switchFile: path });
    setSwitch(path, 9);
    expect(await shop.names()).toContain("lookup_customer");
    setSwitch(path, "latest");
    expect(await shop.names()).toContain("lookup_customer");
    expect(shop.remarks).toEqual([
      expect.stringMatching(/versions 1 to 3, not 9/),
      expect.stringMatching(/does not name a catalog version/),
    ]);
  });

  it("keeps what was done over a restart, and each upstream keeps only its own tables", async () => {
    const state = join(home(), "lab", "shop.json");
    const first = await serve({ part: "shop", stateFile: state });
    expect(existsSync(state)).toBe(false);
    await first.client.callTool({ name: "cancel_order", arguments: { order_id: "O-1003", reason: "other" } });
    await first.close();
    const second = await serve({ part: "shop", stateFile: state, version: 2 });
    const { structuredContent } = await second.client.callTool({ name: "get_order", arguments: { order_id: "O-1003" } });
    expect(structuredContent).toMatchObject({ status: "cancelled" });
    const kept = JSON.parse(readFileSync(state, "utf8")) as { format: string; tables: object };
    expect(kept.format).toBe("lab-state/1");
    expect(Object.keys(kept.tables).sort()).toEqual(["customers", "orders", "payments", "refunds", "returns"]);
    expect(readdirSync(join(state, ".."))).toEqual(["shop.json"]);
  });

  it("writes nothing for calls that only read or are refused", async () => {
    const state = join(home(), "shop.json");
    const { client } = await serve({ part: "shop", stateFile: state });
    await client.callTool({ name: "get_order", arguments: { order_id: "O-1003" } });
    await client.callTool({ name: "cancel_order", arguments: { order_id: "O-1002", reason: "other" } });
    expect(existsSync(state)).toBe(false);
  });

  it("sets a damaged state file aside, names it and starts afresh [P01]", async () => {
    const folder = home();
    const state = join(folder, "shop.json");
    writeFileSync(state, "\u0000\u0000");
    const { client, remarks } = await serve({ part: "shop", stateFile: state });
    expect(await client.callTool({ name: "get_order", arguments: { order_id: "O-1003" } })).not.toMatchObject({ isError: true });
    expect(remarks).toEqual([expect.stringContaining("set aside")]);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^shop\.json\.damaged-/)]);
  });

  it("refuses a state file of a newer format by name and leaves it alone", async () => {
    const state = join(home(), "shop.json");
    const text = JSON.stringify({ format: "lab-state/2", anything: true });
    writeFileSync(state, text);
    await expect(serveWorld({ part: "shop", stateFile: state })).rejects.toThrow(/lab-state\/2/);
    expect(readFileSync(state, "utf8")).toBe(text);
  });
});

describe("the lab verb", () => {
  it.each([[[]], [["mars"]], [["shop"]], [["shop", "--part", "attic"]], [["shop", "--part"]], [["shop", "--colour", "red"]]])(
    "explains %j and ends with code 2",
    async (argv) => {
      expect(await runLabVerb(argv)).toBe(2);
    },
  );

  const entry = [process.execPath, "--import", "tsx", resolve(import.meta.dirname, "serve-entry.ts")] as const;

  it("speaks MCP on stdout and nothing else, and ends when stdin ends [T02b] [T05]", async () => {
    const [command, ...args] = entry;
    const child = spawn(command, [...args, "shop", "--part", "depot", "--switch", join(home(), "none.json")], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.resume();
    const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const answered = new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await answered;
    child.stdin.end();
    expect(await ended).toBe(0);
    for (const line of out.trim().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  });

  it("can be used by the official client as any other server", async () => {
    const [command, ...args] = entry;
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command,
        args: [...args, "shop", "--part", "shop", "--catalog-version", "2"],
        stderr: "ignore",
      }),
    );
    open.push(() => client.close());
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain("lookup_customer");
    const answer = await client.callTool({ name: "lookup_customer", arguments: { email: "anna.keller@example.org" } });
    expect(answer.structuredContent).toMatchObject({ customer_id: "C-101" });
  });
});
