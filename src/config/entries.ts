/**
 * Entries of `mcpServers` as relied on: one by one, so that a wrong one is named and the rest starts.
 *
 * A label whose entry cannot be used stays, disabled: its tools keep their place in the catalog and are not offered, as if a
 * person had switched it off. Leaving it out would read as "this upstream is gone for good".
 */
import { isAbsolute, join } from "node:path";
import { labelProblem } from "../catalog/name.js";
import type { Environment } from "../host/env.js";
import { isSecretName, SECRET_CHARS_MIN } from "../host/redact.js";
import type { HttpUpstream, StdioUpstream, UpstreamConfig } from "../model/config.js";
import type { UpstreamLabel } from "../model/ids.js";
import type { Policy } from "../model/policy.js";
import type { Problem } from "../model/problem.js";
import { SKILL_MODES } from "../model/upstream-skills.js";
import { readAmount, BOUNDS } from "./amounts.js";
import { expand } from "./expand.js";
import { FOREIGN_MEMBERS, ownSpelling, upstreamSettings, writtenServer } from "./written.js";
import { describeIssue } from "./issues.js";

export interface EntryContext {
  readonly home: string;
  readonly env: Environment;
  /** Variables of our own: STEWARD_HOME, STEWARD_NODE, STEWARD_MAIN. */
  readonly given: Readonly<Record<string, string>>;
  readonly policy: Policy;
  readonly problems: Problem[];
  /** Values to redact wherever they would be printed. */
  readonly secrets: Set<string>;
}

/** All upstreams, by label, in the order written. */
export function readEntries(
  written: ReadonlyMap<string, { readonly path: string; readonly entry: unknown }>,
  settings: Readonly<Record<string, unknown>>,
  context: EntryContext,
): Map<UpstreamLabel, UpstreamConfig> {
  const upstreams = new Map<UpstreamLabel, UpstreamConfig>();
  for (const [label, { path, entry }] of written) {
    const wrong = labelProblem(label);
    if (wrong !== undefined) {
      context.problems.push({ ...wrong, where: path });
      continue;
    }
    upstreams.set(label as UpstreamLabel, readEntry(label as UpstreamLabel, path, entry, settings[label], context));
  }
  for (const label of Object.keys(settings)) {
    if (!written.has(label))
      note(
        context,
        `steward.upstreams.${label}`,
        "upstream-unknown",
        "There is no entry of this label in mcpServers; these settings do nothing.",
      );
  }
  return withDistinctPrefixes(upstreams, context);
}

function readEntry(label: UpstreamLabel, path: string, entry: unknown, settings: unknown, context: EntryContext): UpstreamConfig {
  const common = readSettings(label, settings, context);
  const checked = writtenServer.safeParse(
    typeof entry === "object" && entry !== null ? ownSpelling(entry as Record<string, unknown>) : entry,
  );
  if (!checked.success) {
    for (const issue of checked.error.issues)
      note(context, `${path}${pathText(issue.path)}`, "entry-invalid", `${describeIssue(issue)} The upstream is not started.`);
    return unusable(common);
  }
  const server = checked.data;
  for (const member of Object.keys(server)) {
    if (!(member in writtenServer.shape) && !FOREIGN_MEMBERS.has(member))
      note(context, `${path}.${member}`, "member-unknown", "It is not used here.");
  }
  const before = context.problems.length;
  const disabled = server.disabled === true;
  const built = server.url === undefined ? stdio(path, server, common, context) : http(path, server, common, context);
  const isFit = context.problems.length === before && built !== undefined;
  // What is switched off may be half written.
  if (disabled) context.problems.splice(before);
  return isFit ? { ...built, disabled } : unusable(common);
}

type Common = Omit<StdioUpstream, "kind" | "command" | "args" | "env" | "cwd"> & Pick<HttpUpstream, "forwardHeaders">;
type Server = ReturnType<typeof writtenServer.parse>;

function unusable(common: Common): StdioUpstream {
  const { forwardHeaders: _none, ...rest } = common;
  return { ...rest, kind: "stdio", disabled: true, command: "", args: [], env: {}, cwd: undefined };
}

