/** `npm run bench [-- <what>…]`: measures of cost, printed as ratios against a baseline in the same run; `<what> --help` tells of one. */
import { join } from "node:path";
import { endWithReader, headerOf, wantsHelp } from "../help.js";

const BENCHES: Record<string, () => Promise<() => Promise<void>>> = {
  calls: async () => (await import("./calls.js")).benchCalls,
  sync: async () => (await import("./sync.js")).benchSync,
  retrieval: async () => (await import("./retrieval.js")).benchRetrieval,
  start: async () => (await import("./start.js")).benchStart,
};

endWithReader();
const given = process.argv.slice(2);
const asked = given.filter((arg) => !wantsHelp([arg]));
const unknown = asked.filter((name) => BENCHES[name] === undefined);
if (unknown.length > 0) {
  process.stderr.write(`unknown: ${unknown.join(", ")}; there are ${Object.keys(BENCHES).join(", ")}\n`);
  process.exit(2);
}
if (wantsHelp(given)) {
  const headers = asked.map((name) => `${name}: ${headerOf(join(import.meta.dirname, `${name}.ts`))}`);
  const list = `usage: npm run bench -- <${Object.keys(BENCHES).join("|")}>…; without a name all of them`;
  process.stdout.write(`${asked.length > 0 ? headers.join("\n\n") : `${headerOf(import.meta.filename)}\n\n${list}`}\n`);
  process.exit(0);
}
for (const name of asked.length > 0 ? asked : Object.keys(BENCHES)) {
  const load = BENCHES[name];
  if (load !== undefined) await (await load())();
}
