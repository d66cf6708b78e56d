/**
 * One complete reading of the skills that an upstream serves, or none at all.
 *
 * Owns: following the pages to their end, fetching files, checking them against their digests, the caps on all of it.
 * Speaks: a session in; served folders and refusals out.
 * Never: a half list (a failing page fails all); files whose digests are known already.
 */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { JsonValue } from "../../model/json.js";
import { SKILL_LIMITS, UPSTREAM_LIMITS } from "../../model/policy.js";
import type { RefusedSkill, ServedFolder } from "../../model/upstream-skills.js";
import { Refusal } from "../../model/fault.js";
import { folderDigest } from "../../skills/digest.js";
import { safePath } from "../../skills/text.js";
import { textOf, type Session } from "../session.js";
import { readBytes, readEntry, readSkillsPage, servesSkills, SKILLS_METHOD, type ListedSkill } from "./translate.js";

export interface SkillsReading {
  readonly found: readonly ServedFolder[];
  readonly refused: readonly RefusedSkill[];
}
export interface SkillsReadingOptions {
  readonly timeoutMs: number;
  readonly elapsedMs: () => number;
  /** Digest over the files that were taken from this URI last. */
  readonly known: (uri: string) => string | undefined;
}

/** Rejects with Refusal, Unanswered, or an Error that says what the upstream did wrong. Upstreams without skills have none. */
export async function readServedSkills(session: Session, options: SkillsReadingOptions): Promise<SkillsReading> {
  if (!servesSkills(session.greeting.capabilities)) return { found: [], refused: [] };
  const deadlineMs = options.elapsedMs() + UPSTREAM_LIMITS.listMs;
  const ask: Ask = (method, params) => {
    const leftMs = Math.min(options.timeoutMs, deadlineMs - options.elapsedMs());
    if (leftMs <= 0) throw new Error(`its skills were not read within ${UPSTREAM_LIMITS.listMs} ms`);
    return session.request({ method, params, timeoutMs: leftMs, capMs: leftMs, internal: true });
  };
  const found: ServedFolder[] = [];
  const refused: RefusedSkill[] = [];
  const budget = { bytes: UPSTREAM_LIMITS.skillBytes };
  for (const entry of await listEntries(ask)) {
    const listed = readEntry(entry);
    if ("wrong" in listed) refused.push({ uri: listed.uri, ...listed.wrong });
    else {
      const read = await readFolder(ask, listed, options.known(listed.uri), budget);
      if ("source" in read) found.push(read);
      else refused.push(read);
    }
  }
  return { found, refused };
}

type Ask = (method: string, params: Record<string, string>) => ReturnType<Session["request"]>;

async function listEntries(ask: Ask): Promise<JsonValue[]> {
  const entries: JsonValue[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; page <= UPSTREAM_LIMITS.listPages; page += 1) {
    const read = readSkillsPage(await ask(SKILLS_METHOD.list, cursor === undefined ? {} : { cursor }));
    if (read.entries === undefined) throw new Error(`page ${page} of its skills has no list`);
    entries.push(...read.entries);
    if (entries.length > UPSTREAM_LIMITS.skills) throw new Error(`it lists more than ${UPSTREAM_LIMITS.skills} skills`);
    if (read.next === undefined) return entries;
    if (seen.has(read.next)) throw new Error(`its list of skills goes in a circle: page ${page} repeats a cursor`);
    seen.add(read.next);
    cursor = read.next;
  }
  throw new Error(`its list of skills did not end after ${UPSTREAM_LIMITS.listPages} pages`);
}

/** One skill: all its files as their digests say, or the reason why not. */
async function readFolder(
  ask: Ask,
  { uri, folder, files }: ListedSkill,
  known: string | undefined,
  budget: { bytes: number },
): Promise<ServedFolder | RefusedSkill> {
  const refuse = (code: string, text: string): RefusedSkill => ({ uri, code, text });
  if (files.length > SKILL_LIMITS.filesPerSkill)
    return refuse("too-many-files", `It has ${files.length} files; at most ${SKILL_LIMITS.filesPerSkill} are taken.`);
  const unsafe = files.find(({ path }) => !safePath(path));
  if (unsafe !== undefined) return refuse("path-unsafe", `${JSON.stringify(unsafe.path)} is not confined to the skill.`);
  const declared = files.reduce((sum, { size }) => sum + (size ?? 0), 0);
  if (declared > SKILL_LIMITS.folderBytes)
    return refuse("skill-too-large", `It has ${declared} bytes; at most ${SKILL_LIMITS.folderBytes} are taken.`);
  const source = folderDigest(Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256])));
  if (source === known) return { uri, source, problems: [] };

  const texts: Record<string, string> = {};
  const problems: RefusedSkill[] = [];
  let bytes = 0;
  for (const file of files) {
    let content: Buffer | undefined;
    try {
      content = readBytes(await ask(SKILLS_METHOD.read, { uri: file.uri }), file.uri);
    } catch (error) {
      // The upstream said no to one file; a lost connection fails the whole reading.
      if (!(error instanceof Refusal)) throw error;
      return refuse("skill-file-unread", `${file.path} is listed and cannot be read: ${textOf(error)}`);
    }
    if (content === undefined) return refuse("skill-file-unread", `${file.path} is listed and came without contents.`);
    bytes += content.length;
    budget.bytes -= content.length;
    if (bytes > SKILL_LIMITS.folderBytes || budget.bytes < 0)
      return refuse("skill-too-large", `It has more bytes than are taken of one skill, or of one upstream's skills together.`);
    const digest = createHash("sha256").update(content).digest("hex");
    if (digest !== file.sha256)
      return refuse(
        "skill-digest-mismatch",
        `${file.path} is not the file that its digest names: ${digest} came, ${file.sha256} was listed.`,
      );
    if (isUtf8(content)) texts[file.path] = content.toString("utf8");
    else problems.push({ uri, code: "skill-file-binary", text: `${file.path} is left out: it is not UTF-8 text.` });
  }
  return { uri, source, written: { folder, files: texts }, problems };
}
