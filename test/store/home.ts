/** Homes for tests of the store: builders of changes that read like what happened, and a plain form of what is on disc. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson, sha256 } from "../../src/catalog/canonical.js";
import type { CatalogManifest } from "../../src/model/catalog.js";
import type { Change } from "../../src/model/change.js";
import type { CallLine, Episode, Evidence } from "../../src/model/episode.js";
import type { SkillName, ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import type { MaintenanceReport } from "../../src/model/maintenance.js";
import type { Ground } from "../../src/model/ports.js";
import type { LibraryRevisionRecord, Lock, LockEntry } from "../../src/model/skill.js";
import type { Standing } from "../../src/model/standing.js";
import type { ListedTool } from "../../src/model/tool.js";
import type { ViewRecord } from "../../src/model/view.js";
import { silentLog } from "../../src/host/log.js";
import { emptyLibrary, planRevision } from "../../src/skills/library.js";
import { renderSkill } from "../../src/skills/text.js";
import { openStore, type HomeStore, type StoreOptions } from "../../src/store/store.js";

export const NOW = "2026-11-30T12:00:00.000Z";
const made: string[] = [];

/** In memory where the system offers that: these tests are about what is written when, not about how fast a disc is. */
export const TEMP = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export function tempHome(): string {
  const home = mkdtempSync(join(TEMP, "steward-home-"));
  made.push(home);
  return home;
}

export function copyOf(home: string): string {
  const copy = tempHome();
  cpSync(home, copy, { recursive: true });
  return copy;
}

/** To be called after each test. */
export function removeHomes(): void {
  for (const home of made.splice(0)) rmSync(home, { recursive: true, force: true });
}

export function open(home: string, options: Partial<StoreOptions> = {}): Promise<HomeStore> {
  return openStore({ home, now: NOW, log: silentLog, ...options });
}

/** The process that worked on the home is gone: in a test it was this very process, so its claims have to go by hand. */
export function ownerDied(home: string): void {
  rmSync(join(home, "state/lock.claims"), { recursive: true, force: true });
  rmSync(join(home, "state/lock"), { force: true });
}

/** Every file of a home with its bytes, locks and caches apart. */
export function filesIn(home: string, below = ""): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(join(home, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (/^state\/(lock|cache)/.test(path)) continue;
    if (entry.isDirectory()) Object.assign(files, filesIn(home, path));
    else files[path] = readFileSync(join(home, path), "utf8");
  }
  return files;
}

export function has(home: string, path: string): boolean {
  return existsSync(join(home, path));
}

/** The ground state as plain data, without what was said about it. */
export function plain(ground: Ground): unknown {
  return JSON.parse(
    JSON.stringify({ ...ground, problems: undefined }, (_key, value: unknown) =>
      value instanceof Map ? Object.fromEntries([...value].sort()) : value,
    ),
  ) as unknown;
}

export function tool(name: string, more: object = {}): ListedTool {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { z: {}, a: { type: "string" } } },
    ...more,
  } as ListedTool;
}

export function documentDigest(listed: ListedTool): string {
  return sha256(canonicalJson(listed));
}

export function digestsOf(listed: ListedTool): { contract: string; text: string; document: string } {
  return {
    contract: sha256(`contract ${JSON.stringify(listed["inputSchema"])}`),
    text: sha256(`text ${String(listed["description"])}`),
    document: documentDigest(listed),
  };
}

export function catalog(
  version: number,
  tools: Record<string, ListedTool>,
  departed: CatalogManifest["departed"] = {},
): Change & { kind: "catalog-version" } {
  const entries = Object.entries(tools).sort();
  return {
    kind: "catalog-version",
    manifest: {
      format: "catalog-manifest/1",
      version,
      time: NOW,
      cause: "listing of shop (sync)",
      digest: sha256(entries.map(([key, listed]) => key + documentDigest(listed)).join()),
      tools: Object.fromEntries(entries.map(([key, listed]) => [key, digestsOf(listed)])),
      departed,
    },
    documents: new Map(entries.map(([, listed]) => [documentDigest(listed), listed])),
    moved: [],
    removed: [] as ToolKey[],
  };
}

export type SkillTexts = Record<string, string>;

/** One library revision upon a lock: skills written (all their files) and skills removed. */
export function revision(
  lock: Lock | undefined,
  written: Record<string, SkillTexts>,
  removed: readonly string[] = [],
  verified: LockEntry["verified"] = {},
): Change & { kind: "library-revision" } {
  const number = (lock?.revision ?? 0) + 1;
  const skills: Record<string, LockEntry> = { ...lock?.skills };
  const objects = new Map<string, string>();
  for (const [name, files] of Object.entries(written)) {
    for (const text of Object.values(files)) objects.set(sha256(text), text);
    const digests = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, sha256(text) as string]));
    skills[name] = { tier: "atomic", revision: number, provenance: "rules", files: digests, verified };
  }
  for (const name of removed) delete skills[name];
  const record: LibraryRevisionRecord = {
    format: "library-revision/1",
    revision: number,
    time: NOW,
    cause: "test",
    catalogVersion: 1,
    edits: [],
    skills: Object.fromEntries(Object.entries(skills).map(([name, entry]) => [name, entry.files])),
    lock: { format: "steward-lock/1", revision: number, skills },
  };
  return {
    kind: "library-revision",
    record,
    objects,
    written: new Map(Object.entries(written)) as unknown as ReadonlyMap<SkillName, SkillTexts>,
    removed: removed as readonly SkillName[],
  };
}

export function skillText(name: string, body: string): SkillTexts {
  return {
    "SKILL.md": `---\nname: "${name}"\ndescription: "About ${name}"\n---\n\n${body}\n`,
    "references/contract.json": `${JSON.stringify({ format: "contract/1", requires: [], uses: [], produces: [body], evidence: [] }, null, 2)}\n`,
  };
}

