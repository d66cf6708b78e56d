/**
 * What other clients are configured with, and what STEWARD would take of it.
 *
 * Reads the files of Claude Desktop, Claude Code, Cursor, VS Code and Codex where they are; never writes to them.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { labelProblem, suggestLabel } from "../catalog/name.js";
import type { Environment } from "../host/env.js";
import { errorCode, nodeFiles, type Files } from "../host/files.js";
import { Fault } from "../model/fault.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import { changeConfig } from "./change.js";
import { decodeText, parseJsonc, SyntaxMistake } from "./text.js";
import { parseToml } from "./toml.js";
import { ownSpelling } from "./written.js";

export const CLIENTS = ["claude-desktop", "claude-code", "cursor", "vscode", "codex"] as const;
export type Client = (typeof CLIENTS)[number];

/** One file that was found. */
export interface ImportSource {
  readonly client: Client | "file";
  readonly path: string;
  /** Labels under which its servers would be taken. */
  readonly labels: readonly string[];
}

export interface ImportedConfigs {
  readonly sources: readonly ImportSource[];
  /** Entries as they would stand in config/steward.json. */
  readonly mcpServers: Readonly<Record<string, JsonObject>>;
  /** What was passed over or renamed, and files that could not be read. */
  readonly problems: readonly Problem[];
}

export interface ImportOptions {
  readonly env: Environment;
  /** Project folder whose own files (.mcp.json, .vscode, .cursor) are looked at too. */
  readonly cwd: string;
  /** Clients, paths of files, or `all`. */
  readonly from?: readonly string[];
  readonly platform?: NodeJS.Platform;
}

interface Place {
  readonly client: Client | "file";
  readonly path: string;
  /** A file that was asked for by name has to be there. */
  readonly asked?: boolean;
}

/** Throws Fault `input-invalid` for a client that is not known. */
export function importClientConfigs(options: ImportOptions): Promise<ImportedConfigs> {
  return Promise.resolve().then(() => collect(options));
}

function collect(options: ImportOptions): ImportedConfigs {
  const problems: Problem[] = [];
  const sources: ImportSource[] = [];
  const taken = new Map<string, JsonObject>();
  for (const place of placesOf(options)) {
    const servers = readServers(place, options, problems);
    if (servers === undefined) continue;
    const labels: string[] = [];
    for (const [name, entry] of servers) {
      const where = `${place.path}: ${name}`;
      const label = take(name, entry, place.client, where, taken, problems);
      if (label !== undefined) labels.push(label);
    }
    sources.push({ client: place.client, path: place.path, labels });
  }
  return { sources, mcpServers: Object.fromEntries(taken), problems };
}

/** Where the clients keep their configuration, by platform. */
function placesOf({ env, cwd, from, platform = process.platform }: ImportOptions): Place[] {
  const home = env["HOME"] ?? env["USERPROFILE"] ?? homedir();
  const roaming = env["APPDATA"] ?? join(home, "AppData", "Roaming");
  const support = join(home, "Library", "Application Support");
  const settings =
    platform === "win32" ? roaming : platform === "darwin" ? support : (env["XDG_CONFIG_HOME"] ?? join(home, ".config"));
  const all: Place[] = [
    { client: "claude-desktop", path: join(settings, "Claude", "claude_desktop_config.json") },
    { client: "claude-code", path: join(env["CLAUDE_CONFIG_DIR"] ?? home, ".claude.json") },
    { client: "claude-code", path: join(cwd, ".mcp.json") },
    { client: "cursor", path: join(home, ".cursor", "mcp.json") },
    { client: "cursor", path: join(cwd, ".cursor", "mcp.json") },
    { client: "vscode", path: join(settings, "Code", "User", "mcp.json") },
    { client: "vscode", path: join(settings, "Code", "User", "settings.json") },
    { client: "vscode", path: join(cwd, ".vscode", "mcp.json") },
    { client: "codex", path: join(env["CODEX_HOME"] ?? join(home, ".codex"), "config.toml") },
    { client: "codex", path: join(cwd, ".codex", "config.toml") },
  ];
  if (from === undefined || from.includes("all")) return all;
  return from.flatMap((name): Place[] => {
    if (CLIENTS.some((client) => client === name)) return all.filter(({ client }) => client === name);
    if (/[./\\]/.test(name)) return [{ client: "file", path: resolve(cwd, name), asked: true }];
    throw new Fault(
      "input-invalid",
      `${JSON.stringify(name)} is no client that is known here: ${CLIENTS.join(", ")}, all, or the path of a file.`,
    );
  });
}

