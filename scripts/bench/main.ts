/** `npm run bench [-- <what>…]`: measures of cost, printed as ratios against a baseline in the same run. */
const BENCHES: Record<string, () => Promise<() => Promise<void>>> = {
  calls: async () => (await import("./calls.js")).benchCalls,
  sync: async () => (await import("./sync.js")).benchSync,
  retrieval: async () => (await import("./retrieval.js")).benchRetrieval,
  start: async () => (await import("./start.js")).benchStart,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => BENCHES[name] === undefined);
if (unknown.length > 0) {
  process.stderr.write(`unknown: ${unknown.join(", ")}; there are ${Object.keys(BENCHES).join(", ")}\n`);
  process.exit(2);
}
for (const name of asked.length > 0 ? asked : Object.keys(BENCHES)) {
  const load = BENCHES[name];
  if (load !== undefined) await (await load())();
}
