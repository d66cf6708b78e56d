/**
 * The environment of spawned upstreams: enough to start and reach the network, never the daemon's own secrets.
 */

/** What a program needs to find itself, its user, its language and the network. */
const POSIX = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE", "XDG_CONFIG_HOME"];
const POSIX_ALSO = ["XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "NVM_DIR", "VOLTA_HOME"];
const WINDOWS = [
  ..."PATH PATHEXT COMSPEC SYSTEMROOT SYSTEMDRIVE WINDIR TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH".split(" "),
  ..."APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES".split(" "),
  ..."PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS OS PSMODULEPATH PUBLIC ALLUSERSPROFILE".split(" "),
];
/** Proxies, certificates and package runners; both spellings of the proxy variables are in use. */
const NETWORK = [
  ..."HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy".split(" "),
  ..."NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE".split(" "),
  ..."npm_config_registry npm_config_cache npm_config_userconfig UV_INDEX_URL PIP_INDEX_URL DOCKER_HOST".split(" "),
];

export type Environment = Readonly<Record<string, string | undefined>>;

/** The allowed part of an environment. Names compare without case on Windows; exported shell functions are left out. */
export function baseEnv(env: Environment, platform: NodeJS.Platform = process.platform): Record<string, string> {
  const fold = (name: string): string => (platform === "win32" ? name.toUpperCase() : name);
  const allowed = new Set([...(platform === "win32" ? WINDOWS : [...POSIX, ...POSIX_ALSO]), ...NETWORK].map(fold));
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value.startsWith("()")) continue;
    if (allowed.has(fold(name)) || (platform !== "win32" && name.startsWith("LC_"))) out[name] = value;
  }
  return out;
}

/** Safe defaults with the configured variables over them: a configured `Path` replaces `PATH` on Windows, and only there. */
export function childEnv(
  env: Environment,
  configured: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const out = baseEnv(env, platform);
  for (const [name, value] of Object.entries(configured)) {
    if (platform === "win32") {
      for (const known of Object.keys(out)) if (known.toUpperCase() === name.toUpperCase()) delete out[known];
    }
    out[name] = value;
  }
  return out;
}
