/**
 * Verbs: what the command line asks of the house, fulfilled.
 *
 * Owns: reaching the home's daemon or composing one for a verb, the starter home, the bridge's daemon, the doctor.
 * Speaks: CliPorts for the CLI; serve and compose below.
 * Never: prints what a verb answers (surfaces/cli does).
 */
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { importClientConfigs, mergeImported } from "./config/clients.js";
import { resolveHome } from "./config/home.js";
import { readConfig } from "./config/config.js";
import type { Environment } from "./host/env.js";
import { nodeFiles, writeAtomic } from "./host/files.js";
import { createLog, silentLog, type Log, type LogLevel } from "./host/log.js";
import type { Print } from "./host/print.js";
import { starterHome } from "./host/starter.js";
import { readTextFile } from "./host/text-file.js";
import { LAST_VERSION } from "./lab/worlds/shop/catalogs.js";
import { Fault } from "./model/fault.js";
import type { ManagerStatus } from "./model/ports.js";
import { demoFormat } from "./model/lab.js";
import { collectSkills } from "./exchange/collect.js";
import { handOut, outsideOf } from "./exchange/handout.js";
import { portOf, readDaemon, readOperatorToken } from "./store/daemon.js";
import { asking } from "./surfaces/cli/asking.js";
import {
  CliFault,
  EXIT,
  type Access,
  type AccessNeeds,
  type CliPorts,
  type DoctorLine,
  type Evolved,
} from "./surfaces/cli/access.js";

export interface Surroundings {
  readonly main: string;
  readonly env: Environment;
  readonly cwd: string;
  readonly print: Print;
  readonly log: Log;
  readonly version: string;
}

export function createCliPorts(around: Surroundings): CliPorts {
  const homeOf = (flag: string | undefined): string => resolveHome({ flag, env: around.env, cwd: around.cwd });
  return {
    print: around.print,
    version: around.version,
    cwd: around.cwd,
    openAccess: (flag, needs) => openAccess(around, homeOf(flag), needs),
    async serve(flags) {
      const home = homeOf(flags.home);
      if (flags.starter) await layOut(home);
      const log = flags.logLevel === undefined ? around.log : createLog({ level: flags.logLevel as LogLevel });
      const { runDaemon } = await import("./serve.js");
      const { host, port, anyPort } = flags;
      return await runDaemon(
        { home, env: around.env, main: around.main, log, host, port, anyPort, upstreams: true, watch: true },
        around.print,
      );
    },
    stdio: async (flags) => (await import("./stdio.js")).runStdio(around, homeOf(flags.home), flags),
    init: (flags) => init(around, homeOf(flags.home), flags),
    evolve: (flags) => evolve(around, homeOf(flags.home), flags.to),
    doctor: (flags) => doctor(around, homeOf(flags.home)),
    check: async (flags) => (await import("./rehearse.js")).checkHome(around, homeOf(flags.home), flags),
    compare: async (flags) => (await import("./rehearse.js")).compareSides(around, homeOf(flags.home), flags),
    findSkills: (options) => collectSkills(around, options),
    confirm,
    readText: (path) => readText(resolve(around.cwd, path)),
    writeText: (path, text) => writeText(around.cwd, path, text),
    handOut: (path, skills, home) => handOut(outsideOf(homeOf(home), resolve(around.cwd, path)), skills),
  };
}

