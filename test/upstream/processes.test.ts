import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { MARK_VARIABLE } from "../../src/upstream/marks.js";
import { readEnvOf, readProcesses, startTimeOf } from "../../src/upstream/processes.js";
import { reapLeftovers } from "../../src/upstream/reap.js";
import type { ProcessRecord } from "../../src/upstream/reap.js";
import { fixture, isAlive, label, stand, tempFolder, textOf, until } from "./stand.js";

const quiet = (): void => undefined;
const posix = process.platform !== "win32";

describe.skipIf(!posix)("the processes of an upstream", () => {
  it("end as a whole, grandchildren that ignore SIGTERM too [T04]", async () => {
    const one = stand(fixture("leaver.mjs", ["child", "deaf"]));
    const grandchild = Number(textOf(await one.call("child")));
    const { pid } = one.status();
    expect(await isAlive(grandchild)).toBe(true);
    await one.stop();
    expect(await isAlive(grandchild)).toBe(false);
    expect(await isAlive(pid ?? 0)).toBe(false);
  });

  it("end as a whole where a child leads a group of its own [T04]", async () => {
    const one = stand(fixture("leaver.mjs", ["own-group"]));
    const grandchild = Number(textOf(await one.call("child")));
    await one.stop();
    await until(async () => !(await isAlive(grandchild)), "it is gone");
  });

  it("end as a whole where the server died by itself and left a grandchild [T04]", async () => {
    const one = stand(fixture("leaver.mjs", ["child"]));
    const grandchild = Number(textOf(await one.call("child")));
    await one.call("die").catch(quiet);
    await until(async () => !(await isAlive(grandchild)), "the grandchild is gone");
  });

  it.skipIf(process.platform !== "linux")(
    "end as a whole where one made itself a daemon, however the end comes, and what another upstream started stays",
    async () => {
      const bystander = stand(fixture("leaver.mjs", ["daemon"], { label: label("bystander") }));
      const other = Number(textOf(await bystander.call("child")));
      for (const ends of ["stop", "disable", "die"] as const) {
        const config = fixture("leaver.mjs", ["daemon"]);
        const one = stand(config);
        const daemon = Number(textOf(await one.call("child")));
        expect(await isAlive(daemon)).toBe(true);
        if (ends === "stop") await one.stop();
        if (ends === "disable") await one.upstreams.configure(new Map([[config.label, { ...config, disabled: true }]]));
        if (ends === "die") await one.call("die").catch(quiet);
        await until(async () => !(await isAlive(daemon)), `it is gone after ${ends}`);
        expect(await isAlive(other)).toBe(true);
        await one.stop();
      }
    },
  );

  it("end as a whole behind a launcher [T04]", async () => {
    const [script = ""] = fixture("workbench.mjs").args;
    // The shell stays between us and the server, as package runners do.
    const one = stand({ ...fixture("workbench.mjs"), command: "sh", args: ["-c", `"${process.execPath}" "${script}"; true`] });
    const server = Number(textOf(await one.call("pid")));
    expect(server).not.toBe(one.status().pid);
    await one.stop();
    expect(await isAlive(server)).toBe(false);
  });

  it("end also while they are still being greeted [T05]", async () => {
    const one = stand(fixture("mute.mjs"));
    await until(() => one.upstreams.recordedProcesses().length === 1, "started");
    const pid = one.upstreams.recordedProcesses()[0]?.pid ?? 0;
    await one.stop();
    expect(await isAlive(pid)).toBe(false);
    expect(one.upstreams.recordedProcesses()).toEqual([]);
  });

  it("are recorded from start to end", async () => {
    const spawned: ProcessRecord[] = [];
    const gone: ProcessRecord[] = [];
    const one = stand(fixture("workbench.mjs"), {
      onSpawn: (record) => spawned.push(record),
      onExit: (record) => gone.push(record),
    });
    await one.reach("up");
    expect(one.upstreams.recordedProcesses()).toEqual(spawned);
    expect(spawned[0]).toMatchObject({ label: "workbench", pid: one.status().pid, command: process.execPath });
    await one.stop();
    expect(gone).toEqual(spawned);
    expect(one.upstreams.recordedProcesses()).toEqual([]);
  });
});

