/**
 * Entries of the Skills extension: what stands in a list for one skill.
 *
 * Owns: the entry of an own skill, the entry of an upstream's skill under its label, what makes an entry unfit for a list.
 * Speaks: ServedSkill and entries as upstreams wrote them in; entries out. Only URIs are rewritten, never bytes or digests.
 * Never: which skills there are (skills.ts).
 */
import { isJsonObject } from "../../model/json.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import type { ServedSkill } from "../../model/operations.js";
import { SKILL_LIMITS } from "../../model/policy.js";
import { qualifyUri } from "./qualify.js";
import { SKILLS } from "./translate.js";

/** Own skills stand here; those of upstreams under `skill://upstream/<label>/`. */
const LIBRARY = "skill://library/";

/** URI of a file, or of the skill's folder where there is no path. */
export function ownUri(skill: string, path = ""): string {
  const segments = path === "" ? [] : path.split("/");
  return `${LIBRARY}${[skill, ...segments].map(encodeURIComponent).join("/")}`;
}

/** Inverse of ownUri; undefined for any other URI. */
export function splitOwnUri(uri: string): { readonly skill: string; readonly path: string } | undefined {
  if (!uri.startsWith(LIBRARY)) return undefined;
  try {
    const [skill = "", ...path] = uri.slice(LIBRARY.length).split("/").map(decodeURIComponent);
    return skill === "" ? undefined : { skill, path: path.join("/") };
  } catch {
    // A percent sign that begins nothing.
    return undefined;
  }
}

export function ownEntry(skill: ServedSkill): JsonObject {
  return {
    uri: ownUri(skill.name, SKILLS.file),
    frontmatter: skill.frontMatter,
    resources: skill.files.map(({ path, digest, size }) => ({
      uri: ownUri(skill.name, path),
      digest: `${SKILLS.digest}${digest}`,
      size,
    })),
  };
}

/** An upstream's entry under its label; undefined where it has no URI. */
export function qualifyEntry(entry: JsonObject, label: string, prefix: string | undefined): JsonObject | undefined {
  const { uri, resources } = entry;
  if (typeof uri !== "string") return undefined;
  const moved = (file: JsonValue): JsonValue =>
    isJsonObject(file) && typeof file["uri"] === "string" ? { ...file, uri: qualifyUri(label, prefix, file["uri"]) } : file;
  return {
    ...entry,
    uri: qualifyUri(label, prefix, uri),
    ...(Array.isArray(resources) ? { resources: resources.map(moved) } : {}),
  };
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Why strict readers would refuse this entry, and the whole list with it; undefined where they would not. */
export function entryProblem(entry: JsonObject): string | undefined {
  const { uri, frontmatter, resources } = entry;
  if (typeof uri !== "string" || !uri.endsWith(`/${SKILLS.file}`)) return "its URI does not end in /SKILL.md";
  const root = uri.slice(0, -SKILLS.file.length);
  if (!isJsonObject(frontmatter)) return "it has no frontmatter";
  const { name, description, compatibility, metadata } = frontmatter;
  if (typeof name !== "string" || !NAME.test(name) || name.length > SKILL_LIMITS.nameChars)
    return "its name breaks the name rules";
  if (root.split("/").at(-2) !== name) return `its name ${name} is not the folder of its URI`;
  if (!isText(description, SKILL_LIMITS.descriptionChars)) return "its description is missing or too long";
  if (compatibility !== undefined && !isText(compatibility, SKILL_LIMITS.compatibilityChars))
    return "its compatibility is no text";
  const flat = isJsonObject(metadata) && Object.values(metadata).every((value) => typeof value === "string");
  if (metadata !== undefined && !flat) return "its metadata is not a map from texts to texts";
  return resources === "dynamic" ? undefined : filesProblem(resources, uri, root);
}

function filesProblem(resources: JsonValue | undefined, uri: string, root: string): string | undefined {
  if (!Array.isArray(resources)) return "it does not say which files it has";
  const seen = new Set<string>();
  for (const file of resources) {
    if (!isJsonObject(file) || typeof file["uri"] !== "string") return "one of its files has no URI";
    const { uri: own, digest, size } = file;
    if (!own.startsWith(root) || own.slice(root.length).split("/").some(isNoName) || /[?#]/.test(own))
      return `${own} is not a file in its folder`;
    if (seen.has(own)) return `${own} is listed twice`;
    if (typeof digest !== "string" || !DIGEST.test(digest)) return `${own} has no sha256 digest`;
    if (typeof size !== "number" || !Number.isInteger(size) || size < 0) return `${own} has no size`;
    seen.add(own);
  }
  return seen.has(uri) ? undefined : "its SKILL.md is not among its files";
}

const isNoName = (segment: string): boolean => ["", ".", "..", "%2e", "%2e%2e"].includes(segment.toLowerCase());
const isText = (value: JsonValue | undefined, most: number): boolean =>
  typeof value === "string" && value !== "" && Array.from(value).length <= most;
