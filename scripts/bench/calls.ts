/**
 * What a call costs on its way: STEWARD against direct use and against minimal pass-through proxies, in one run.
 *
 * Rounds are interleaved and the best of each is taken: on a shared machine a ratio of bests is steadier than one of means.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { httpWire, stdioWire, type Wire } from "./wire.js";

const ROUNDS = 5;
const SEQUENTIAL = 300;
const PARALLEL = 2_000;
const IN_FLIGHT = 32;
const text = "x".repeat(100);
const here = import.meta.dirname;
const main = resolve(here, "../../dist/main.js");
const echo = join(here, "echo.mjs");

interface Way {
  readonly name: string;
  /** Baselines are minimal proxies; the fastest one is what STEWARD is measured against. */
  readonly role: "direct" | "baseline" | "steward";
  readonly wire: Wire;
  readonly tool: string;
  readonly args: object;
}
interface Figure {
  p50Ms: number;
  perSecond: number;
  cpuMs: number;
}

export async function benchCalls(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "steward-bench-"));
  try {
    mkdirSync(join(home, "config"), { recursive: true });
    writeFileSync(
      join(home, "config/steward.json"),
      JSON.stringify({ mcpServers: { echo: { command: process.execPath, args: [echo] } } }),
    );
    await benchStdio(home);
    await benchHttp(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const callArgs = { tool: "echo/echo", arguments: { text } };

async function benchStdio(home: string): Promise<void> {
  const node = process.execPath;
  const own = async (extra: readonly string[], at: string): Promise<Wire> => {
    mkdirSync(join(at, "config"), { recursive: true });
    writeFileSync(join(at, "config/steward.json"), readFileSync(join(home, "config/steward.json")));
    return await stdioWire(node, [main, "stdio", "--own", "--home", at, ...extra]);
  };
  const ways: Way[] = [
    { name: "direct", role: "direct", wire: await stdioWire(node, [echo]), tool: "echo", args: { text } },
    {
      name: "proxy, raw JSON",
      role: "baseline",
      wire: await stdioWire(node, [join(here, "proxy-json.mjs"), node, echo]),
      tool: "echo",
      args: { text },
    },
    {
      name: "proxy, SDK",
      role: "baseline",
      wire: await stdioWire(node, [join(here, "proxy-v1.mjs"), node, echo]),
      tool: "echo",
      args: { text },
    },
    {
      name: "STEWARD direct",
      role: "steward",
      wire: await own(["--direct"], join(home, "a")),
      tool: "echo__echo",
      args: { text },
    },
    { name: "STEWARD call_tool", role: "steward", wire: await own([], join(home, "b")), tool: "call_tool", args: callArgs },
  ];
  await ready(ways);
  await measure("stdio → stdio", ways);
}

async function benchHttp(home: string): Promise<void> {
  const node = process.execPath;
  const proxy = await serve(node, [join(here, "proxy-http.mjs"), node, echo], (line) => line);
  const daemon = await serve(
    node,
    [main, "serve", "--home", join(home, "c"), "--port", "0"],
    (line) => /(http:\/\/[^\s]+)/.exec(line)?.[1],
    home,
  );
  const ways: Way[] = [
    { name: "proxy, SDK", role: "baseline", wire: await httpWire(proxy.url), tool: "echo", args: { text } },
    {
      name: "STEWARD direct",
      role: "steward",
      wire: await httpWire(`${daemon.url}/mcp/direct`),
      tool: "echo__echo",
      args: { text },
    },
    { name: "STEWARD call_tool", role: "steward", wire: await httpWire(`${daemon.url}/mcp`), tool: "call_tool", args: callArgs },
  ].map((way) => ({ ...way, wire: { ...way.wire, pid: way.role === "baseline" ? proxy.child.pid : daemon.child.pid } }) as Way);
  await ready(ways);
  await measure("HTTP → stdio", ways);
  proxy.child.kill();
  daemon.child.kill();
}

async function serve(
  command: string,
  args: readonly string[],
  urlIn: (line: string) => string | undefined,
  home?: string,
): Promise<{ child: ChildProcess; url: string }> {
  if (home !== undefined) {
    mkdirSync(join(home, "c/config"), { recursive: true });
    writeFileSync(join(home, "c/config/steward.json"), readFileSync(join(home, "config/steward.json")));
  }
  const child = spawn(command, [...args], { stdio: ["ignore", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const url = urlIn(line);
    if (url !== undefined) {
      child.stdout.resume();
      return { child, url: url.replace(/\/(mcp)?$/, (found) => (found === "/" ? "" : found)) };
    }
  }
  throw new Error(`${args[0] ?? command} did not say where it listens`);
}

/** Upstreams connect in the background: the first call may come too early. */
async function ready(ways: readonly Way[]): Promise<void> {
  for (const way of ways) {
    for (let tries = 0; ; tries += 1) {
      const result = await way.wire.call(way.tool, way.args).catch((error: unknown) => ({ isError: true, error: String(error) }));
      if ((result as { isError?: boolean }).isError !== true) break;
      if (tries > 100) throw new Error(`${way.name}: ${JSON.stringify(result)}`);
      await new Promise((wait) => setTimeout(wait, 100));
    }
  }
}

async function measure(title: string, ways: readonly Way[]): Promise<void> {
  const figures = new Map<string, Figure>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const way of ways) {
      const best = figures.get(way.name) ?? { p50Ms: Infinity, perSecond: 0, cpuMs: Infinity };
      const cpuBefore = cpuOf(way.wire.pid);
      const p50Ms = await latency(way);
      const perSecond = await throughput(way);
      const cpuMs = (cpuOf(way.wire.pid) - cpuBefore) / (SEQUENTIAL + PARALLEL);
      figures.set(way.name, {
        p50Ms: Math.min(best.p50Ms, p50Ms),
        perSecond: Math.max(best.perSecond, perSecond),
        cpuMs: Math.min(best.cpuMs, cpuMs),
      });
    }
  }
  const baselines = ways.filter((way) => way.role === "baseline").map((way) => figures.get(way.name));
  const fastest = Math.min(...baselines.map((figure) => figure?.p50Ms ?? Infinity));
  const most = Math.max(...baselines.map((figure) => figure?.perSecond ?? 0));
  process.stdout.write(`\ncalls, ${title} (best of ${ROUNDS} rounds; ratios to the fastest minimal proxy)\n`);
  process.stdout.write(
    `${"".padEnd(20)}${"p50 ms".padStart(10)}${"× latency".padStart(12)}${`/s at ${IN_FLIGHT}`.padStart(12)}${"× through".padStart(12)}${"CPU ms/call".padStart(14)}\n`,
  );
  for (const way of ways) {
    const figure = figures.get(way.name) ?? { p50Ms: NaN, perSecond: NaN, cpuMs: NaN };
    const row = [
      figure.p50Ms.toFixed(3),
      (figure.p50Ms / fastest).toFixed(2),
      figure.perSecond.toFixed(0),
      (figure.perSecond / most).toFixed(2),
    ];
    process.stdout.write(
      `${way.name.padEnd(20)}${row[0]?.padStart(10)}${row[1]?.padStart(12)}${row[2]?.padStart(12)}${row[3]?.padStart(12)}${figure.cpuMs.toFixed(3).padStart(14)}\n`,
    );
  }
  for (const way of ways) await way.wire.close();
}

async function latency(way: Way): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < SEQUENTIAL; n += 1) {
    const before = performance.now();
    await way.wire.call(way.tool, way.args);
    times.push(performance.now() - before);
  }
  return times.sort((a, b) => a - b)[Math.floor(SEQUENTIAL / 2)] ?? NaN;
}

async function throughput(way: Way): Promise<number> {
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

/** CPU time of a process so far, in milliseconds (user and system); NaN where the system does not tell. */
function cpuOf(pid: number | undefined): number {
  if (pid === undefined || process.platform !== "linux") return NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return ticks * 10;
}
