import { resolve } from "node:path";
import type { StdioUpstream } from "../../src/model/config.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { createUpstreams } from "../../src/upstream/upstreams.js";
import type { SupervisedUpstreams } from "../../src/upstream/upstreams.js";

/** One upstream that leaves a stubborn grandchild. */
function baseDaemon(): SupervisedUpstreams {
  const label = "leaver" as UpstreamLabel;
  const config: StdioUpstream = {
    kind: "stdio",
    label,
    prefix: label,
    command: process.execPath,
    args: [resolve(import.meta.dirname, "../fixtures/servers/leaver.mjs"), process.argv[3] ?? "child"],
    env: {},
    cwd: undefined,
    disabled: false,
    callTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
    idleStopMs: 0,
  };
  return createUpstreams({
    configs: new Map([[label, config]]),
    policy: DEFAULT_POLICY,
    post: () => undefined,
    clock: { now: () => new Date().toISOString(), elapsedMs: () => performance.now() },
    log: () => undefined,
    baseEnv: { PATH: process.env["PATH"] ?? "" },
    version: "0.0.0-test",
  });
}

/** Runs upstreams as a daemon would, prints their process records, and waits to be killed. */
const upstreams = baseDaemon();
upstreams.start();
const timer = setInterval(() => {
  if (upstreams.status().every((one) => one.presence.state === "up")) {
    clearInterval(timer);
    process.stdout.write(`${JSON.stringify(upstreams.recordedProcesses())}\n`);
    setInterval(() => undefined, 1_000);
  }
}, 20);
