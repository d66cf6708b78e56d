/**
 * The whole daemon for ten thousand calls: agents that come, go and vanish; upstreams that fail in every way and come back.
 * What is left afterwards is counted from the system.
 */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { dropHome, newHome, startDaemon, type Daemon } from "../e2e/daemon.js";

const SESSIONS = 500;
const CALLS_EACH = 20;
const AT_ONCE = 24;
/** Sessions before memory is measured for the first time: until what is loaded on first use, and what the runtime keeps of it, stands. */
const WARM_UP = 200;
const HABITS = ["steady", "crash", "hang", "flood", "garbage", "leave", "slow"] as const;
const UPSTREAMS = 20;
const server = resolve(import.meta.dirname, "../fixtures/servers/ledger.mjs");
const collecting = resolve(import.meta.dirname, "collecting.mjs");

function homeWithUpstreams(): { home: string; ledger: string } {
  const home = newHome();
  const ledger = join(home, "ledger.txt");
  writeFileSync(ledger, "");
  const entry = (n: number): [string, object] => [
    `u${n}`,
    { command: process.execPath, args: [server, ledger, `u${n}`, HABITS[n % HABITS.length] ?? "steady"] },
  ];
  mkdirSync(join(home, "config"));
  const mcpServers = Object.fromEntries(Array.from({ length: UPSTREAMS }, (_, n) => entry(n)));
  // Sessions that are abandoned shall be seen to end; hanging calls shall not take five minutes.
  const steward = { policy: { sessionIdleMs: "10 s", callTimeoutMs: "4 s" } };
  writeFileSync(join(home, "config/steward.json"), JSON.stringify({ mcpServers, steward }));
  return { home, ledger };
}

/** How an agent speaks and how it leaves. */
type Manner = "polite" | "vanishing" | "abandoning" | "listening" | "modern";
const MANNERS: readonly Manner[] = ["polite", "vanishing", "abandoning", "listening", "modern"];

interface Tally {
  sent: number;
  /** Ids of calls that were answered with the agent's own mark. */
  readonly answered: Set<string>;
  /** Answers that belong to somebody else. */
  readonly strange: string[];
  readonly failed: Map<string, number>;
}

/** One agent's whole life. Resolves when it is gone. */
async function live(url: string, n: number, tally: Tally): Promise<void> {
  const manner = MANNERS[n % MANNERS.length] ?? "polite";
  const direct = n % 2 === 1;
  const dispatcher = new Agent({ connections: 4 });
  const to = `${url}${direct ? "/mcp/direct" : "/mcp"}`;
  let session: Record<string, string> = {};
  const post = async (message: JsonObject, headers: Record<string, string> = {}) => {
    const answer = await request(to, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      dispatcher,
    });
    const body = await answer.body.text();
    const data = body.startsWith("{")
      ? body
      : (body.split("\n").find((line) => line.startsWith("data: {")) ?? "data: {}").slice(6);
    return { id: answer.headers["mcp-session-id"], message: JSON.parse(data) as JsonObject };
  };
  if (manner !== "modern") {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: `agent-${n}`, version: "1" } };
    const opened = await post({ id: 0, method: "initialize", params });
    session = { "mcp-session-id": String(opened.id), "mcp-protocol-version": "2025-11-25" };
    await post({ method: "notifications/initialized" });
    if (manner === "listening") {
      const stream = await request(to, { headers: { accept: "text/event-stream", ...session }, dispatcher });
      stream.body.on("error", () => undefined).resume();
    }
  }
  const call = async (at: number): Promise<void> => {
    const id = `${n}-${at}`;
    const upstream = `u${(n * 7 + at) % UPSTREAMS}`;
    const args = { id, mark: `agent-${n}` };
    const name = direct ? `${upstream}__mark` : "call_tool";
    const params = { name, arguments: direct ? args : { tool: `${upstream}/mark`, arguments: args } };
    const modern = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: `agent-${n}`, version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    tally.sent += 1;
    const { message } =
      manner === "modern"
        ? await post(
            { id: at + 1, method: "tools/call", params: { ...params, _meta: modern } },
            { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name },
          )
        : await post({ id: at + 1, method: "tools/call", params });
    const result = message["result"] as { isError?: boolean; content?: { text?: string }[]; _meta?: JsonObject } | undefined;
    const said = result?.content?.[0]?.text ?? "";
    if (result === undefined || result.isError === true) {
      const fault = result?._meta?.["steward/fault"] as { code?: string } | undefined;
      const code = fault?.code ?? JSON.stringify(message["error"] ?? said).slice(0, 120);
      tally.failed.set(code, (tally.failed.get(code) ?? 0) + 1);
    } else if (said === `agent-${n}:${id}` && message["id"] === at + 1) tally.answered.add(id);
    else tally.strange.push(`${id} was answered ${said}`);
  };
  let next = 0;
  const hand = async (): Promise<void> => {
    while (next < CALLS_EACH) await call(next++);
  };
  await Promise.all([hand(), hand()]);
  if (manner === "polite") await (await request(to, { method: "DELETE", headers: session, dispatcher })).body.dump();
  // The others only go: in mid-stream, or with their connections open until these are cut.
  await dispatcher.destroy();
}

