/**
 * The configuration as written: config/steward.json.
 *
 * Owns: the names of its members, the JSON Schema that editors complete from, the spellings of other clients that are understood.
 * Speaks: zod for the shape; nothing here decides.
 * Never: expands variables or fills in defaults (config.ts).
 */
import { z } from "zod";
import { SKILL_MODES } from "../model/upstream-skills.js";
import { BOUNDS, type Bound } from "./amounts.js";

/** Version of the `steward` section. Without a `format` it is the present one. */
export const CONFIG_FORMAT = "config/1";

const text = z.string();
const textMap = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** One entry of `mcpServers`, in the shape every client writes. */
export const writtenServer = z.looseObject({
  command: text.optional().describe("Program of a server that is spawned."),
  args: z.array(text).optional(),
  env: textMap.optional().describe("Variables on top of a safe base environment; `${VAR}` takes a value from the daemon's."),
  cwd: text.optional().describe("Working directory; relative to the home."),
  url: text.optional().describe("Address of a server that is reached over HTTP."),
  headers: textMap.optional(),
  type: z.enum(["stdio", "http", "streamable-http", "streamableHttp", "sse"]).optional(),
  disabled: z.boolean().optional().describe("Keeps the entry and does not connect."),
});
export type WrittenServer = z.infer<typeof writtenServer>;

function amountSchema(bound: Bound): z.ZodType {
  if (bound.kind === "flag") return z.boolean();
  if (bound.kind === "word") return z.enum(bound.words as [string, ...string[]]);
  if (bound.kind === "share") return z.number().min(0).max(1);
  const whole = z.int().min(bound.min).max(bound.max);
  if (bound.kind === "ms") return z.union([whole, z.string().regex(/^\d+(\.\d+)?\s*(ms|s|m|min|h|d)$/)]);
  if (bound.kind === "bytes") return z.union([whole, z.string().regex(/^\d+(\.\d+)?\s*(B|kB|KB|KiB|MB|MiB|GB|GiB)$/)]);
  return whole;
}

export const upstreamSettings = z.strictObject({
  prefix: text.optional().describe('Prefix of exposed names; default the label. "" for at most one upstream.'),
  callTimeoutMs: amountSchema(BOUNDS.callTimeoutMs).optional(),
  connectTimeoutMs: amountSchema(BOUNDS.connectTimeoutMs).optional(),
  idleStopMs: amountSchema(BOUNDS.idleStopMs).optional().describe("0 = never stop when idle."),
  forwardHeaders: z
    .array(text)
    .optional()
    .describe("Names of inbound headers that may be forwarded to this upstream. Default none."),
  readOnlyTools: z
    .array(text)
    .optional()
    .describe("Names of tools that only read, whatever they say of themselves; see `policy.probeCalls`. Default none."),
  era: z.enum(["legacy", "modern"]).optional().describe("Protocol era to speak; default: found out."),
  skills: z
    .enum(SKILL_MODES)
    .optional()
    .describe("Skills that it serves: passed on under its label (default), taken into the library as well, or neither."),
});

export const endpointSettings = z.strictObject({
  // What these may be is checked where their variables are filled in (endpoints.ts); the patterns are for editors.
  baseUrl: z
    .string()
    .meta({ pattern: "^(https?://(?![^/]*@)|.*\\$\\{)", description: "Base of an OpenAI-style API, http or https." }),
  model: z.string().meta({ pattern: "\\S", description: "The model that the endpoint serves." }),
  apiKeyEnv: z.string().optional().describe("Name of the variable that holds the key; the key itself never stands here."),
});

/** Beyond the endpoint: how long an agent waits for a model, what a maintenance run may cost, who has the last word on its edits. */
export const MANAGER_BOUNDS = {
  viewTimeoutMs: { kind: "ms", min: 200, max: 120_000 },
  maintenanceTokens: { kind: "count", min: 0, max: 100_000_000 },
} as const satisfies Readonly<Record<string, Bound>>;

const modelSettings = z.strictObject({
  kind: z.literal("llm"),
  ...endpointSettings.shape,
  viewTimeoutMs: amountSchema(MANAGER_BOUNDS.viewTimeoutMs)
    .optional()
    .describe("After this a view is decided by rules. Default 8 s."),
  maintenanceTokens: amountSchema(MANAGER_BOUNDS.maintenanceTokens)
    .optional()
    .describe("Tokens of one maintenance run, prompts and answers together. Default 200,000."),
  applyChecked: z
    .boolean()
    .optional()
    .describe("Apply edits of the model that could be checked wholly; default false: each is shown to a person first."),
});

export const stewardSection = z.strictObject({
  format: z.literal(CONFIG_FORMAT).optional(),
  policy: z
    .strictObject(Object.fromEntries(Object.entries(BOUNDS).map(([name, bound]) => [name, amountSchema(bound).optional()])))
    .optional()
    .describe("Overrides of defaults, by name. Durations and sizes are numbers in the unit of the name, or texts with a unit."),
  exposure: z.strictObject({ maxNameLength: amountSchema(BOUNDS.maxNameLength).optional() }).optional(),
  maintain: z
    .strictObject({
      auto: z.boolean().optional().describe("Run maintenance by itself after a settled version. Default false."),
      everyMs: amountSchema(BOUNDS.maintainEveryMs)
        .optional()
        .describe("Run maintenance by itself this often, so that new evidence is learnt from. 0 = never."),
      planning: z.enum(["revised", "frozen"]).optional().describe("`frozen`: planning skills stay as they were extracted."),
    })
    .optional(),
  evidence: z.strictObject({ keep: z.enum(["shape", "full"]).optional() }).optional(),
  http: z
    .strictObject({
      host: text.optional(),
      port: z.int().min(0).max(65_535).optional(),
      allowedHosts: z.array(text).optional().describe("Host names that requests may come in under, beside loopback."),
      allowedOrigins: z.array(text).optional().describe("Origins of web pages that may ask."),
    })
    .optional(),
  manager: z.discriminatedUnion("kind", [z.strictObject({ kind: z.literal("rules") }), modelSettings]).optional(),
  embeddings: endpointSettings.extend({ dimensions: z.int().min(1).max(65_536).optional() }).optional(),
  upstreams: z.record(z.string(), upstreamSettings).optional().describe("Settings by label of an entry in mcpServers."),
});

export const writtenConfig = z.looseObject({
  $schema: text.optional(),
  mcpServers: z.record(z.string(), writtenServer).optional().describe("The servers behind STEWARD, by label."),
  servers: z.record(z.string(), writtenServer).optional().describe("The same, as VS Code calls it."),
  steward: stewardSection.optional(),
});

/** Members that other clients write into an entry and that mean nothing here. Filters of tools are not among them: those are missed. */
export const FOREIGN_MEMBERS: ReadonlySet<string> = new Set(
  (
    "alwaysAllow autoApprove autoApproved trust gallery version dev sandbox description name id icon timeout timeoutMs " +
    "networkTimeout startup_timeout_sec tool_timeout_sec fromGalleryId transportType transport enabled httpUrl serverUrl"
  ).split(" "),
);

/** An entry with other clients' spellings brought to ours. */
export function ownSpelling(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const out: Record<string, unknown> = { ...entry };
  const alias = (from: string, to: string): void => {
    if (out[to] === undefined && out[from] !== undefined) out[to] = out[from];
  };
  alias("httpUrl", "url");
  alias("serverUrl", "url");
  alias("transportType", "type");
  if (typeof out["transport"] === "string") alias("transport", "type");
  if (out["enabled"] === false && out["disabled"] === undefined) out["disabled"] = true;
  return out;
}
