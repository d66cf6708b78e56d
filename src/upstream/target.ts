/** What a configured upstream is connected to, and which of its settings may be secret. */
import { isSecretName } from "../host/redact.js";
import type { UpstreamConfig } from "../model/config.js";

/** What is connected to, whatever it is called. */
export function targetOf(config: UpstreamConfig): string {
  return config.kind === "stdio"
    ? JSON.stringify([config.command, config.args, config.cwd ?? null])
    : JSON.stringify([config.transport, config.url]);
}

/** The configured headers, to be compared: what is connected to stays the same whatever they are. */
export function headersIn(config: UpstreamConfig): string {
  return config.kind === "http" ? JSON.stringify(config.headers) : "";
}

/** Values that may be secret: every configured header, and variables whose names say so. */
export function secretsOf(config: UpstreamConfig): readonly string[] {
  if (config.kind === "http") return Object.values(config.headers).flatMap((value) => [value, value.replace(/^\S+\s+/, "")]);
  return Object.entries(config.env).flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
}
