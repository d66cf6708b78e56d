/**
 * Sessions with spawned upstreams, both eras: JSON lines over the pipes of a process group.
 *
 * Owns: the life of one process as one session; noise on its stdout, messages above the bound, its stderr.
 * Speaks: the session port.
 * Never: restarting (supervisor.ts); message syntax (translate.ts).
 */
import { accessSync, constants, statSync } from "node:fs";
import type { StdioUpstream } from "../model/config.js";
import type { JsonObject } from "../model/json.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { resolveCommand } from "./command.js";
import type { Resolution } from "./command.js";
import { childEnv } from "./env.js";
import { createFloodGuard } from "./flood.js";
import { startGroup } from "./group.js";
import type { Group } from "./group.js";
import { greet } from "./handshake.js";
import { createIntake } from "./intake.js";
import { createLineReader } from "./lines.js";
import { createAsk, route } from "./opening.js";
import type { OpenOptions } from "./opening.js";
import { createPeer } from "./peer.js";
import type { Peer } from "./peer.js";
import type { ProcessRecord } from "./reap.js";
import { ConnectFailed, textOf, Unanswered } from "./session.js";
import type { Session } from "./session.js";
import { DECLARED_CAPABILITIES, withEnvelope } from "./translate.js";
import { createWatcher } from "./watcher.js";

export interface OpenStdioOptions extends OpenOptions {
  readonly config: StdioUpstream;
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly mark: string;
  readonly onStderr: (chunk: Buffer) => void;
  /** To be recorded at once: the process lives. */
  readonly onSpawn: (record: ProcessRecord) => void;
  readonly onGone: (record: ProcessRecord) => void;
}

/** Starts the process and greets it. Rejects with ConnectFailed; nothing of the process is left then. */
export async function openStdio(options: OpenStdioOptions): Promise<Session> {
  const { config, events } = options;
  const env = childEnv(options.baseEnv, config.env, process.platform);
  const program = resolveProgram(config, env);
  let phase = "start";
  let gone: string | undefined;
  let greeted = false;

  const guard = createFloodGuard({ elapsedMs: options.elapsedMs, onFlood: (how) => end(how) });
  const intake = createIntake({
    peer: () => peer,
    onNoise: options.onNoise,
    onLost: (sentence) => events.log("warn", `upstream ${config.label}: ${sentence}`),
    onMessage: guard.reset,
  });
  const lines = createLineReader({
    maxBytes: UPSTREAM_LIMITS.messageBytes,
    onLine: (text, bytes) => intake.line(text, bytes),
    onNoise: (remains) => intake.noise(remains),
    onTooLong: (remains) => intake.tooLong(remains),
  });
  /** It is of no use any more: nothing of it is read, and its owner ends it. */
  function end(how: string): void {
    gone = how;
    group.mute();
    peer.failAll(new Unanswered("lost", `The upstream was ended: ${how}.`, false));
    if (greeted) events.onClosed(how, true);
  }
  const group: Group = await startGroup({
    program,
    env,
    cwd: config.cwd,
    mark: options.mark,
    onStdout: (chunk) => {
      guard.add(chunk.length, lines.push(chunk));
      if (lines.withinMessage()) peer.heard();
    },
    onStderr: options.onStderr,
    onExit: (how) => {
      gone = how;
      peer.failAll(new Unanswered("lost", `The upstream's process is gone: ${how}.`, false));
      if (greeted) events.onClosed(how);
    },
    onGone: () => options.onGone(record),
  }).catch((error: unknown) => {
    throw startFailed(config, error);
  });
  const record: ProcessRecord = {
    label: config.label,
    pid: group.pid,
    startTime: group.startTime,
    mark: options.mark,
    command: program.file,
  };
  options.onSpawn(record);
  const peer = pipePeer(group, options);

  const ask = createAsk(peer, options);
  try {
    const greeting = await greet({
      client: options.client,
      preferred: options.preferred,
      only: options.only,
      notify: peer.notify,
      ask: (method, params) => {
        phase = method;
        return ask(method, params);
      },
    });
    if (gone !== undefined) throw new ConnectFailed(phase, gone);
    greeted = true;
    return pipeSession(options, group, peer, greeting);
  } catch (error) {
    await group.stop();
    throw error instanceof ConnectFailed ? error : new ConnectFailed(phase, textOf(error), undefined, { cause: error });
  }
}

function pipePeer(group: Group, options: OpenStdioOptions): Peer {
  const write = (message: JsonObject, failed: (error: Unanswered) => void): void => {
    group.write(`${JSON.stringify(message)}\n`, (error, alone) => {
      // A line that stood alone and did not reach the pipe cannot have been read; behind others it is not known.
      if (error !== undefined)
        failed(new Unanswered("lost", `The upstream's process does not take input: ${error.message}.`, alone));
    });
  };
  const peer: Peer = createPeer({
    elapsedMs: options.elapsedMs,
    onNotification: (method, params) => route(options.events, method, params),
    onUnaddressed: options.onUnaddressed,
    carrier: {
      notifiesCancel: true,
      send: (message) => write(message, () => undefined),
      sendRequest: (message, id) => {
        if (group.unsentBytes() > UPSTREAM_LIMITS.unsentBytes) {
          throw new Unanswered("busy", `The upstream does not read its input; ${group.unsentBytes()} bytes wait already.`, true);
        }
        write(message, (error) => peer.fail(id, error));
      },
    },
  });
  return peer;
}

function pipeSession(options: OpenStdioOptions, group: Group, peer: Peer, greeting: Session["greeting"]): Session {
  const modern = greeting.era === "modern";
  const request: Session["request"] = (asked) => {
    if (!modern) return peer.request(asked);
    const capabilities = asked.capabilities ?? (asked.onRequest === undefined ? {} : DECLARED_CAPABILITIES);
    return peer.request({ ...asked, params: withEnvelope(asked.params, options.client, capabilities, asked.logLevel) });
  };
  const watcher = modern ? createWatcher({ capabilities: greeting.capabilities, request, events: options.events }) : undefined;
  return {
    greeting,
    transport: "stdio",
    pid: group.pid,
    request,
    notify: peer.notify,
    watch: (uris) => watcher?.set(uris),
    inFlight: () => peer.inFlight(),
    heardMs: () => peer.heardMs(),
    async close(why) {
      watcher?.stop();
      const text = why === undefined ? "The upstream is being stopped." : `The upstream was ended: ${why}.`;
      peer.failAll(new Unanswered("lost", text, false));
      await group.stop();
    },
  };
}

function resolveProgram(config: StdioUpstream, env: Readonly<Record<string, string>>): Resolution {
  try {
    return resolveCommand({
      command: config.command,
      args: config.args,
      env,
      cwd: config.cwd,
      platform: process.platform,
      isProgram,
    });
  } catch (error) {
    throw new ConnectFailed("command", textOf(error), "configuration");
  }
}

function isProgram(path: string): boolean {
  try {
    if (process.platform !== "win32") accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function startFailed(config: StdioUpstream, error: unknown): ConnectFailed {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT" && config.cwd !== undefined) {
    return new ConnectFailed("start", `the program or the working directory "${config.cwd}" is not there`, "configuration");
  }
  const person = ["ENOENT", "EACCES", "EINVAL", "ENOEXEC", "ENOTDIR"].includes(code) ? "configuration" : undefined;
  return new ConnectFailed("start", textOf(error), person, { cause: error });
}
