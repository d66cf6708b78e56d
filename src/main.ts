#!/usr/bin/env node
/**
 * The entry: gives the command line its ports and runs it.
 *
 * Owns: argv, the environment, exit codes.
 * Speaks: everything, through serve and compose.
 * Never: decides anything.
 */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createLog, type LogLevel } from "./host/log.js";
import { createPrint } from "./host/print.js";
import { packageVersion } from "./host/starter.js";

const script = realpathSync(fileURLToPath(import.meta.url));

async function run(argv: readonly string[]): Promise<number> {
  // Loaded when it is needed: a verb that asks the daemon, or a world as an upstream, starts in a fraction of the daemon's time.
  if (argv[0] === "lab") return await (await import("./lab/serve.js")).runLabVerb(argv.slice(1));
  const { createCliPorts } = await import("./verbs.js");
  const { runCli } = await import("./surfaces/cli/program.js");
  const print = createPrint();
  const log = createLog({ level: levelOf(process.env["STEWARD_LOG"]) });
  return await runCli(
    argv,
    createCliPorts({ main: script, env: process.env, cwd: process.cwd(), print, log, version: packageVersion() }),
  );
}

function levelOf(text: string | undefined): LogLevel {
  const levels: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];
  return levels.find((level) => level === text) ?? "info";
}

// Whoever reads the answer may stop early (`| head`): the verb ends as it would have, and what is left is not printed.
for (const out of [process.stdout, process.stderr])
  out.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
process.exitCode = await run(process.argv.slice(2));
// Handles of a finished verb (an idle keep-alive connection) must not keep the process; what was printed must leave it first.
if (process.argv[2] !== "lab") process.stdout.write("", () => process.stderr.write("", () => process.exit()));