export function standings(set: Record<string, "active" | "inactive">): Change {
  const entries = Object.entries(set).map(([name, standing]): [SkillName, Standing] => [
    name as SkillName,
    { standing, needsReview: false, reasons: [], since: NOW },
  ]);
  return { kind: "standings", set: new Map(entries), drop: [] };
}

export function presence(label: string, state: "up" | "away", reason?: string): Change {
  return { kind: "presence", label: label as UpstreamLabel, presence: { state, since: NOW, reason } };
}

/** Holds on the tool `get`, whatever the key says: definitions that holds refer to have to be there. */
export function holds(held: Record<string, string>): Change {
  const digests = digestsOf(tool("get"));
  const entries = Object.entries(held).map(([key, why]) => [
    key,
    { since: NOW, from: digests, to: digests, reasons: [{ rule: "A1", text: why }] },
  ]);
  return { kind: "holds", holds: { format: "holds/1", held: Object.fromEntries(entries), approved: {}, review: {} } };
}

export function lineage(id: string, more: object = {}): Change {
  return {
    kind: "lineage",
    links: [
      {
        id,
        kind: "renamed",
        from: "shop/a",
        to: ["shop/b"],
        atVersion: 2,
        level: "certain",
        params: {},
        fixedArguments: {},
        score: 1,
        evidence: [],
        ...more,
      },
    ],
  };
}

export function episode(id: string, more: Partial<Episode> = {}): Change & { kind: "episode" } {
  return {
    kind: "episode",
    episode: {
      format: "episode/1",
      episode: id,
      opened: NOW,
      moved: NOW,
      task: "cancel the order",
      explicit: true,
      principal: "local",
      turn: 0,
      explored: 0,
      skillChars: 0,
      views: [],
      calls: 0,
      tools: [],
      ...more,
    },
  };
}

export function call(id: string, seq: number, more: Partial<CallLine> = {}): Change & { kind: "call" } {
  return {
    kind: "call",
    line: {
      format: "call/1",
      at: NOW,
      episode: id,
      seq,
      tool: "shop/get_order",
      contract: sha256("c"),
      args: { order_id: `O-${seq}`, zeta: 1, alpha: [2, null] },
      redacted: [],
      isError: false,
      bytes: 12,
      shape: [{ path: "/status", type: "string" }],
      flows: [],
      ms: 1.5,
      ...more,
    },
  };
}

export function view(id: string, episodeId: string): Change & { kind: "view" } {
  const record: ViewRecord = {
    format: "view/1",
    at: NOW,
    request: { kind: "start", text: "cancel the order" },
    before: { turn: 0, explored: 0, skillChars: 0 },
    named: true,
    episode: episodeId,
    found: {
      catalogVersion: 1,
      libraryRevision: 1,
      marks: {},
      names: {},
      substitutions: [],
      alternatives: [],
      unmatched: [],
      notices: [],
      leftOut: [],
      limits: {},
    },
    decisions: { by: "rules", skills: [], tools: [] },
    view: {
      view: id,
      episode: episodeId,
      turn: 1,
      basis: { catalog: "1:abc", library: 1, evidence: 0, presence: "p", policy: "q", embedder: "none" },
      tools: [],
      budgets: { tokens: { used: 1, limit: 2 }, explore: { used: 0, limit: 3 }, skill_chars: { used: 0, limit: 4 } },
      manager: { by: "rules" },
    },
  };
  return { kind: "view", record };
}

export function report(id: string): Change & { kind: "report" } {
  const document: MaintenanceReport = {
    format: "maintenance-report/1",
    id,
    at: NOW,
    mode: "incremental",
    dryRun: false,
    basis: { catalog: 1, library: 1 },
    library: 2,
    applied: [],
    proposed: [],
    refused: [],
    revived: [],
    stillInactive: [],
    tokens: { used: 0, rebuildEstimate: 0 },
    looked: { due: 1, all: 2 },
  };
  return { kind: "report", report: document };
}

export function evidence(id: string): Change & { kind: "evidence" } {
  const document: Evidence = {
    format: "evidence/1",
    episode: id,
    task: "cancel",
    calls: [call(id, 1).line],
    outcome: { outcome: "success", trust: "state", by: "test", at: NOW },
  };
  return { kind: "evidence", digest: sha256(id), evidence: document };
}

export function samples(id: string): Change & { kind: "samples" } {
  const calls = [{ evidence: sha256(id), episode: id, seq: 1, contract: "c" }];
  return {
    kind: "samples",
    tool: "shop/get" as ToolKey,
    samples: [{ digest: sha256(`sample of ${id}`), args: { id: "1" }, redacted: [], calls }],
  };
}

/** A home with so many imported skills, `atomic-0` and on, as a store leaves it. */
export async function homeOfSkills(count: number): Promise<string> {
  const home = tempHome();
  const store = await open(home);
  const edits = Array.from({ length: count }, (_, n) => {
    const name = `atomic-${n}` as SkillName;
    const files = renderSkill({
      name,
      tier: "atomic",
      description: `Does the ${n}th thing.`,
      body: `## When to use\nWhen the ${n}th thing is to be done, café and all.`,
      contract: { requires: [], uses: [], produces: [], evidence: [] },
    });
    const record = { kind: "add", skill: name, cause: "test", signature: String(n), by: "import" } as const;
    return { record, files, provenance: "import" } as const;
  });
  const plan = planRevision({ library: emptyLibrary, edits, at: NOW, cause: "test", catalogVersion: 0 });
  await store.persist([
    { kind: "library-revision", record: plan.record, objects: plan.objects, written: plan.written, removed: plan.removed },
  ]);
  await store.close();
  return home;
}
