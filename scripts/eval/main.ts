/**
 * `npm run eval -- <what> [options]`: measures of quality on data, each from one command; `<what> --help` tells its options.
 *
 * Every one takes `--data <dir>` (else STEWARD_DATA, else the public data sets beside the clone). Exit code 1: a target was missed or the
 * measure failed; 2: it was asked wrongly or its data cannot be used.
 */
import { join, resolve } from "node:path";
import { endWithReader, headerOf, unknownOption, wantsHelp } from "../help.js";
import { DataFault } from "./data.js";

const EVALS: Record<string, () => Promise<(args: string[]) => Promise<void>>> = {
  drift: async () => (await import("./drift.js")).evalDrift,
  lineage: async () => (await import("./lineage.js")).evalLineage,
  maintenance: async () => (await import("./maintenance.js")).evalMaintenance,
  provision: async () => (await import("./provision.js")).evalProvision,
  retrieval: async () => (await import("./retrieval.js")).evalRetrieval,
  skills: async () => (await import("./skills.js")).evalSkills,
  tau: async () => (await import("./tau.js")).evalTau,
  tune: async () => (await import("./tune.js")).evalTune,
};

const WRONG_USE = 2;

async function run([what = "", ...args]: readonly string[]): Promise<number> {
  const load = EVALS[what];
  const usage = `usage: npm run eval -- <${Object.keys(EVALS).join("|")}> [--data <dir>]; <what> --help tells its options`;
  if (load === undefined) {
    const isHelp = wantsHelp([what]);
    process[isHelp ? "stdout" : "stderr"].write(`${isHelp ? `${headerOf(import.meta.filename)}\n\n` : ""}${usage}\n`);
    return isHelp ? 0 : WRONG_USE;
  }
  const header = headerOf(join(import.meta.dirname, `${what}.ts`));
  if (wantsHelp(args)) {
    process.stdout.write(`${header}\n`);
    return 0;
  }
  const unknown = unknownOption(args, `${header} --data`);
  if (unknown !== undefined) return told(`${unknown} is no option of ${what}; npm run eval -- ${what} --help`);
  const data = process.env["STEWARD_DATA"];
  const given = args.some((arg) => /^--data(=|$)/.test(arg)) || data === undefined ? args : [...args, "--data", resolve(data)];
  try {
    await (
      await load()
    )([...given]);
    return 0;
  } catch (error) {
    const wrong = wrongUse(error);
    if (wrong === undefined) throw error;
    return told(`eval ${what}: ${wrong}`);
  }
}

/** What was asked wrongly, in words; undefined for everything else. */
function wrongUse(error: unknown): string | undefined {
  if (error instanceof DataFault) return error.message;
  const { code, path, message } = error as { code?: string; path?: string; message?: string };
  if (code === "ENOENT" || code === "ENOTDIR")
    return `${path ?? message ?? ""} is not there; give the folder of the data with --data <dir>.`;
  return code?.startsWith("ERR_PARSE_ARGS") === true ? message : undefined;
}

function told(text: string): number {
  process.stderr.write(`${text}\n`);
  return WRONG_USE;
}

endWithReader();
const code = await run(process.argv.slice(2));
if (code !== 0) process.exitCode = code;
