/**
 * Redaction: secrets leave no trace in logs, errors, reports and the call log.
 *
 * Two ways to know one: by value (what the configuration and the environment gave us) and by look (a key called `password`, a
 * text that begins like a token). Values keep their type, so that recorded arguments still have their shape.
 */
import { isJsonObject, type JsonValue } from "../model/json.js";

export const REDACTED = "[redacted]";

/** Shorter values are words like `true` or `admin`: replacing them would damage texts and hide nothing. */
export const SECRET_CHARS_MIN = 6;

/**
 * Texts that are credentials whatever they are called. The first group, where there is one, stays. Every argument of every call is
 * looked at: a pattern may begin to match only where something rare stands, or a long text costs the square of its length.
 */
const LOOKS: readonly RegExp[] = [
  /\b(Bearer\s+|Basic\s+)[A-Za-z0-9+/=._~-]{8,}/gi,
  /(?<=[a-z0-9+.-])(:\/\/)[^\s/@:]+:[^\s/@]+(?=@)/gi,
  /([?&](?:api[_-]?key|access[_-]?token|auth[_-]?token|token|key|secret|password|signature|sig)=)[^&\s#"']+/gi,
  /\b()(?:sk|pk|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{16,}/g,
  /\b()gh[pousr]_[A-Za-z0-9]{20,}/g,
  /\b()github_pat_[A-Za-z0-9_]{20,}/g,
  /\b()glpat-[A-Za-z0-9_-]{16,}/g,
  /\b()xox[abeprs]-[A-Za-z0-9-]{10,}/g,
  /\b()AKIA[0-9A-Z]{16}\b/g,
  /\b()AIza[A-Za-z0-9_-]{30,}/g,
  /(?<![A-Za-z0-9_-])()eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

/** Replaces known secret values (also where they are JSON- or URL-escaped) and what looks like a credential. */
export function redact(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of forms(secrets)) if (out.includes(secret)) out = out.replaceAll(secret, REDACTED);
  for (const look of LOOKS) out = out.replace(look, (_all, kept: string) => `${kept}${REDACTED}`);
  return out;
}

const formsOf = new WeakMap<readonly string[], readonly string[]>();

/** Every spelling of every secret, the longest first, so that no rest of one survives another. */
function forms(secrets: readonly string[]): readonly string[] {
  const known = formsOf.get(secrets);
  if (known !== undefined) return known;
  const all = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < SECRET_CHARS_MIN) continue;
    all
      .add(secret)
      .add(JSON.stringify(secret).slice(1, -1))
      .add(encodeURIComponent(secret.replace(/[\ud800-\udfff]/gu, "\ufffd")));
  }
  const sorted = [...all].sort((a, b) => b.length - a.length);
  formsOf.set(secrets, sorted);
  return sorted;
}

const SECRET_WORDS = new Set([
  ..."password passwd pwd passphrase passcode secret secrets authorization cookie cookies".split(" "),
  ..."credential credentials apikey bearer jwt otp".split(" "),
]);
/** Words beside `token` that say it is a place in a list or a count, not a credential. */
const TOKEN_ELSE = new Set(
  "page next previous prev continuation cursor sync max min count limit budget type usage resume".split(" "),
);
const KEY_KINDS = new Set("api access private secret auth signing encryption account".split(" "));

/** Does the name of a field say that its value is a secret? `page_token`, `max_tokens` and `sort_key` do not. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  if (words.some((word) => SECRET_WORDS.has(word))) return true;
  if (words.includes("token") && !words.some((word) => TOKEN_ELSE.has(word))) return true;
  if (words.some((word, at) => word === "key" && KEY_KINDS.has(words[at - 1] ?? ""))) return true;
  return /^(x?auth|authtoken|accesstoken|refreshtoken|idtoken|sessiontoken|accesskey|privatekey|secretkey|clientsecret)$/.test(
    words.join(""),
  );
}

/** Deeper than this nothing is looked at: the whole branch is taken for secret. */
const DEPTH_MAX = 200;

/** Arguments without their secrets, same types, and the JSON pointers of the leaves that were replaced. */
export function redactArgs(value: JsonValue, secrets: readonly string[] = []): { value: JsonValue; paths: string[] } {
  const paths: string[] = [];
  return { value: walk(value, "", false, 0, secrets, paths), paths };
}

function walk(
  value: JsonValue,
  at: string,
  hide: boolean,
  depth: number,
  secrets: readonly string[],
  paths: string[],
): JsonValue {
  if (depth > DEPTH_MAX) {
    paths.push(at);
    return Array.isArray(value) ? [] : isJsonObject(value) ? {} : blank(value);
  }
  if (Array.isArray(value)) return value.map((item, n) => walk(item, `${at}/${n}`, hide, depth + 1, secrets, paths));
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => {
      const pointer = `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      return [key, walk(item, pointer, hide || isSecretName(key), depth + 1, secrets, paths)];
    });
    return Object.fromEntries(entries);
  }
  if (value === null) return null;
  const clean = hide ? blank(value) : typeof value === "string" ? redact(value, secrets) : value;
  if (hide || clean !== value) paths.push(at);
  return clean;
}

function blank(value: JsonValue): JsonValue {
  return typeof value === "string" ? REDACTED : typeof value === "number" ? 0 : typeof value === "boolean" ? false : value;
}
