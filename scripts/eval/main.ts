/** `npm run eval -- <what> [options]`: measures of quality on data, each from one command. */
import { resolve } from "node:path";

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

const [what = "", ...args] = process.argv.slice(2);
const load = EVALS[what];
if (load === undefined) {
  process.stderr.write(`usage: npm run eval -- <${Object.keys(EVALS).join("|")}> [--data <dir>]\n`);
  process.exit(2);
}
if (!args.includes("--data") && process.env["STEWARD_DATA"] !== undefined)
  args.push("--data", resolve(process.env["STEWARD_DATA"]));
await (
  await load()
)(args);
