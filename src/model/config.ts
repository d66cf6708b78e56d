/**
 * Configuration as relied on: cloned, validated, frozen.
 *
 * Owns: what the rest of the house may ask of the configuration.
 * Speaks: labels, commands, URLs, policy.
 * Never: the file's syntax (config/written.ts).
 */
import type { UpstreamLabel } from "./ids.js";
import type { Policy } from "./policy.js";
import type { Problem } from "./problem.js";
import type { SkillMode } from "./upstream-skills.js";

export type UpstreamConfig = StdioUpstream | HttpUpstream;
interface UpstreamCommon {
  readonly label: UpstreamLabel;
  readonly disabled: boolean;
  /** Prefix of exposed names; default the label. */
  readonly prefix: string;
  readonly callTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** 0 = never stop when idle. */
  readonly idleStopMs: number;
  /** Names of tools that only read, whatever they say of themselves: maintenance may call them to try takeovers. */
  readonly readOnlyTools?: readonly string[] | undefined;
  /** Protocol era to speak; default: found out, and legacy where the upstream speaks both. */
  readonly era?: "legacy" | "modern" | undefined;
  /** What becomes of skills that it serves; default `forward`. */
  readonly skills?: SkillMode | undefined;
}
export interface StdioUpstream extends UpstreamCommon {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Configured variables only; the safe defaults are added at spawn. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}
export interface HttpUpstream extends UpstreamCommon {
  readonly kind: "http";
  /** `http` tries Streamable HTTP; `sse` is the old HTTP+SSE transport. */
  readonly transport: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Names of inbound headers that may be forwarded to this upstream. Default none. */
  readonly forwardHeaders: readonly string[];
}

export interface Config {
  readonly upstreams: ReadonlyMap<UpstreamLabel, UpstreamConfig>;
  readonly policy: Policy;
  readonly http: {
    readonly host: string;
    readonly port: number;
    readonly allowedHosts: readonly string[];
    readonly allowedOrigins: readonly string[];
  };
  readonly manager:
    | { readonly kind: "rules" }
    | {
        readonly kind: "llm";
        readonly baseUrl: string;
        readonly model: string;
        readonly apiKeyEnv: string;
        /** After this a view is decided by rules. */
        readonly viewTimeoutMs?: number;
        /** Tokens of one maintenance run. */
        readonly maintenanceTokens?: number;
        /** Apply edits of the model that could be checked wholly. */
        readonly applyChecked?: boolean;
      };
  /** `refused`: where the problem of a section is that cannot be in force; not the same as no section. */
  readonly embeddings:
    | { readonly baseUrl: string; readonly model: string; readonly apiKeyEnv: string; readonly dimensions?: number }
    | { readonly refused: string }
    | undefined;
  /** Secret values to redact wherever they would be printed (from env and headers). */
  readonly secrets: readonly string[];
  readonly problems: readonly Problem[];
}
