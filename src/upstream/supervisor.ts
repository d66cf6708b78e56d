/**
 * One upstream under supervision.
 *
 * Owns: its presence, its rest when idle, its counters.
 * Speaks: events, faults, statuses.
 * Never: transports; what a listing means; how a call is sent (calls.ts); which silence is its end (life.ts).
 *
 * Presence:  connecting ─▶ up ⇄ idle      away = lost or unlistable, last good tools kept
 *                └────────▶ away ⇄ up     parked = a person is needed; disabled = not configured to run
 */
import { randomUUID } from "node:crypto";
import { redact } from "../host/redact.js";
import type { UpstreamConfig } from "../model/config.js";
import type { Event } from "../model/event.js";
import { Fault } from "../model/fault.js";
import type { ToolKey } from "../model/ids.js";
import type { JsonObject } from "../model/json.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import type { Policy } from "../model/policy.js";
import type { CallOptions, Clock, UpstreamCall, UpstreamStatus } from "../model/ports.js";
import type { Tool } from "../model/tool.js";
import { createCalls } from "./calls.js";
import { shown } from "./faults.js";
import { flapTeller } from "./flapping.js";
import { createIdleWatch } from "./idle.js";
import { createLifeWatch } from "./life.js";
import { createLink } from "./link.js";
import { createLister } from "./lister.js";
import { createNoise } from "./noise.js";
import { createPresenceBoard } from "./presence.js";
import { loginNeeded } from "./login.js";
import type { ProcessRecord } from "./reap.js";
import { ConnectFailed, textOf, Unanswered } from "./session.js";
import type { Era, Greeting, Session, SessionEvents, UpstreamLog } from "./session.js";
import type { createStarts } from "./starts.js";
import { keepSkills } from "./skills/keep.js";
import { openStdio } from "./stdio.js";
import { createSubscriptions } from "./subscriptions.js";
import { createTail } from "./tail.js";
import type { Tail } from "./tail.js";
import { headersIn, secretsOf, targetOf } from "./target.js";
import { METHOD } from "./translate.js";

export interface SupervisorOptions {
  readonly config: UpstreamConfig;
  readonly policy: Policy;
  readonly post: (event: Event) => Promise<void> | void;
  readonly known: () => ReadonlyMap<ToolKey, Tool>;
  /** Digest over the files that were taken from a skill's URI last. */
  readonly knownSkill: (uri: string) => string | undefined;
  readonly clock: Clock;
  readonly log: UpstreamLog;
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly version: string;
  readonly secrets: readonly string[];
  readonly starts: ReturnType<typeof createStarts>;
  /** Era verdicts by what is connected to; shared by all upstreams and outliving reconnects. */
  readonly eras: Map<string, Era>;
  readonly onNotification: (method: string, params: JsonObject) => void;
  /** Reads the configuration again, if it was not just now; resolves when what moved in it is in force. */
  readonly reread: () => Promise<void>;
  readonly onSpawn: (record: ProcessRecord) => void;
  readonly onGone: (record: ProcessRecord) => void;
}

export interface Supervisor {
  start(): void;
  /** Lists now, starting the upstream if it rests. */
  sync(): Promise<{ ok: boolean; reason?: string }>;
  call(call: UpstreamCall): Promise<JsonObject>;
  request(method: string, params: JsonObject, options: CallOptions): Promise<JsonObject>;
  status(): UpstreamStatus;
  /** New limits under the same connection; new headers under another, which begins before the former one ends. */
  adjust(config: UpstreamConfig): void;
  /** Stops once its calls are answered, at most after `boundMs`; `stop` cuts that short. */
  finish(boundMs: number): Promise<void>;
  stop(): Promise<void>;
}

