/**
 * The Skills extension as upstreams spell it: pages of entries, an entry's files, the contents of one.
 *
 * Owns: its method and member names, and how far a sloppy entry is still understood.
 * Speaks: results of an upstream in; entries with decoded, not yet trusted paths out.
 * Never: asks for anything (read.ts), decides what is taken.
 */
import { isJsonObject } from "../../model/json.js";
import type { JsonObject, JsonValue } from "../../model/json.js";

export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";
export const SKILLS_METHOD = Object.freeze({ list: "skills/list", read: "resources/read" });

const SKILL_FILE = "SKILL.md";

export interface ListedFile {
  readonly uri: string;
  /** Below the skill's folder, decoded. */
  readonly path: string;
  /** Hex, lower case. */
  readonly sha256: string;
  readonly size: number | undefined;
}
export interface ListedSkill {
  readonly uri: string;
  /** The skill's folder name, decoded. */
  readonly folder: string;
  readonly files: readonly ListedFile[];
}
export type ListedEntry =
  ListedSkill | { readonly uri: string; readonly wrong: { readonly code: string; readonly text: string } };

/** Does an upstream say that it serves skills? As an extension, or (older drafts) as a capability of its own. */
export function servesSkills(capabilities: JsonObject): boolean {
  const extensions = capabilities["extensions"];
  return isJsonObject(capabilities[SKILLS_EXTENSION]) || (isJsonObject(extensions) && isJsonObject(extensions[SKILLS_EXTENSION]));
}

export function readSkillsPage(result: JsonObject): { entries: readonly JsonValue[] | undefined; next: string | undefined } {
  const cursor = result["nextCursor"];
  return {
    entries: Array.isArray(result["skills"]) ? result["skills"] : undefined,
    next: typeof cursor === "string" && cursor !== "" ? cursor : undefined,
  };
}

/** One entry of a list. Never throws; what keeps it from being taken is said beside its URI. */
export function readEntry(entry: JsonValue): ListedEntry {
  const uri = isJsonObject(entry) && typeof entry["uri"] === "string" ? entry["uri"] : "";
  const wrong = (code: string, text: string): ListedEntry => ({ uri, wrong: { code, text } });
  if (!isJsonObject(entry) || uri === "") return wrong("skill-without-uri", "An entry of its list of skills has no URI.");
  if (!uri.endsWith(`/${SKILL_FILE}`)) return wrong("skill-uri", "Its URI does not end in /SKILL.md.");
  const root = uri.slice(0, -SKILL_FILE.length);
  const folder = decoded(root.split("/").at(-2) ?? "");
  if (folder === undefined || folder === "") return wrong("skill-uri", "Its URI names no folder.");
  const resources = entry["resources"];
  if (resources === "dynamic")
    return wrong(
      "skill-dynamic",
      "Its files are made when they are asked for, so no digest can vouch for them; it is passed on.",
    );
  if (!Array.isArray(resources)) return wrong("skill-files-unlisted", "It does not say which files it has.");
  const files: ListedFile[] = [];
  for (const file of resources) {
    const read = readFile(file, root);
    if (typeof read === "string") return wrong("skill-file-invalid", read);
    if (files.some((other) => other.path === read.path)) return wrong("skill-file-twice", `${read.path} is listed twice.`);
    files.push(read);
  }
  if (!files.some((file) => file.path === SKILL_FILE)) return wrong("skill-file-missing", "SKILL.md is not among its files.");
  return { uri, folder, files };
}

function readFile(file: JsonValue, root: string): ListedFile | string {
  if (!isJsonObject(file) || typeof file["uri"] !== "string") return "One of its files has no URI.";
  const { uri, digest, size } = file;
  const below = uri.startsWith(root) && !/[?#]/.test(uri) ? uri.slice(root.length).split("/").map(decoded) : [];
  if (below.length === 0 || below.some((part) => part === undefined || part.includes("/")))
    return `${uri} is no file of its folder.`;
  const hex = typeof digest === "string" ? /^sha256:([0-9a-f]{64})$/i.exec(digest.trim())?.[1] : undefined;
  if (hex === undefined) return `${uri} has no sha256 digest, so its bytes cannot be checked.`;
  return {
    uri,
    path: below.join("/"),
    sha256: hex.toLowerCase(),
    size: typeof size === "number" && size >= 0 ? size : undefined,
  };
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The bytes of the resource that was asked for; undefined where the answer has none. */
export function readBytes(result: JsonObject, uri: string): Buffer | undefined {
  const contents = Array.isArray(result["contents"]) ? result["contents"].filter(isJsonObject) : [];
  const part = contents.find((one) => one["uri"] === uri) ?? (contents.length === 1 ? contents[0] : undefined);
  if (typeof part?.["text"] === "string") return Buffer.from(part["text"], "utf8");
  if (typeof part?.["blob"] === "string") return Buffer.from(part["blob"], "base64");
  return undefined;
}
