/**
 * Serve: a composed house with its front door open, as a daemon or for the length of one CLI verb.
 *
 * Owns: listening, daemon.json, what is printed at the start, the order of a graceful stop.
 * Speaks: compose, the HTTP surface.
 * Never: what requests mean.
 */
import { createHash } from "node:crypto";
import type { Environment } from "./host/env.js";
import type { Log } from "./host/log.js";
import type { Print } from "./host/print.js";
import { onStop } from "./host/signals.js";
import { compose, type House } from "./compose.js";
import { Fault } from "./model/fault.js";
import { tokensFormat, type Tokens } from "./model/home.js";
import { isJsonObject } from "./model/json.js";
import type { Caller } from "./model/operations.js";
import { warmTokens } from "./provision/tokens.js";
import { createHttpApp, type HttpSurface } from "./surfaces/http/app.js";
import type { Listening } from "./surfaces/http/listen.js";
import { checkTokens } from "./surfaces/http/tokens.js";

export interface ServeOptions {
  readonly home: string;
  readonly env: Environment;
  readonly main: string;
  readonly log: Log;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Where that port cannot be had, the configured one will do, or else any that is free; it is told in the log. */
  readonly anyPort?: boolean;
  readonly upstreams: boolean;
  readonly watch: boolean;
}

export interface Served {
  readonly house: House;
  readonly surface: HttpSurface;
  readonly listening: Listening;
  stop(): Promise<void>;
}

/** Composes the house and opens the door. `announce` writes daemon.json, so that others find it. */
export async function serve(options: ServeOptions & { readonly announce: boolean }): Promise<Served> {
  const house = await compose(options);
  try {
    const operatorToken = await house.store.operatorToken();
    const { tokens } = house;
    await pinTokens(house, tokens.inForce().tokens, options.log);
    tokens.onRead((read) => {
      pinTokens(house, read, options.log).catch((error: unknown) =>
        options.log.error(`tokens could not be pinned: ${String(error)}`),
      );
    });
    const surface = createHttpApp({
      operations: house.operations,
      policy: house.config.policy,
      http: house.config.http,
      tokens: checkTokens(() => tokens.inForce(), createHash("sha256").update(operatorToken).digest("hex")),
      log: (level, text, data) => options.log[level](text, data),
      version: house.version,
    });
    const listening = await openDoor(surface, options, house.config.http);
    if (options.announce) {
      await house.store.announce({ url: listening.url, version: house.version });
      house.warm();
    }
    return {
      house,
      surface,
      listening,
      async stop() {
        await listening.close(house.config.policy.stopMs);
        await house.stop();
      },
    };
  } catch (error) {
    await house.stop();
    throw error;
  }
}

/** A port may be another program's, or not ours to take. Anything else that is wrong is wrong with every port. */
const PORT_CODES: ReadonlySet<string> = new Set(["EADDRINUSE", "EACCES"]);

/** Listens where it was asked for, else where the configuration says; elsewhere only with `anyPort`. */
async function openDoor(
  surface: HttpSurface,
  { host: askedHost, port: askedPort, anyPort, log }: ServeOptions,
  configured: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const host = askedHost ?? configured.host;
  const first = askedPort ?? configured.port;
  const rest = anyPort === true ? [configured.port, 0].filter((port) => port !== first) : [];
  for (let port = first; ;) {
    try {
      const listening = await surface.listen(host, port);
      if (port !== first)
        log.warn(
          `Port ${first} on ${host} cannot be had: this daemon listens on ${listening.port} instead, at ${listening.url}. ` +
            `Agents and dashboards that are set up with port ${first} do not reach it; free that port and start the daemon again, ` +
            "or give this home another one (steward.http.port in config/steward.json).",
        );
      return listening;
    } catch (error) {
      const next = rest.shift();
      const code = error instanceof Fault && isJsonObject(error.data) ? error.data["code"] : undefined;
      if (next === undefined || typeof code !== "string" || !PORT_CODES.has(code)) throw error;
      port = next;
    }
  }
}

/** Who pins what the token file says: the pin ends where the file says it no more. */
const TOKEN_FILE: Caller = { principal: tokensFormat.place, rights: new Set(), upstreams: undefined, session: undefined };

/** Tokens whose entry names a catalog version stay with it, as long as it does; one that is not kept is told and pins nothing. */
export async function pinTokens(house: House, tokens: Tokens, log: Pick<Log, "warn">): Promise<void> {
  const written = new Map(tokens.tokens.map(({ name, catalog }) => [name, catalog]));
  for (const [name, { by }] of house.steward.world().catalogPins)
    if (by === TOKEN_FILE.principal && written.get(name) === undefined)
      await house.operations.pinCatalog({ version: undefined, token: name }, TOKEN_FILE);
  for (const [name, catalog] of written) {
    const pin = house.steward.world().catalogPins.get(name);
    if (catalog === undefined || (pin?.version === catalog && pin.by === TOKEN_FILE.principal)) continue;
    try {
      await house.operations.pinCatalog({ version: catalog, token: name }, TOKEN_FILE);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn(`${tokensFormat.place}, ${name}: catalog ${catalog}: ${error.detail}`);
    }
  }
}

/** A start that was asked to stop comes to its end first; a home of any size is open within this. */
const START_MS = 120_000;

/** Runs the daemon until a signal; resolves with the exit code. */
export async function runDaemon(options: ServeOptions, print: Print): Promise<number> {
  let exit: (code: number) => void = () => undefined;
  const over = new Promise<number>((resolve) => (exit = resolve));
  const starting = serve({ ...options, announce: true });
  // From the first moment: a signal during a long start closes the home as one later does, instead of counting as a crash.
  let stopMs = START_MS;
  const stopping = onStop(async () => (await starting.catch(() => undefined))?.stop(), {
    stopMs: () => stopMs,
    log: options.log,
    exit: (code) => exit(code),
  });
  try {
    const served = await starting;
    stopMs = served.house.config.policy.stopMs * 2;
    greet(served, print);
  } catch (error) {
    stopping.dispose();
    throw error;
  }
  // The tokeniser's tables take a moment to load: before the first agent asks, not while it waits.
  setTimeout(warmTokens, 1_000).unref();
  return await over;
}

function greet(served: Served, print: Print): void {
  const { house, listening } = served;
  const { url } = listening;
  const labels = [...house.config.upstreams.keys()];
  const health = house.operations.health();
  print.line({ text: `STEWARD ${house.version}`, colour: "bold" }, ` on ${url}`);
  print.line(`  home        ${house.home}`);
  print.line(
    `  behind it   ${labels.length === 0 ? "no upstream is configured (config/steward.json)" : `${labels.join(", ")} (connecting in the background)`}`,
  );
  // On a new home the first listing is under way: nought tools would look broken.
  const isFirst = health.catalog === 0 && labels.length > 0;
  print.line(
    isFirst
      ? `  knows       nothing yet: the upstreams are being listed for the first time (steward upstreams tells how far)`
      : `  knows       catalog version ${health.catalog} (${health.tools} tools) · library revision ${health.library} (${health.skills.active} of ${health.skills.active + health.skills.inactive} skills active)`,
  );
  print.line(`  dashboard   ${url}/`);
  print.line(`  MCP         ${url}/mcp          six tools, whatever is behind them`);
  print.line(`              ${url}/mcp/direct   every tool under its exposed name`);
  print.line(`  REST        ${url}/v1           OpenAPI at ${url}/v1/openapi.json`);
  print.line("  connect     claude mcp add --transport http steward " + `${url}/mcp`);
  print.line("              clients that spawn their servers: steward stdio --home " + house.home);
}