/** Named entries of a file; undefined where there is no such file or it could not be read. */
function readServers(place: Place, options: ImportOptions, problems: Problem[]): [string, JsonValue][] | undefined {
  const { path } = place;
  try {
    const text = decodeText(readFileSync(path), path);
    if (path.endsWith(".toml")) {
      const { value, unread } = parseToml(text);
      if (unread.length > 0)
        problems.push({
          code: "client-config-unread",
          where: path,
          text: `Lines ${unread.join(", ")} were not understood and are passed over.`,
        });
      return entriesOf(value["mcp_servers"]);
    }
    const { value } = parseJsonc(text);
    if (!isJsonObject(value)) throw new SyntaxMistake(text, 0, "the file does not hold an object");
    const mcp = isJsonObject(value["mcp"]) ? value["mcp"] : {};
    return [
      ...entriesOf(value["mcpServers"]),
      ...entriesOf(value["servers"]),
      ...entriesOf(mcp["servers"]),
      ...projectEntries(value["projects"], options.cwd),
    ];
  } catch (error) {
    if (errorCode(error) === "ENOENT" && place.asked !== true) return undefined;
    const why = error instanceof SyntaxMistake || error instanceof Fault ? error.message : (error as Error).message;
    problems.push({ code: "client-config-unread", where: path, text: `The file could not be read: ${why}` });
    return undefined;
  }
}

function entriesOf(value: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

/** Claude Code keeps servers per project folder, too. */
function projectEntries(projects: JsonValue | undefined, cwd: string): [string, JsonValue][] {
  const project = isJsonObject(projects) ? projects[cwd] : undefined;
  return isJsonObject(project) ? entriesOf(project["mcpServers"]) : [];
}

/** Takes one entry under a label that is free, and answers it; undefined where it is not taken. */
function take(
  name: string,
  entry: JsonValue,
  client: string,
  where: string,
  taken: Map<string, JsonObject>,
  problems: Problem[],
): string | undefined {
  const note = (code: string, text: string): void => void problems.push({ code, where, text });
  if (!isJsonObject(entry)) {
    note("client-entry-refused", "It is not an object.");
    return undefined;
  }
  if (isSteward(entry)) {
    note("client-entry-refused", "It is STEWARD itself: taken, it would call itself.");
    return undefined;
  }
  const server = asOwn(entry);
  if (typeof server["command"] !== "string" && typeof server["url"] !== "string") {
    note("client-entry-refused", "It has neither a command nor a url.");
    return undefined;
  }
  let label = name;
  if (labelProblem(name) !== undefined) {
    label = suggestLabel(name);
    note("client-entry-renamed", `${JSON.stringify(name)} cannot be a label; it is taken as ${label}.`);
  }
  for (let n = 1; ; n += 1) {
    const free = n === 1 ? label : suggestLabel(n === 2 ? `${label}-${client}` : `${label}-${client}-${n - 1}`);
    const other = taken.get(free);
    if (other !== undefined && JSON.stringify(other) === JSON.stringify(server)) return free;
    if (other !== undefined) continue;
    if (n > 1)
      note("client-entry-renamed", `Another client has a different server called ${label}; this one is taken as ${free}.`);
    if (/\$\{input:/.test(JSON.stringify(server)))
      note(
        "client-entry-input",
        "It asks for an input when it starts; STEWARD does not: put the value into a variable and write ${NAME}.",
      );
    taken.set(free, server);
    return free;
  }
}

function isSteward(entry: JsonObject): boolean {
  const words = [entry["command"], ...(Array.isArray(entry["args"]) ? entry["args"] : [])].filter(
    (word) => typeof word === "string",
  );
  return words.some((word) => /(^|[/\\@])steward(-mcp[/\\]steward)?(@[^/\\]*|\.cmd|\.exe)?$/.test(word));
}

const OWN = ["command", "args", "env", "cwd", "url", "headers", "type", "disabled"];

/** The members that mean something here, in one order. */
function asOwn(entry: JsonObject): JsonObject {
  const own = ownSpelling({ ...entry, headers: entry["headers"] ?? entry["http_headers"] }) as JsonObject;
  const bearer = entry["bearer_token_env_var"];
  if (typeof bearer === "string")
    own["headers"] = { ...(isJsonObject(own["headers"]) ? own["headers"] : {}), Authorization: `Bearer \${${bearer}}` };
  return Object.fromEntries(OWN.filter((name) => own[name] !== undefined).map((name) => [name, own[name] ?? null]));
}

/** Adds imported servers under labels that are not configured yet. `kept` are those that are, and stay as they were. */
export async function mergeImported(
  home: string,
  mcpServers: Readonly<Record<string, JsonObject>>,
  files: Files = nodeFiles(),
): Promise<{ readonly taken: readonly string[]; readonly kept: readonly string[] }> {
  const taken: string[] = [];
  const kept: string[] = [];
  await changeConfig(home, files, (written) => {
    const present = isJsonObject(written["mcpServers"]) ? written["mcpServers"] : {};
    const also = isJsonObject(written["servers"]) ? written["servers"] : {};
    const added: JsonObject = {};
    for (const [label, entry] of Object.entries(mcpServers)) {
      if (present[label] !== undefined || also[label] !== undefined) kept.push(label);
      else {
        taken.push(label);
        added[label] = entry;
      }
    }
    return { ...written, mcpServers: { ...present, ...added } };
  });
  return { taken, kept };
}