describe.skipIf(process.platform !== "linux")("what a crashed daemon left behind", () => {
  /** A daemon in a process of its own that is killed; answers with the records it had written. */
  async function crashedDaemon(mode = "child"): Promise<readonly ProcessRecord[]> {
    const file = join(tempFolder(), "records.json");
    const script = resolve(import.meta.dirname, "crashing-daemon.ts");
    const child = spawn(process.execPath, ["--import", "tsx", script, file, mode], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await until(() => said.includes("\n"), "the daemon is up");
    child.kill("SIGKILL");
    await once(child, "exit");
    return JSON.parse(said) as ProcessRecord[];
  }

  it("is ended by the next one, by recorded pid and start time or by our mark [T04]", async () => {
    const records = await crashedDaemon();
    expect(records).toHaveLength(1);
    // The server noticed the end of its input; its stubborn grandchild did not.
    const found = await reapLeftovers(records, quiet);
    expect(found).toEqual(records);
    expect(await reapLeftovers(records, quiet)).toEqual([]);
  });

  it("is ended also where it leads a group and a session of its own, and its server is gone [T04]", async () => {
    const records = await crashedDaemon("own-group");
    const [record] = records;
    // The server notices the end of its input; what it had detached lives on, in a group that nobody recorded.
    await until(async () => !(await isAlive(record?.pid ?? 0)), "the server is gone");
    const carriers = async (): Promise<number[]> => {
      const marks = await Promise.all(
        (await readProcesses()).map(async ({ pid }) => [pid, await readEnvOf(pid, MARK_VARIABLE)] as const),
      );
      return marks.flatMap(([pid, mark]) => (mark === record?.mark ? [pid] : []));
    };
    const [detached] = await carriers();
    expect(detached).toBeDefined();
    const said: unknown[] = [];
    const found = await reapLeftovers(records, (_level, _text, data) => said.push(data));
    expect(found).toEqual(records);
    expect(said).toEqual([{ pid: record?.pid, pids: [detached] }]);
    expect(await carriers()).toEqual([]);
    expect(await reapLeftovers(records, quiet)).toEqual([]);
  });

  it("is left alone where it carries another upstream's mark, or none", async () => {
    const env = { ...process.env, [MARK_VARIABLE]: "mark-of-a-daemon-that-lives" };
    const script = ["-e", "setInterval(() => undefined, 1000)"];
    const other = spawn(process.execPath, script, { detached: true, stdio: "ignore", env });
    const none = spawn(process.execPath, script, { detached: true, stdio: "ignore" });
    const record: ProcessRecord = {
      label: label("x"),
      pid: 999_999_999,
      startTime: "b:1",
      mark: "mark-of-the-dead",
      command: "node",
    };
    await until(async () => (await readEnvOf(other.pid ?? 0, MARK_VARIABLE)) !== undefined, "it is there");
    expect(await reapLeftovers([record], quiet)).toEqual([]);
    expect(await isAlive(other.pid ?? 0)).toBe(true);
    expect(await isAlive(none.pid ?? 0)).toBe(true);
    other.kill("SIGKILL");
    none.kill("SIGKILL");
  });

  it("is left alone where a pid now belongs to somebody else", async () => {
    const stranger = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], { detached: true, stdio: "ignore" });
    const pid = stranger.pid ?? 0;
    const record: ProcessRecord = { label: label("x"), pid, startTime: "another boot:1", mark: "m", command: "node" };
    expect(startTimeOf(pid)).toBeDefined();
    expect(await reapLeftovers([record, { ...record, startTime: undefined }], quiet)).toEqual([]);
    expect(await isAlive(pid)).toBe(true);
    stranger.kill("SIGKILL");
  });

  it("knows its own by the mark where the start time was never learnt", async () => {
    const orphan = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], {
      detached: true,
      stdio: "ignore",
      env: { ...process.env, [MARK_VARIABLE]: "mark-1" },
    });
    const record: ProcessRecord = {
      label: label("x"),
      pid: orphan.pid ?? 0,
      startTime: undefined,
      mark: "mark-1",
      command: "node",
    };
    await until(async () => (await reapLeftovers([record], quiet)).length === 1, "it was found");
    expect(await isAlive(record.pid)).toBe(false);
  });
});
