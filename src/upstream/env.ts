/**
 * The environment of a spawned upstream.
 *
 * Owns: which variables of the daemon a child may see: what programs need to start and to reach the net, nothing else.
 * Speaks: plain records; both spellings of proxy variables, any case on Windows.
 * Never: the whole daemon environment: it holds other upstreams' and the manager's secrets.
 */
const POSIX = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "TZ", "TMPDIR"];
const POSIX_PREFIXES = ["LC_", "XDG_"];
const WINDOWS = [
  "ALLUSERSPROFILE",
  "APPDATA",
  "COMMONPROGRAMFILES",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "NUMBER_OF_PROCESSORS",
  "OS",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMW6432",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];
/** How the net is reached: proxies and the certificates that a company's proxy needs. */
const NETWORK = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
];

/** Safe defaults and network variables of `base`, with the configured ones on top. */
export function childEnv(
  base: Readonly<Record<string, string | undefined>>,
  configured: Readonly<Record<string, string>>,
  platform: NodeJS.Platform,
): Record<string, string> {
  const windows = platform === "win32";
  const allowed = new Set([...(windows ? WINDOWS : POSIX), ...NETWORK]);
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined) continue;
    // Exported shell functions are code.
    if (value.startsWith("()")) continue;
    const upper = name.toUpperCase();
    const network = NETWORK.includes(upper);
    const named = allowed.has(windows || network ? upper : name);
    const prefixed = !windows && POSIX_PREFIXES.some((prefix) => name.startsWith(prefix));
    if (named || prefixed) env[name] = value;
  }
  for (const [name, value] of Object.entries(configured)) {
    if (windows) for (const present of Object.keys(env)) if (present.toUpperCase() === name.toUpperCase()) delete env[present];
    env[name] = value;
  }
  return env;
}

/** Value of a variable whatever its case on Windows. */
export function envValue(env: Readonly<Record<string, string>>, name: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== "win32") return env[name];
  const key = Object.keys(env).find((present) => present.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}