function stdio(path: string, server: Server, common: Common, context: EntryContext): StdioUpstream | undefined {
  const { forwardHeaders: _none, ...rest } = common;
  if (server.type !== undefined && server.type !== "stdio") {
    note(
      context,
      `${path}.url`,
      "entry-invalid",
      `It is missing: a server of type ${server.type} needs the address it is reached at.`,
    );
    return undefined;
  }
  if (server.command === undefined || server.command.trim() === "") {
    note(context, `${path}.command`, "entry-invalid", "It is missing: an entry needs a command to spawn or a url to reach.");
    return undefined;
  }
  for (const at of ["command", "cwd"] as const) {
    if (/[\u0000-\u001f]/.test(server[at] ?? "")) {
      note(
        context,
        `${path}.${at}`,
        "entry-invalid",
        "It has a control character: in JSON a backslash has to be written twice (C:\\\\tools).",
      );
      return undefined;
    }
  }
  const text = (at: string, value: string, secret = false): string => expanded(`${path}.${at}`, value, secret, context);
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(server.env ?? {}))
    env[name] = text(`env.${name}`, String(value), isSecretName(name));
  const cwd = server.cwd === undefined ? undefined : withTilde(text("cwd", server.cwd), context.env);
  return {
    ...rest,
    kind: "stdio",
    command: withTilde(text("command", server.command), context.env),
    args: (server.args ?? []).map((arg, n) => text(`args[${n}]`, arg)),
    env,
    cwd: cwd === undefined || isAbsolute(cwd) ? cwd : join(context.home, cwd),
  };
}

function http(path: string, server: Server, common: Common, context: EntryContext): HttpUpstream | undefined {
  if (server.command !== undefined) {
    note(context, path, "entry-invalid", "It has both a command and a url: take one of them out.");
    return undefined;
  }
  if (server.type === "stdio") {
    note(context, `${path}.type`, "entry-invalid", "A server with a url is of type http or sse.");
    return undefined;
  }
  const url = expanded(`${path}.url`, server.url ?? "", false, context);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== "http:" && parsed.protocol !== "https:")) {
    if (!url.includes("${")) note(context, `${path}.url`, "entry-invalid", "It is not an http or https address.");
    return undefined;
  }
  for (const value of [parsed.password, parsed.username]) keepSecret(context, decodeURIComponent(value));
  for (const [name, value] of parsed.searchParams) if (isSecretName(name)) keepSecret(context, value);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(server.headers ?? {})) {
    headers[name] = expanded(`${path}.headers.${name}`, String(value), !PLAIN_HEADERS.has(name.toLowerCase()), context);
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[\r\n\0]/.test(headers[name] ?? "")) {
      note(context, `${path}.headers.${name}`, "entry-invalid", "It cannot be sent as a header.");
    }
  }
  return { ...common, kind: "http", disabled: false, transport: server.type === "sse" ? "sse" : "http", url, headers };
}

const PLAIN_HEADERS = new Set([
  "accept",
  "accept-language",
  "content-type",
  "user-agent",
  "origin",
  "referer",
  "mcp-protocol-version",
]);

