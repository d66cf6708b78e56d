/**
 * The configuration: config/steward.json as the rest of the house relies on it.
 *
 * Owns: reading, checking and expanding it; defaults; importing what other clients are configured with; writing it.
 * Speaks: WrittenConfig in, Config out; problems with the exact path of what is wrong.
 * Never: connects to anything, or overwrites a file it could not read.
 *
 * A wrong entry or setting is a problem, and the valid rest is in force. Only a file that is no JSON at all is a Fault: nobody can
 * tell then what the operator wanted.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../host/env.js";
import { errorCode } from "../host/files.js";
import { SECRET_CHARS_MIN } from "../host/redact.js";
import type { Config } from "../model/config.js";
import { Fault } from "../model/fault.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { DEFAULT_POLICY, type Policy } from "../model/policy.js";
import type { Problem } from "../model/problem.js";
import { BOUNDS, readAmount } from "./amounts.js";
import { endpointMistakes } from "./endpoints.js";
import { readEntries, type EntryContext } from "./entries.js";
import { expand } from "./expand.js";
import { describeIssue } from "./issues.js";
import { decodeText, parseJsonc, SyntaxMistake } from "./text.js";
import { CONFIG_FORMAT, MANAGER_BOUNDS, stewardSection } from "./written.js";

export const CONFIG_PLACE = "config/steward.json";

export interface ConfigSurroundings {
  readonly env: Environment;
  /** Path of the running main script, for `${STEWARD_MAIN}`. */
  readonly main?: string;
}

/** Reads the home's configuration. Throws Fault `config-invalid` with line and column, or `format-newer`. */
export function readConfig(home: string, around: ConfigSurroundings): Promise<Config> {
  // An async face over synchronous reading: errors are rejections, as callers expect.
  return Promise.resolve().then(() => {
    const written = readWritten(home);
    if (written === undefined) {
      const text = "There is no configuration; no upstream is connected. `steward init` writes one.";
      return interpret({}, [], home, around, [{ code: "config-missing", where: CONFIG_PLACE, text }]);
    }
    return interpret(written.json, written.twice, home, around, []);
  });
}

/** The file as written, or undefined where there is none. Throws Fault `config-invalid` where it cannot be read. */
export function readWritten(home: string): { json: JsonObject; twice: readonly string[]; text: string } | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(home, CONFIG_PLACE));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new Fault(
      "config-invalid",
      `${CONFIG_PLACE} cannot be read: ${(error as Error).message}`,
      { file: CONFIG_PLACE },
      { cause: error },
    );
  }
  const text = decodeText(bytes, CONFIG_PLACE);
  try {
    const { value, twice } = parseJsonc(text);
    if (!isJsonObject(value)) throw new SyntaxMistake(text, 0, "the file has to hold one object");
    return { json: value, twice, text };
  } catch (error) {
    if (!(error instanceof SyntaxMistake)) throw error;
    throw new Fault("config-invalid", `${CONFIG_PLACE}, ${error.message}.`, {
      file: CONFIG_PLACE,
      line: error.line,
      column: error.column,
    });
  }
}

