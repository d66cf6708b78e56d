/**
 * The command line: `steward <verb>`.
 *
 * Owns: verbs, options, exit codes, what people read.
 * Speaks: argv in; `/v1` through Access; text or JSON on stdout, remarks on stderr.
 * Never: opens a home, holds state, decides anything.
 */
import { Command, CommanderError } from "commander";
import type { Colour } from "../../host/print.js";
import { Fault } from "../../model/fault.js";
import { CliFault, EXIT, exitOf, type CliPorts } from "./access.js";
import { addCatalogVerbs } from "./catalog.js";
import { addCheckVerb } from "./check.js";
import { addDaemonVerbs } from "./daemon.js";
import { addEpisodeVerbs } from "./episodes.js";
import { addFacadeVerbs } from "./facade.js";
import { addMaintenanceVerbs } from "./maintenance.js";
import { addSkillVerbs } from "./skills.js";
import type { Verbs } from "./verb.js";

/** Runs one command line; resolves with its exit code. */
export async function runCli(argv: readonly string[], ports: CliPorts): Promise<number> {
  let code: number = EXIT.fine;
  const program = new Command("steward")
    .description("A long-running MCP proxy for agents on an evolving catalog of tools.")
    .version(ports.version)
    .option("--home <dir>", "the folder the daemon works on (else STEWARD_HOME, ./.steward, ~/.steward)")
    .option("--json", "answer in JSON on stdout")
    .showHelpAfterError("(steward --help lists the verbs)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => ports.print.block(text.trimEnd()),
      writeErr: (text) => noteLines(ports, text.trimEnd()),
    });
  const options = (): { home?: string; json?: boolean } => program.opts();
  const verbs: Verbs = {
    program,
    ports,
    json: () => options().json === true,
    home: () => options().home,
    exit: (next) => {
      code = Math.max(code, next);
    },
    withAccess: async (needs, work) => {
      const access = await ports.openAccess(options().home, needs);
      try {
        const result = await work(access);
        code = Math.max(code, result ?? EXIT.fine);
      } finally {
        await access.close();
      }
    },
  };
  addDaemonVerbs(verbs);
  addFacadeVerbs(verbs);
  addCatalogVerbs(verbs);
  addSkillVerbs(verbs);
  addEpisodeVerbs(verbs);
  addMaintenanceVerbs(verbs);
  addCheckVerb(verbs);
  // `--home` and `--json` are taken before or after the verb.
  for (const command of allCommands(program))
    command
      .option("--home <dir>", "see steward --help")
      .option("--json", "answer in JSON")
      .hook("preAction", (_root, action) => inherit(program, action));
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    return report(error, ports, options().json === true);
  }
  return code;
}

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)]);
}

function inherit(program: Command, action: Command): void {
  const given = action.opts() as { home?: string; json?: boolean };
  if (given.home !== undefined) program.setOptionValue("home", given.home);
  if (given.json !== undefined) program.setOptionValue("json", given.json);
}

/** Faults and usage may have several lines. */
function noteLines(ports: CliPorts, text: string, colour?: Colour): void {
  for (const line of text.split(/\r?\n/)) ports.print.note(colour === undefined ? line : { text: line, colour });
}

function report(error: unknown, ports: CliPorts, json: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  if (error instanceof CliFault) {
    if (json && error.problem !== undefined) ports.print.json(error.problem);
    noteLines(ports, error.message, "red");
    return error.exit;
  }
  noteLines(ports, error instanceof Error ? error.message : String(error), "red");
  if (!(error instanceof Fault)) return EXIT.failed;
  return error.blame === "operator" ? EXIT.usage : exitOf(error.code);
}
