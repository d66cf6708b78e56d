/**
 * What a call costs on its way: STEWARD against direct use and against minimal pass-through proxies, in one run.
 *
 * All ways are open at once and take turns in short heats, so that whatever else the machine does hits them alike. A ratio is the
 * median, over the rounds, of a way's figure to the fastest minimal proxy's of the same round.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { cpuOfTrees } from "./cpu.js";
import { ended, httpWire, stdioWire, type Wire } from "./wire.js";

const ROUNDS = 15;
const SEQUENTIAL = 100;
const PARALLEL = 600;
const IN_FLIGHT = 32;
const text = "x".repeat(100);
const node = process.execPath;
const here = import.meta.dirname;
const main = resolve(here, "../../dist/main.js");
const echo = join(here, "echo.mjs");

interface Way {
  readonly name: string;
  /** Baselines are minimal proxies; the fastest one of a round is what the others are measured against. */
  readonly role: "direct" | "baseline" | "steward";
  readonly wire: Wire;
  readonly tool: string;
  readonly args: object;
  /** Processes whose time, with that of all they started, belongs to this way. */
  readonly pids: readonly number[];
}
interface Heat {
  readonly p50Ms: number;
  readonly perSecond: number;
  readonly cpuMs: number;
}
interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

const plain = { tool: "echo", args: { text } };
const direct = { tool: "echo__echo", args: { text } };
const callTool = { tool: "call_tool", args: { tool: "echo/echo", arguments: { text } } };

export async function benchCalls(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "steward-bench-"));
  try {
    await benchStdio(root);
    await benchHttp(root);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

function homeIn(root: string, name: string): string {
  const home = join(root, name);
  mkdirSync(join(home, "config"), { recursive: true });
  const config = { mcpServers: { echo: { command: node, args: [echo] } } };
  writeFileSync(join(home, "config/steward.json"), JSON.stringify(config));
  return home;
}

async function benchStdio(root: string): Promise<void> {
  const started = async (name: string, role: Way["role"], args: readonly string[], call: typeof plain | typeof callTool) => {
    const wire = await stdioWire(node, args);
    return { name, role, wire, ...call, pids: wire.pid === undefined ? [] : [wire.pid] } satisfies Way;
  };
  const own = (name: string): string[] => [main, "stdio", "--own", "--home", homeIn(root, name)];
  const shared = homeIn(root, "shared");
  const daemon = await startDaemon(shared);
  const bridge = await started("STEWARD bridge, direct", "steward", [main, "stdio", "--home", shared, "--direct"], direct);
  const ways: Way[] = [
    await started("no proxy", "direct", [echo], plain),
    await started("proxy, raw JSON", "baseline", [join(here, "proxy-json.mjs"), node, echo], plain),
    await started("proxy, SDK", "baseline", [join(here, "proxy-v1.mjs"), node, echo], plain),
    await started("STEWARD direct", "steward", [...own("a"), "--direct"], direct),
    await started("STEWARD call_tool", "steward", own("b"), callTool),
    { ...bridge, pids: [...bridge.pids, daemon.child.pid ?? 0] },
  ];
  await measure("stdio → stdio", ways);
  await ended(daemon.child, () => daemon.child.kill());
}

async function benchHttp(root: string): Promise<void> {
  const proxy = await serve([join(here, "proxy-http.mjs"), node, echo]);
  const daemon = await startDaemon(homeIn(root, "http"));
  const to = async (name: string, role: Way["role"], server: Server, path: string, call: typeof plain | typeof callTool) =>
    ({ name, role, wire: await httpWire(`${server.url}${path}`), ...call, pids: [server.child.pid ?? 0] }) satisfies Way;
  // The daemon's two ways share one process: each one's CPU time is what passes during its own heats.
  const ways: Way[] = [
    await to("proxy, SDK", "baseline", proxy, "/mcp", plain),
    await to("STEWARD direct", "steward", daemon, "/mcp/direct", direct),
    await to("STEWARD call_tool", "steward", daemon, "/mcp", callTool),
  ];
  await measure("HTTP → stdio", ways);
  for (const { child } of [proxy, daemon]) await ended(child, () => child.kill());
}

const startDaemon = (home: string): Promise<Server> => serve([main, "serve", "--home", home, "--port", "0"]);

/** Starts a server and waits for the first address that it prints. */
async function serve(args: readonly string[]): Promise<Server> {
  const child = spawn(node, [...args], { stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/[\d.]+:\d+/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url };
  }
  throw new Error(`${args[0] ?? ""} did not say where it listens`);
}

/** Upstreams connect in the background: the first call may come too early. Then everything is compiled. */
async function warm(way: Way): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const result = await way.wire.call(way.tool, way.args).catch((error: unknown) => ({ isError: true, error: String(error) }));
    if ((result as { isError?: boolean }).isError !== true) break;
    if (tries > 100) throw new Error(`${way.name}: ${JSON.stringify(result)}`);
    await new Promise((wait) => setTimeout(wait, 100));
  }
  await perSecond(way);
}

