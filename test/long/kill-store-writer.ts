/** The process that kill-store.test.ts kills: writes decisions as fast as it can until it is gone. */
import { writeSync } from "node:fs";
import type { Lock } from "../../src/model/skill.js";
import { call, catalog, digestsOf, episode, open, presence, report, revision, skillText, tool } from "../store/home.js";

const home = process.argv[2] ?? "";
const store = await open(home);
const ground = await store.read();
let lock: Lock | undefined = ground.revision?.lock;
let n = ground.manifest?.version ?? 0;
writeSync(1, `${n}\n`);

for (;;) {
  n += 1;
  const one = tool("one", { title: `title ${n}` });
  const written = revision(lock, { "atomic-a": skillText("atomic-a", `text ${n}.`) }, [], { "shop/one": digestsOf(one) });
  await store.persist([
    catalog(n, { "shop/one": one, "shop/two": tool("two", { title: `title ${n}` }) }),
    written,
    presence("shop", "up", `r${n}`),
    call("ep_1", n),
    episode("ep_1", { calls: n }),
    report(`run_${String(n).padStart(6, "0")}`),
  ]);
  lock = written.record.lock;
  writeSync(1, `${n}\n`);
}