async function writeText(cwd: string, path: string, text: string): Promise<void> {
  try {
    await writeFile(resolve(cwd, path), text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFault(`${path} cannot be written (${why}); give a file in a folder that is there.`, EXIT.usage);
  }
}

/** The running daemon of the home; else one for the length of the verb. */
async function openAccess(around: Surroundings, home: string, needs: AccessNeeds): Promise<Access> {
  const daemon = readDaemon(home);
  if (daemon !== undefined)
    return {
      ...asking(daemon.url, readOperatorToken(home)),
      running: true,
      url: daemon.url,
      home,
      close: () => Promise.resolve(),
    };
  if (!existsSync(join(home, "config"))) {
    throw new CliFault(`There is no home at ${home}: \`steward init --home ${home}\` prepares one.`, EXIT.usage);
  }
  const log = createLog({ level: "warn" });
  const { serve } = await import("./serve.js");
  const served = await serve({
    home,
    env: around.env,
    main: around.main,
    log,
    host: "127.0.0.1",
    port: 0,
    upstreams: needs.upstreams,
    watch: false,
    announce: false,
  });
  if (needs.upstreams) await served.house.operations.sync();
  const { url } = served.listening;
  return { ...asking(url, readOperatorToken(home)), running: false, url, home, close: () => served.stop() };
}

/** Lays out the starter home where there is none yet. Says what it did. */
async function layOut(home: string): Promise<boolean> {
  if (existsSync(join(home, "config/steward.json"))) return false;
  const starter = starterHome();
  await mkdir(home, { recursive: true });
  await cp(starter.config, join(home, "config"), { recursive: true });
  await cp(starter.catalog, join(home, "catalog"), { recursive: true });
  await cp(starter.skills, join(home, "skills"), { recursive: true });
  return true;
}

async function init(around: Surroundings, home: string, flags: { from?: string[]; dryRun: boolean }): Promise<string[]> {
  const config = join(home, "config/steward.json");
  if (flags.from === undefined) {
    if (existsSync(config))
      return [`${home} is a home already; \`steward init --from all\` adds what your clients are configured with.`];
    if (flags.dryRun) return [`Would lay out the starter home at ${home}: the sample shop and its skills.`];
    await layOut(home);
    return [`The starter home is at ${home}: the sample shop and its skills.`, `Run \`steward serve --home ${home}\`.`];
  }
  const found = await importClientConfigs({ env: around.env, cwd: around.cwd, from: flags.from });
  const lines = found.sources.map((source) => `${source.client}: ${source.path}: ${source.labels.join(", ") || "no servers"}`);
  for (const problem of found.problems) lines.push(`${problem.where}: ${problem.text}`);
  if (Object.keys(found.mcpServers).length === 0) return [...lines, "Nothing to take."];
  if (flags.dryRun) return [...lines, `Would take: ${Object.keys(found.mcpServers).join(", ")}.`];
  const merged = await mergeImported(home, found.mcpServers);
  return [
    ...lines,
    `Taken into ${config}: ${merged.taken.join(", ") || "none"}.`,
    ...merged.kept.map((label) => `${label} is configured already and was left as it is.`),
  ];
}

/** Moves the sample ecosystem by its switch file, and has a running daemon list the servers that follow it: idle ones would not. */
async function evolve(around: Surroundings, home: string, to: number | undefined): Promise<Evolved> {
  const path = join(home, "state/demo.json");
  const before = existsSync(path) ? demoFormat.schema.parse(JSON.parse(await readFile(path, "utf8"))).version : 1;
  const after = to ?? Math.min(before + 1, LAST_VERSION);
  const moved = { before, after, last: LAST_VERSION };
  if (after < 1 || after > LAST_VERSION) return moved;
  const daemon = readDaemon(home);
  const ask = daemon === undefined ? undefined : asking(daemon.url, readOperatorToken(home)).ask;
  const from = ask === undefined ? 0 : ((await ask("GET", "/v1/health")) as unknown as { catalog: number }).catalog;
  await mkdir(dirname(path), { recursive: true });
  await writeAtomic(nodeFiles(), path, `${JSON.stringify({ format: demoFormat.id, version: after })}\n`);
  if (ask === undefined || before === after) return moved;
  const { upstreams } = await readConfig(home, { env: around.env, main: around.main });
  const follows = [...upstreams.values()].filter((one) => one.kind === "stdio" && !one.disabled && one.args.includes(path));
  let catalog: NonNullable<Evolved["catalog"]> = { from, to: from, results: [] };
  for (const { label } of follows) {
    const { version, results } = (await ask("POST", "/v1/catalog/sync", { upstream: label })) as unknown as Synced;
    catalog = { from, to: version, results: [...catalog.results, ...results] };
  }
  return { ...moved, catalog };
}

interface Synced {
  readonly version: number;
  readonly results: NonNullable<Evolved["catalog"]>["results"];
}

async function doctor(around: Surroundings, home: string): Promise<DoctorLine[]> {
  const lines: DoctorLine[] = [{ ok: Number(process.versions.node.split(".")[0]) >= 20, what: "node", text: process.version }];
  try {
    await import("hnswlib-node");
    lines.push({ ok: true, what: "hnswlib-node", text: "loads" });
  } catch {
    lines.push({
      ok: "warn",
      what: "hnswlib-node",
      text: "is not built; every vector is looked at instead (slower above some 10,000 tools)",
    });
  }
  if (!existsSync(join(home, "config/steward.json")))
    return [...lines, { ok: false, what: "home", text: `${home} has no config/steward.json; \`steward init\` makes one` }];
  try {
    const config = await readConfig(home, { env: around.env, main: around.main });
    lines.push({ ok: true, what: "config", text: `${config.upstreams.size} upstreams` });
    for (const problem of config.problems) lines.push({ ok: false, what: "config", text: `${problem.where}: ${problem.text}` });
    const daemon = readDaemon(home);
    if (daemon !== undefined) {
      const { port } = config.http;
      const elsewhere = port === 0 || portOf(daemon) === port ? "" : `; the configured port is ${port}`;
      lines.push({ ok: true, what: "daemon", text: `runs at ${daemon.url} (pid ${daemon.pid})${elsewhere}` });
    }
  } catch (error) {
    return [...lines, { ok: false, what: "config", text: error instanceof Error ? error.message : String(error) }];
  }
  try {
    const access = await openAccess({ ...around, log: silentLog }, home, { upstreams: true });
    try {
      const health = (await access.ask("GET", "/v1/health")) as {
        problems?: { where: string; text: string }[];
        retrieval?: { vectors: string; fine?: boolean };
        manager?: ManagerStatus;
      };
      if (health.manager !== undefined) lines.push(managerLine(health.manager));
      const vectors = health.retrieval?.vectors ?? "";
      if (vectors !== "") lines.push({ ok: health.retrieval?.fine === false ? "warn" : true, what: "vectors", text: vectors });
      for (const problem of health.problems ?? [])
        lines.push({ ok: "warn", what: "home", text: `${problem.where}: ${problem.text}` });
      const upstreams = (await access.ask("GET", "/v1/upstreams")) as {
        label: string;
        presence: { state: string; reason?: string };
        stderrTail?: string;
      }[];
      for (const { label, presence } of upstreams) {
        lines.push({
          ok: presence.state === "up" || presence.state === "idle" ? true : "warn",
          what: `upstream ${label}`,
          text: `${presence.state}${presence.reason === undefined ? "" : `: ${presence.reason}`}`,
        });
      }
    } finally {
      await access.close();
    }
  } catch (error) {
    lines.push({
      ok: false,
      what: "home",
      text: error instanceof Fault || error instanceof CliFault ? error.message : String(error),
    });
  }
  return lines;
}

function managerLine({ kind, model, state, why, againAt }: ManagerStatus): DoctorLine {
  if (kind === "rules") return { ok: true, what: "manager", text: "rules" };
  const again = againAt === undefined ? "" : `; asked again from ${againAt}`;
  const reason = why === undefined ? "" : `: ${why}${again}; rules decide meanwhile`;
  const text = `${kind}, model ${model ?? ""}, ${state === "not asked" ? "not asked since the start" : state}${reason}`;
  return { ok: why === undefined ? true : "warn", what: "manager", text };
}

/** Only a plain yes is one. */
async function confirm(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  const { createInterface } = await import("node:readline/promises");
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  // An end of input (^D) is no yes.
  const ended = new Promise<string>((resolve) => asking.once("close", () => resolve("")));
  try {
    return /^y(es)?$/i.test((await Promise.race([asking.question(`${question} [y/N] `), ended])).trim());
  } finally {
    asking.close();
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    throw new CliFault(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, EXIT.usage);
  }
}