export function superviseUpstream(options: SupervisorOptions): Supervisor {
  const { clock, policy } = options;
  let config = options.config;
  const label = config.label;
  /** Those that were in force before as well: what an upstream says may still hold them. */
  const secrets = [...options.secrets, ...secretsOf(config)];
  const redacted = (text: string): string => redact(text, secrets);
  const elapsedMs = (): number => clock.elapsedMs();
  const subscriptions = createSubscriptions();
  let tail: Tail = createTail(UPSTREAM_LIMITS.stderrTailBytes, redacted);
  let greeting: Greeting | undefined;
  let transport: UpstreamStatus["transport"] = config.kind === "stdio" ? "stdio" : config.transport;
  let failures = 0;
  /** The listing that a new session begins with. */
  let firstListing: Promise<void> = Promise.resolve();
  /** Called when no call runs any more, or nobody is to wait for them. */
  let finished = (): void => undefined;
  let doubtedMs = Number.NEGATIVE_INFINITY;

  const log: UpstreamLog = (level, text, data) => options.log(level, redacted(text), data);
  const post = async (event: Event): Promise<void> => {
    try {
      await options.post(event);
    } catch (error) {
      log("error", `an event of upstream ${label} was not taken`, { kind: event.kind, why: textOf(error) });
    }
  };

  const noise = createNoise({ label, log, redacted, elapsedMs });
  const presence = createPresenceBoard({
    label,
    initial: config.disabled ? "disabled" : "connecting",
    clock,
    post: (event) => void post(event),
  });
  const reasonOf = (text: string): string => redacted(text) + shown(tail.text(), REASON_STDERR_CHARS);
  const idle = createIdleWatch({
    limitMs: () => (config.kind === "stdio" ? config.idleStopMs : 0),
    elapsedMs,
    needed: () => calls.busy() > 0 || subscriptions.uris().length > 0,
    rest() {
      if (link.current() === undefined || presence.current().state !== "up") return false;
      presence.set("idle");
      void link.rest();
      return true;
    },
  });

  const link = createLink({
    open: (attempt) => open(attempt),
    starts: options.starts,
    elapsedMs,
    onUp,
    onLost(reason, again) {
      failures += 1;
      log("warn", `upstream ${label} was lost: ${reason}`, { again, stderr: tail.text().slice(-500) });
      // A first loss is reconnected in silence; only if that fails, or it is lost again, is it an outage.
      if (again > 1) presence.set("away", reasonOf(reason));
    },
    onFailed(error) {
      failures += 1;
      log("warn", `upstream ${label} could not be connected: ${error.message}`, { stderr: tail.text().slice(-500) });
      options.eras.delete(targetOf(config));
      const person = error instanceof ConnectFailed ? error.needsPerson : undefined;
      if (person === undefined) return presence.set("away", reasonOf(error.message));
      presence.park(person, reasonOf(error.message));
      if (person === "login") void options.reread();
    },
  });
  const lister = createLister({
    label,
    session: () => link.current(),
    post,
    known: options.known,
    now: () => clock.now(),
    elapsedMs,
    timeoutMs: () => config.connectTimeoutMs,
    pollMs: policy.pollMs,
    onListed: () => {
      if (link.current() !== undefined) presence.set("up");
      idle.watch();
    },
    onUnlistable: (error) => {
      log("warn", `upstream ${label} could not be listed: ${textOf(error)}`);
      if (error instanceof Unanswered && error.kind === "login") {
        presence.park("login", reasonOf(loginNeeded(config, error.status ?? 401)));
        void options.reread();
      } else presence.set("away", reasonOf(`its tools could not be listed: ${textOf(error)}`));
    },
    onFlapping: flapTeller(`upstream ${label}: its tools`, log),
  });

  const skills = keepSkills({
    label,
    session: () => link.current(),
    wanted: () => config.skills === "import",
    known: options.knownSkill,
    post,
    now: () => clock.now(),
    elapsedMs,
    timeoutMs: () => config.connectTimeoutMs,
    pollMs: policy.pollMs,
    log,
  });

  async function open({ signal, closed }: { signal: AbortSignal; closed: SessionEvents["onClosed"] }): Promise<Session> {
    tail = createTail(UPSTREAM_LIMITS.stderrTailBytes, redacted);
    const mine = tail;
    const events: SessionEvents = {
      onChanged: (list) => {
        if (list === "tools") lister.changed();
        // A stream that was opened anew says `tools` too: what moved meanwhile was not heard.
        if (list !== "prompts") skills.changed();
      },
      onNotification: options.onNotification,
      onClosed: closed,
      log,
    };
    const known = options.eras.get(targetOf(config));
    const shared = {
      client: { name: "steward", version: options.version },
      events,
      elapsedMs,
      timeoutMs: config.connectTimeoutMs,
      preferred: config.era ?? known,
      only: config.era !== undefined,
      signal,
      baseEnv: options.baseEnv,
      onNoise: noise.onNoise,
      onUnaddressed: noise.onUnaddressed,
    };
    // Loaded when one is there: a house with servers of its own alone starts without it.
    if (config.kind === "http") return (await import("./http.js")).openHttp({ ...shared, config });
    return openStdio({
      ...shared,
      config,
      mark: randomUUID(),
      onStderr: (chunk) => mine.push(chunk),
      onSpawn: options.onSpawn,
      onGone: options.onGone,
    });
  }

  function onUp(session: Session): void {
    greeting = session.greeting;
    transport = session.transport;
    life.begin();
    doubtedMs = Number.NEGATIVE_INFINITY;
    presence.renew();
    idle.touch();
    options.eras.set(targetOf(config), greeting.era);
    session.watch(subscriptions.uris());
    if (greeting.era === "legacy") {
      for (const uri of subscriptions.uris())
        session.request({ ...within(config.connectTimeoutMs), method: METHOD.subscribe, params: { uri } }).catch(() => undefined);
    }
    firstListing = lister.now("start");
    // Skills after tools: what a skill says of tools is read against those that are there.
    firstListing
      .catch(() => undefined)
      .then(skills.now)
      .catch(() => undefined);
  }

  /** A call that is refused concerns its caller; whether we ourselves are still let in is asked with a request of our own. */
  function doubtLogin(): void {
    if (elapsedMs() - doubtedMs < UPSTREAM_LIMITS.pollMinMs) return;
    doubtedMs = elapsedMs();
    lister.check();
  }

  /**
   * Credentials may have been replaced in the configuration a moment ago: it is read again before anybody hears of the refusal.
   * True where another session stands or is under way, so that what was refused may be asked again.
   */
  async function readmitted(session: Session): Promise<boolean> {
    if (link.current() === session) await options.reread();
    return link.current() !== session && !presence.needsLogin();
  }

  function onUnanswered(session: Session, error: Unanswered, own: boolean): void {
    life.unanswered(session, error);
    // On a pipe one request is lost with the pipe, whether it ran or not: what is sent next must not go there again.
    const isOver = session.transport === "stdio" || (error.notRun && error.status === undefined);
    if (error.kind === "lost" && isOver) link.drop(session, error.message);
    else if (error.kind === "login" && own) void readmitted(session).then((again) => again || doubtLogin());
  }

  async function connected(signal: AbortSignal): Promise<Session> {
    const session = link.current();
    if (session !== undefined) return session;
    if (config.disabled) throw new Fault("tool-not-offered", `upstream ${label} is disabled.`);
    if (presence.needsLogin()) throw new Fault("tool-not-offered", `upstream ${label}: ${presence.current().reason ?? ""}`);
    return orCancelled(link.ready("call"), signal);
  }

  const life = createLifeWatch({
    current: link.current,
    elapsedMs,
    callTimeoutMs: () => config.callTimeoutMs,
    // It had worked and stopped doing so: a new one may fare no better, so the pause is one of several failures.
    onDead: (session, reason) => link.drop(session, reason, true),
  });

  const calls = createCalls({
    label,
    config: () => config,
    policy,
    current: link.current,
    connected,
    lister,
    subscriptions,
    stderr: () => tail.text(),
    log,
    onAnswer: () => link.prove(),
    onUnanswered,
    readmitted,
    onSettled: life.settled,
    onIdle: () => {
      idle.touch();
      finished();
    },
  });

  return {
    start() {
      presence.tell();
      if (!config.disabled) link.wake();
    },
    async sync() {
      if (config.disabled) return { ok: false, reason: "it is disabled" };
      try {
        const fresh = link.current() === undefined;
        await link.ready("call");
        // A connection that was just made lists by itself.
        await (fresh ? firstListing : lister.now("sync"));
        await skills.now();
        return { ok: true };
      } catch (error) {
        return { ok: false, reason: reasonOf(textOf(error)) };
      }
    },
    call: calls.call,
    request: calls.request,
    status: () => ({
      label,
      presence: presence.current(),
      transport,
      era: greeting?.era,
      server: greeting?.server,
      capabilities: greeting?.capabilities,
      instructions: greeting?.instructions,
      pid: link.current()?.pid,
      calls: calls.counters.calls,
      failures: failures + calls.counters.failures,
      stderrTail: tail.text(),
      ...noise.counts(),
      slowedMs: lister.slowedMs(),
      skills: config.skills,
    }),
    adjust(next) {
      const begins = next.skills === "import" && config.skills !== "import";
      const moved = headersIn(next) !== headersIn(config);
      config = next;
      if (moved && !config.disabled) {
        secrets.push(...secretsOf(config));
        log("info", `upstream ${label} is connected anew with the headers that are configured now`);
        if (presence.needsLogin()) presence.set("connecting");
        link.renew();
      }
      idle.watch();
      if (begins && link.current() !== undefined) void skills.now();
    },
    async finish(boundMs) {
      idle.stop();
      lister.stop();
      skills.stop();
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((done) => {
        finished = done;
        timer = setTimeout(done, boundMs);
        if (calls.busy() === 0) done();
      });
      clearTimeout(timer);
      await link.stop();
    },
    async stop() {
      finished();
      idle.stop();
      lister.stop();
      skills.stop();
      await link.stop();
    },
  };
}

/** Of stderr in a presence's reason: it is stored and shown in lists. */
const REASON_STDERR_CHARS = 400;

function within(timeoutMs: number): { timeoutMs: number; capMs: number; internal: true } {
  return { timeoutMs, capMs: timeoutMs, internal: true };
}

/** Waits for a shared attempt without being bound to it. */
function orCancelled<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => reject(new Unanswered("cancelled", "Cancelled while the upstream was being started.", true));
    if (signal.aborted) return cancel();
    signal.addEventListener("abort", cancel, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancel));
  });
}
