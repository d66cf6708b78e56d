/** One cold start: opens a home, reads its ground state, rebuilds the world; says how long and how much memory. */
import { silentLog } from "../../src/host/log.js";
import { openStore } from "../../src/store/store.js";
import { rebuild } from "../../src/world/rebuild.js";

const home = process.argv[2] ?? "";
const now = "2026-01-01T00:00:00.000Z";
const before = performance.now();
const store = await openStore({ home, now, log: silentLog });
const world = rebuild(await store.read(), now);
const ms = performance.now() - before;
if (world.catalog.tools.size === 0) throw new Error("the home is empty");
process.stdout.write(JSON.stringify({ ms, mb: process.memoryUsage().rss / 1024 / 1024 }));
await store.close();