async function measure(title: string, ways: readonly Way[]): Promise<void> {
  for (const way of ways) await warm(way);
  const rounds: Map<Way, Heat>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const heats = new Map<Way, Heat>();
    for (let n = 0; n < ways.length; n += 1) {
      const way = ways[(n + round) % ways.length];
      if (way === undefined) continue;
      const cpuBefore = cpuOfTrees(way.pids);
      const p50Ms = await latency(way);
      const rate = await perSecond(way);
      heats.set(way, { p50Ms, perSecond: rate, cpuMs: (cpuOfTrees(way.pids) - cpuBefore) / (SEQUENTIAL + PARALLEL) });
    }
    rounds.push(heats);
  }
  report(title, ways, rounds);
  for (const way of ways) await way.wire.close();
}

function report(title: string, ways: readonly Way[], rounds: readonly Map<Way, Heat>[]): void {
  const columns = ["p50 ms", "× latency", `/s at ${IN_FLIGHT}`, "× through", "CPU ms/call"];
  const row = (name: string, cells: readonly string[]): void =>
    void process.stdout.write(`${name.padEnd(24)}${cells.map((cell) => cell.padStart(12)).join("")}\n`);
  process.stdout.write(`\ncalls, ${title} (medians of ${ROUNDS} rounds; ratios to the fastest minimal proxy of each round)\n`);
  row("", columns);
  const baselines = ways.filter((way) => way.role === "baseline");
  const of = (figure: (heat: Heat, heats: Map<Way, Heat>) => number, way: Way): number =>
    median(rounds.map((heats) => figure(heats.get(way) ?? { p50Ms: NaN, perSecond: NaN, cpuMs: NaN }, heats)));
  const among = (heats: Map<Way, Heat>, figure: keyof Heat): number[] => baselines.map((way) => heats.get(way)?.[figure] ?? NaN);
  for (const way of ways) {
    row(way.name, [
      of((heat) => heat.p50Ms, way).toFixed(3),
      of((heat, heats) => heat.p50Ms / Math.min(...among(heats, "p50Ms")), way).toFixed(2),
      of((heat) => heat.perSecond, way).toFixed(0),
      of((heat, heats) => heat.perSecond / Math.max(...among(heats, "perSecond")), way).toFixed(2),
      of((heat) => heat.cpuMs, way).toFixed(3),
    ]);
  }
}

async function latency(way: Way): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < SEQUENTIAL; n += 1) {
    const before = performance.now();
    await way.wire.call(way.tool, way.args);
    times.push(performance.now() - before);
  }
  return median(times);
}

async function perSecond(way: Way): Promise<number> {
  let left = PARALLEL;
  const before = performance.now();
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await way.wire.call(way.tool, way.args);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return (PARALLEL / (performance.now() - before)) * 1_000;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
