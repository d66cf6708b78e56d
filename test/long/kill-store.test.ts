import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { SkillName, UpstreamLabel } from "../../src/model/ids.js";
import { open, removeHomes, tempHome } from "../store/home.js";

afterAll(removeHomes);

const KILLS = 50;
const writer = join(import.meta.dirname, "kill-store-writer.ts");

/** A process that writes one decision after the other, each with its number in every part, and says so when one is acknowledged. */
function startWriter(home: string) {
  const child = spawn(process.execPath, ["--import", "tsx", writer, home], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  let ready: () => void = () => undefined;
  const isReady = new Promise<void>((resolve) => (ready = resolve));
  child.stdout.on("data", (data: Buffer) => {
    text += data.toString();
    if (text.includes("\n")) ready();
  });
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    isReady,
    async kill(): Promise<number> {
      child.kill("SIGKILL");
      await gone;
      return Math.max(0, ...text.split("\n").map(Number));
    },
  };
}

describe("a process killed at any time", () => {
  it(`leaves, ${KILLS} times over, a home with every acknowledged decision, each of them whole [P01] [P09]`, async () => {
    const home = tempHome();
    const seen = { acknowledged: 0, further: 0, finished: 0 };
    let last = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const child = startWriter(home);
      await child.isReady;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 120));
      const acknowledged = Math.max(last, await child.kill());

      const store = await open(home);
      const ground = await store.read();
      const edits = await store.readHandEdits();
      const number = ground.manifest?.version ?? 0;
      const where = `kill ${kill}: acknowledged ${acknowledged}, found ${number}`;
      expect(number, where).toBeGreaterThanOrEqual(acknowledged);
      expect(number, where).toBeLessThanOrEqual(acknowledged + 1);
      expect(
        ground.problems.filter(({ code }) => !["batch-finished", "log-torn", "log-unfinished"].includes(code)),
        where,
      ).toEqual([]);
      expect(edits, where).toEqual({ written: [], missing: [], problems: [] });
      if (number > 0) {
        const calls = await store.readCalls("ep_1");
        expect(
          {
            library: ground.revision?.revision,
            skill: ground.skills.get("atomic-a" as SkillName)?.["SKILL.md"]?.includes(`text ${number}.`),
            presence: ground.presence.get("shop" as UpstreamLabel)?.reason,
            tools: ground.documents.size,
            calls: ground.episodes[0]?.calls,
            lastCall: calls.at(-1)?.seq,
            allCalls: calls.length,
            report: (await store.listReports()).length,
          },
          where,
        ).toEqual({
          library: number,
          skill: true,
          presence: `r${number}`,
          tools: 2,
          calls: number,
          lastCall: number,
          allCalls: number,
          report: number,
        });
      }
      seen.acknowledged += acknowledged > last ? 1 : 0;
      seen.further += number > acknowledged ? 1 : 0;
      seen.finished += ground.problems.length > 0 ? 1 : 0;
      last = number;
      await store.close();
    }
    console.log(
      `${KILLS} kills, ${last} decisions; killed between commit and acknowledgement ${seen.further} times, in the middle of writing ${seen.finished} times`,
    );
    expect(seen.acknowledged).toBeGreaterThan(KILLS / 4);
  });
});