/** What a written configuration means. */
export function interpret(
  json: JsonObject,
  twice: readonly string[],
  home: string,
  around: ConfigSurroundings,
  found: readonly Problem[],
): Config {
  const problems: Problem[] = [...found];
  const note = (where: string, code: string, text: string): void => void problems.push({ code, where, text });
  for (const path of twice) note(path, "given-twice", "It is given twice; the last one counts.");
  for (const member of Object.keys(json)) {
    if (!["mcpServers", "servers", "inputs", "steward", "$schema"].includes(member))
      note(member, "member-unknown", "It is not used here.");
  }
  const given: Record<string, string> = {
    STEWARD_HOME: home,
    STEWARD_NODE: process.execPath,
    ...(around.main === undefined ? {} : { STEWARD_MAIN: around.main }),
  };
  const section = readSection(json["steward"], note);
  const policy = readPolicy(section, note);
  const secrets = new Set<string>();
  const context: EntryContext = { home, env: around.env, given, policy, problems, secrets };
  const settings = isJsonObject(section["upstreams"]) ? section["upstreams"] : {};
  const upstreams = readEntries(writtenEntries(json, note), settings, context);

  const text = (value: string): string => expand(value, around.env, given).text;
  const endpoint = (name: "manager" | "embeddings", from: WrittenEndpoint) => {
    const apiKeyEnv = from.apiKeyEnv ?? "OPENAI_API_KEY";
    const key = around.env[apiKeyEnv];
    if (key !== undefined && key.length >= SECRET_CHARS_MIN) secrets.add(key);
    const read = { baseUrl: text(from.baseUrl), model: text(from.model), apiKeyEnv };
    const mistakes = endpointMistakes(read);
    for (const { member, text } of mistakes) note(`steward.${name}.${member}`, "setting-invalid", `${text} ${INSTEAD[name]}`);
    return mistakes.length === 0 ? read : undefined;
  };
  const http = checkedPart("http", section, note);
  const manager = checkedPart("manager", section, note);
  const embeddings = checkedPart("embeddings", section, note);
  const llm = manager?.kind === "llm" ? endpoint("manager", manager) : undefined;
  const embedder = embeddings === undefined ? undefined : endpoint("embeddings", embeddings);
  const config: Config = {
    upstreams,
    policy,
    http: {
      host: text(http?.host ?? "127.0.0.1"),
      port: http?.port ?? 7717,
      allowedHosts: http?.allowedHosts ?? [],
      allowedOrigins: http?.allowedOrigins ?? [],
    },
    manager: llm === undefined ? { kind: "rules" } : { kind: "llm", ...llm, ...managerLimits(manager as LlmPart, note) },
    embeddings:
      embedder !== undefined
        ? { ...embedder, ...(embeddings?.dimensions === undefined ? {} : { dimensions: embeddings.dimensions }) }
        : section["embeddings"] === undefined
          ? undefined
          : { refused: problems.find(({ where }) => /^steward\.embeddings\b/.test(where))?.where ?? "steward.embeddings" },
    secrets: [...secrets],
    problems,
  };
  return frozen(config);
}

type Note = (where: string, code: string, text: string) => void;
type LlmPart = Extract<Parts["manager"], { kind: "llm" }>;
interface WrittenEndpoint {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKeyEnv?: string | undefined;
}

/** What is in force where a part of the section cannot be. */
const INSTEAD: Readonly<Record<keyof Parts, string>> = {
  http: "The defaults of steward.http are in force.",
  manager: "The defaults of steward.manager are in force: rules decide.",
  embeddings: "The section is refused: a running daemon keeps the last good one, any other searches by words alone.",
};

/** The limits that are given, in the units of their names. */
function managerLimits(
  manager: LlmPart,
  note: Note,
): { viewTimeoutMs?: number; maintenanceTokens?: number; applyChecked?: boolean } {
  const limits: { viewTimeoutMs?: number; maintenanceTokens?: number; applyChecked?: boolean } = {};
  for (const name of ["viewTimeoutMs", "maintenanceTokens"] as const) {
    if (manager[name] === undefined) continue;
    const read = readAmount(manager[name], MANAGER_BOUNDS[name]);
    if (typeof read === "number") limits[name] = read;
    else if (typeof read === "object")
      note(
        `steward.manager.${name}`,
        "setting-invalid",
        `${read.wrong.slice(0, 1).toUpperCase()}${read.wrong.slice(1)}. The default stays in force.`,
      );
  }
  if (manager.applyChecked !== undefined) limits.applyChecked = manager.applyChecked;
  return limits;
}