async function play(url: string, from: number, to: number, tally: Tally): Promise<void> {
  let next = from;
  const hand = async (): Promise<void> => {
    while (next < to) await live(url, next++, tally);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, hand));
}

interface Left {
  readonly sessions: number;
  readonly held: number;
  readonly handles: number;
  readonly sockets: number;
  readonly processes: number;
  readonly rssMb: number;
}

/** What the daemon holds, counted from the system and its own metrics. */
async function count(daemon: Daemon, needle: string): Promise<Left> {
  const pid = daemon.child.pid ?? 0;
  const metrics = await (await request(`${daemon.url}/metrics`)).body.text();
  const gauge = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(metrics)?.[1] ?? NaN);
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  const rss = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return {
    sessions: gauge("steward_sessions"),
    held: gauge("steward_held_calls"),
    handles: links.length,
    sockets: links.filter((link) => link.startsWith("socket:")).length,
    processes: processesNaming(needle),
    rssMb: Number(rss) / 1024,
  };
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** Upstreams and what they left carry the ledger's path in their command line. */
function processesNaming(needle: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(needle);
    } catch {
      return false;
    }
  }).length;
}

/** Collections a second apart: the runtime gives pages back to the system only after a while of calm. */
const COLLECTIONS = 10;

/** Waits until every session has ended and every upstream runs again, collects garbage, and counts; of the memory, the least it came to. */
async function settled(daemon: Daemon, ledger: string): Promise<Left> {
  for (let tries = 0; tries < 240; tries += 1) {
    const { sessions, processes } = await count(daemon, ledger);
    if (sessions === 0 && processes === UPSTREAMS && (await allUp(daemon))) break;
    await sleep(500);
  }
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < COLLECTIONS; n += 1) {
    daemon.child.kill("SIGUSR2");
    await sleep(1_000);
    least = Math.min(least, (await count(daemon, ledger)).rssMb);
  }
  return { ...(await count(daemon, ledger)), rssMb: least };
}

async function allUp(daemon: Daemon): Promise<boolean> {
  const rows = (await (await request(`${daemon.url}/v1/upstreams`)).body.json()) as { presence: { state: string } }[];
  return rows.length === UPSTREAMS && rows.every(({ presence }) => presence.state === "up");
}

function loggedIds(home: string): string[] {
  const folder = join(home, "state/calls");
  return readdirSync(folder)
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"))
    .map((line) => (JSON.parse(line) as { args: { id: string } }).args.id);
}

function repeated(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  return ids.filter((id) => seen.has(id) || seen.add(id) === undefined);
}

describe.skipIf(process.platform !== "linux")(
  `a daemon that ${SESSIONS} agents and ${UPSTREAMS} unreliable upstreams wear out`,
  () => {
    it("answers each call to its caller, runs and logs none twice, and holds afterwards what it held before", async () => {
      const { home, ledger } = homeWithUpstreams();
      const daemon = await startDaemon(home, [], ["--expose-gc", "--import", collecting]);
      const tally: Tally = { sent: 0, answered: new Set(), strange: [], failed: new Map() };
      try {
        await daemon.ready();
        await play(daemon.url, 0, WARM_UP, tally);
        const before = await settled(daemon, ledger);
        await play(daemon.url, WARM_UP, SESSIONS, tally);
        const after = await settled(daemon, ledger);
        process.stdout.write(
          `${tally.answered.size} of ${tally.sent} answered, faults ${JSON.stringify([...tally.failed])}\n` +
            `before ${JSON.stringify(before)}\nafter  ${JSON.stringify(after)}\n`,
        );

        expect(tally.sent).toBe(SESSIONS * CALLS_EACH);
        expect(tally.strange).toEqual([]);
        expect(tally.answered.size).toBeGreaterThan(tally.sent * 0.8);
        expect(after).toMatchObject({ sessions: 0, held: 0, processes: UPSTREAMS });
        expect(after.handles).toBeLessThanOrEqual(before.handles + 2);
        expect(after.sockets).toBeLessThanOrEqual(before.sockets + 2);
        expect(after.rssMb).toBeLessThan(before.rssMb * 1.1);

        expect(await daemon.stop()).toBe(0);
        expect(processesNaming(ledger)).toBe(0);
        const ran = readFileSync(ledger, "utf8")
          .trim()
          .split("\n")
          .map((line) => line.split(" ")[1] ?? "");
        expect(repeated(ran)).toEqual([]);
        const logged = loggedIds(home);
        expect(repeated(logged)).toEqual([]);
        const known = { ran: new Set(ran), logged: new Set(logged) };
        expect([...tally.answered].filter((id) => !known.ran.has(id) || !known.logged.has(id))).toEqual([]);
      } finally {
        await daemon.kill();
        dropHome(home);
      }
    });
  },
);