function expanded(where: string, value: string, secret: boolean, context: EntryContext): string {
  const { text, missing, values } = expand(value, context.env, context.given);
  for (const variable of missing) {
    const isInput = /^\$\{input:/.test(variable);
    const way = isInput
      ? "STEWARD does not ask for inputs: put the value into a variable and write ${NAME}"
      : "set it where the daemon is started, or write ${NAME:-default}";
    note(context, where, "variable-missing", `${variable} has no value: ${way}. The upstream is not started.`);
  }
  // In arguments and addresses a variable is there because its value is not for everybody; in plain settings it is a path.
  if (secret || /\.(args\[\d+\]|url)$/.test(where)) for (const given of values) keepSecret(context, given);
  if (secret) {
    keepSecret(context, text);
    keepSecret(context, text.replace(/^(?:Bearer|Basic|Token)\s+/i, ""));
  }
  return text;
}

function keepSecret(context: EntryContext, value: string): void {
  if (value.length >= SECRET_CHARS_MIN) context.secrets.add(value);
}

function withTilde(path: string, env: Environment): string {
  const home = env["HOME"] ?? env["USERPROFILE"];
  return home !== undefined && /^~(?=[/\\]|$)/.test(path) ? home + path.slice(1) : path;
}

function readSettings(label: UpstreamLabel, settings: unknown, context: EntryContext): Common {
  const { policy } = context;
  const where = `steward.upstreams.${label}`;
  const checked =
    typeof settings === "object" && settings !== null && !Array.isArray(settings) ? (settings as Record<string, unknown>) : {};
  if (settings !== undefined && settings !== checked) note(context, where, "setting-invalid", "It has to be an object.");
  const ms = (name: "callTimeoutMs" | "connectTimeoutMs" | "idleStopMs"): number => {
    const value = checked[name] === undefined ? undefined : readAmount(checked[name], BOUNDS[name]);
    if (typeof value === "object")
      note(context, `${where}.${name}`, "setting-invalid", `${sentence(value.wrong)} The default stays in force.`);
    return typeof value === "number" ? value : policy[name];
  };
  for (const name of Object.keys(checked)) {
    if (!(name in upstreamSettings.shape)) note(context, `${where}.${name}`, "member-unknown", "There is no such setting.");
  }
  const forward = readForwardHeaders(checked["forwardHeaders"], where, context);
  const readOnlyTools = readNames(checked["readOnlyTools"], `${where}.readOnlyTools`, context);
  const era = checked["era"];
  if (era !== undefined && era !== "legacy" && era !== "modern")
    note(context, `${where}.era`, "setting-invalid", 'It has to be "legacy" or "modern". It is found out instead.');
  const skills = SKILL_MODES.find((mode) => mode === checked["skills"]);
  if (checked["skills"] !== undefined && skills === undefined)
    note(context, `${where}.skills`, "setting-invalid", 'It has to be "forward", "import" or "off". They are forwarded.');
  return {
    label,
    disabled: false,
    prefix: readPrefix(label, checked["prefix"], where, context),
    callTimeoutMs: Math.min(ms("callTimeoutMs"), policy.callCapMs),
    connectTimeoutMs: ms("connectTimeoutMs"),
    idleStopMs: ms("idleStopMs"),
    forwardHeaders: forward,
    ...(readOnlyTools.length === 0 ? {} : { readOnlyTools }),
    ...(era === "legacy" || era === "modern" ? { era } : {}),
    ...(skills === undefined ? {} : { skills }),
  };
}

function readNames(value: unknown, where: string, context: EntryContext): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
  note(context, where, "setting-invalid", "It has to be a list of names of tools. None is taken to only read.");
  return [];
}

function readPrefix(label: UpstreamLabel, prefix: unknown, where: string, context: EntryContext): string {
  if (prefix === undefined) return label;
  if (typeof prefix === "string" && (prefix === "" || (labelProblem(prefix) === undefined && !prefix.includes("."))))
    return prefix;
  note(
    context,
    `${where}.prefix`,
    "setting-invalid",
    "A prefix has letters, digits, hyphens and single underscores, and does not end in one. The label is used.",
  );
  return label;
}

/** Headers that belong to one connection, or that tell the upstream who the agent is by STEWARD's own credentials. */
const NEVER_FORWARDED = new Set(
  "host connection content-length content-type transfer-encoding upgrade te trailer keep-alive cookie mcp-session-id".split(" "),
);

function readForwardHeaders(value: unknown, where: string, context: EntryContext): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    note(context, `${where}.forwardHeaders`, "setting-invalid", "It has to be a list of header names. None is forwarded.");
    return [];
  }
  const names: string[] = [];
  for (const [n, name] of value.entries()) {
    const isName = typeof name === "string" && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
    if (isName && !NEVER_FORWARDED.has(name.toLowerCase())) names.push(name.toLowerCase());
    else
      note(
        context,
        `${where}.forwardHeaders[${n}]`,
        "setting-invalid",
        isName ? "This header is never forwarded." : "It is not the name of a header.",
      );
  }
  return names;
}

/** At most one empty prefix, and no prefix twice: exposed names would say too little. The later one is refused. */
function withDistinctPrefixes(
  upstreams: Map<UpstreamLabel, UpstreamConfig>,
  context: EntryContext,
): Map<UpstreamLabel, UpstreamConfig> {
  const owner = new Map<string, UpstreamLabel>();
  // Labels as prefixes go first: they are not chosen, so they cannot give way.
  for (const [label, { prefix }] of upstreams) if (prefix === label) owner.set(prefix, label);
  for (const [label, upstream] of upstreams) {
    const other = owner.get(upstream.prefix);
    if (other === undefined) owner.set(upstream.prefix, label);
    else if (other !== label) {
      const shown = upstream.prefix === "" ? "The empty prefix" : `The prefix ${upstream.prefix}`;
      note(
        context,
        `steward.upstreams.${label}.prefix`,
        "prefix-clash",
        `${shown} is that of ${other} already; ${label} keeps its label as prefix.`,
      );
      upstreams.set(label, { ...upstream, prefix: label });
    }
  }
  return upstreams;
}

function note(context: EntryContext, where: string, code: string, text: string): void {
  context.problems.push({ code, where, text });
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
}