function readSection(value: JsonValue | undefined, note: Note): JsonObject {
  if (value === undefined) return {};
  if (!isJsonObject(value)) {
    note("steward", "setting-invalid", "It has to be an object. Defaults are in force.");
    return {};
  }
  const format = value["format"];
  const version = typeof format === "string" ? /^config\/(\d+)$/.exec(format)?.[1] : undefined;
  if (format !== undefined && version === undefined)
    note("steward.format", "setting-invalid", `It has to be "${CONFIG_FORMAT}".`);
  if (version !== undefined && Number(version) > 1) {
    throw new Fault("format-newer", `${CONFIG_PLACE} has format config/${version}; this version reads up to ${CONFIG_FORMAT}.`, {
      file: CONFIG_PLACE,
    });
  }
  for (const member of Object.keys(value)) {
    if (!(member in stewardSection.shape)) note(`steward.${member}`, "member-unknown", "There is no such setting.");
  }
  return value;
}

type Parts = Required<{
  [Name in "http" | "manager" | "embeddings"]: NonNullable<ReturnType<typeof stewardSection.parse>[Name]>;
}>;

/** One part of the section, whole; where anything in it is wrong, its defaults are in force and the exact member is named. */
function checkedPart<Name extends keyof Parts>(name: Name, section: JsonObject, note: Note): Parts[Name] | undefined {
  if (section[name] === undefined) return undefined;
  const checked = stewardSection.shape[name].safeParse(section[name]);
  if (checked.success) return checked.data as Parts[Name] | undefined;
  for (const issue of checked.error.issues) {
    const path = issue.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
    note(`steward.${name}${path}`, "setting-invalid", `${describeIssue(issue)} ${INSTEAD[name]}`);
  }
  return undefined;
}

function readPolicy(section: JsonObject, note: Note): Policy {
  const policy: Record<string, unknown> = { ...DEFAULT_POLICY };
  const set = (name: string, value: JsonValue, where: string): void => {
    const bound = BOUNDS[name as keyof Policy];
    if (!Object.hasOwn(BOUNDS, name)) {
      note(where, "setting-unknown", `There is no policy of this name. There are: ${Object.keys(BOUNDS).join(", ")}.`);
      return;
    }
    const read = readAmount(value, bound);
    if (typeof read === "object")
      note(
        where,
        "setting-invalid",
        `${read.wrong.slice(0, 1).toUpperCase()}${read.wrong.slice(1)}. The default stays in force.`,
      );
    else policy[name] = read;
  };
  for (const part of ["policy", "exposure", "evidence", "maintain"] as const) {
    const values = section[part];
    if (values === undefined) continue;
    if (!isJsonObject(values)) {
      note(`steward.${part}`, "setting-invalid", "It has to be an object. Defaults are in force.");
      continue;
    }
    for (const [name, value] of Object.entries(values)) {
      const own = part === "evidence" || part === "maintain" ? `${part}${name.slice(0, 1).toUpperCase()}${name.slice(1)}` : name;
      set(own, value, `steward.${part}.${name}`);
    }
  }
  return policy as unknown as Policy;
}

/** Entries of both members by label; `mcpServers` goes before `servers`. */
function writtenEntries(json: JsonObject, note: Note): Map<string, { path: string; entry: unknown }> {
  const entries = new Map<string, { path: string; entry: unknown }>();
  for (const member of ["mcpServers", "servers"] as const) {
    const written = json[member];
    if (written === undefined) continue;
    if (!isJsonObject(written)) {
      note(member, "entry-invalid", "It has to be an object of servers by label.");
      continue;
    }
    for (const [label, entry] of Object.entries(written)) {
      if (entries.has(label)) note(`${member}.${label}`, "given-twice", `It stands in mcpServers too; that entry counts.`);
      else entries.set(label, { path: `${member}.${label}`, entry });
    }
  }
  return entries;
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of value instanceof Map ? value.values() : Object.values(value)) frozen(member);
  return Object.freeze(value);
}
