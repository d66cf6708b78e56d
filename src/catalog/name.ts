/**
 * Names: what a label may be, and what an agent sees a tool called.
 *
 * Owns: exposed names, the rule for labels, labels for servers of foreign catalog files.
 * Speaks: tool keys, prefixes.
 * Never: depends on other tools or on the order of connecting, so a name cannot be moved by either.
 */
import { splitToolKey, type ExposedName, type ToolKey, type UpstreamLabel } from "../model/ids.js";
import type { Problem } from "../model/problem.js";
import { sha256 } from "./canonical.js";
import { escapeText } from "./clean.js";

const SAFE_NAME = /^[a-zA-Z0-9_-]+$/;
const UNSAFE_CHARACTER = /[^a-zA-Z0-9_-]/gu;
const LABEL = /^[A-Za-z0-9._-]{1,32}$/;
const LABEL_LENGTH = 32;
const HASH_DIGITS = 8;

/**
 * `prefix__name` (or `name` without a prefix) where that is safe and short enough: since prefixes have no `__` and do not end in `_`,
 * that form is injective. Else unsafe characters become `_`, the rest is cut, and a hash of the tool key tells names apart.
 * `maxLength` counts characters and is at least 10.
 */
export function exposedName(key: ToolKey, prefix: string, maxLength: number): ExposedName {
  const { name } = splitToolKey(key);
  const plain = prefix === "" ? name : `${prefix}__${name}`;
  if (SAFE_NAME.test(plain) && plain.length <= maxLength) return plain as ExposedName;
  const safe = plain.replace(UNSAFE_CHARACTER, "_");
  return `${safe.slice(0, Math.max(1, maxLength - HASH_DIGITS - 1))}_${hash(key)}` as ExposedName;
}

/** Tools whose exposed names are equal: a hash clash, or a name written to look like one. The later of each pair is named. */
export function nameClashes(names: Iterable<readonly [ToolKey, ExposedName]>): Problem[] {
  const first = new Map<ExposedName, ToolKey>();
  const problems: Problem[] = [];
  for (const [key, name] of names) {
    const other = first.get(name);
    if (other === undefined) first.set(name, key);
    else if (other !== key)
      problems.push({
        code: "exposed-name-clash",
        where: key,
        text: `It would be exposed as ${name}, as ${other} already is; give its upstream another prefix.`,
      });
  }
  return problems;
}

/** What is wrong with a label, with a suggestion that is not. */
export function labelProblem(label: string): Problem | undefined {
  const wrong = labelFault(label);
  if (wrong === undefined) return undefined;
  return {
    code: "label-invalid",
    where: escapeText(label),
    text: `"${escapeText(label)}" cannot be a label: ${wrong}. Use "${suggestLabel(label)}".`,
  };
}

function labelFault(label: string): string | undefined {
  if (label === "") return "it is empty";
  if (label.length > LABEL_LENGTH) return `it is longer than ${LABEL_LENGTH} characters`;
  if (!LABEL.test(label)) return "only letters, digits, dot, underscore and hyphen are allowed";
  if (/^\.+$/.test(label)) return "it consists of dots, which mean a place in a path";
  if (label.includes("__")) return "it has two underscores in a row";
  if (label.endsWith("_")) return "it ends in an underscore";
  return undefined;
}

/** The nearest label; always valid. Not unique: two wrong labels may get the same suggestion. */
export function suggestLabel(label: string): string {
  const safe = safeLabel(label);
  return labelFault(safe) === undefined ? safe : hashedLabel(safe, label);
}

/** The label that stands for a server of a catalog file. A name that had to be changed and collides gets a hash of its original. */
export function foreignLabel(server: string, taken: ReadonlySet<string>): UpstreamLabel {
  const safe = safeLabel(server);
  const label = labelFault(safe) === undefined && (safe === server || !taken.has(safe)) ? safe : hashedLabel(safe, server);
  return label as UpstreamLabel;
}

function safeLabel(text: string): string {
  return Array.from(text, (character) => (/^[A-Za-z0-9._-]$/.test(character) ? character : "_"))
    .join("")
    .replace(/_+/g, "_")
    .replace(/^_|_$/g, "");
}

function hashedLabel(safe: string, original: string): string {
  const head = safe.slice(0, LABEL_LENGTH - HASH_DIGITS - 1);
  return `${/^\.*$/.test(head) ? "server" : head}-${hash(original)}`;
}

function hash(text: string): string {
  return sha256(text).slice(0, HASH_DIGITS);
}
