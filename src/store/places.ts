/** Where everything lies in a home, relative to it, with forward slashes (joined to the home where it is opened). */

const numbered = (n: number, ending: string): string => `${String(n).padStart(6, "0")}${ending}`;

export const places = {
  config: "config",
  versions: "catalog/versions",
  version: (n: number) => `catalog/versions/${numbered(n, ".json")}`,
  tools: "catalog/tools",
  tool: (digest: string) => `catalog/tools/${digest}.json`,
  lineage: "catalog/lineage.json",
  skills: "skills",
  skill: (name: string) => `skills/${name}`,
  skillsLock: "skills/steward.lock.json",
  state: "state",
  objects: "state/library/objects",
  object: (digest: string) => `state/library/objects/${digest}`,
  revisions: "state/library/revisions",
  revision: (n: number) => `state/library/revisions/${numbered(n, ".json")}`,
  standings: "state/standings.json",
  holds: "state/holds.json",
  presence: "state/presence.json",
  rejected: "state/rejected.json",
  flows: "state/flows.json",
  experience: "state/experience.json",
  episodes: "state/episodes",
  calls: "state/calls",
  segment: (folder: string, n: number) => `${folder}/${numbered(n, ".jsonl")}`,
  views: "state/views",
  view: (id: string) => `state/views/${id}.json`,
  maintenance: "state/maintenance",
  report: (id: string) => `state/maintenance/${id}.json`,
  samples: "state/samples",
  samplesOf: (digest: string) => `state/samples/${digest}.json`,
  patterns: "state/patterns.json",
  upstreamSkills: "state/upstream-skills.json",
  catalogPins: "state/catalog-pins.json",
  evidence: "state/evidence",
  evidenceOf: (digest: string) => `state/evidence/${digest}.json`,
  pending: "state/pending.json",
  bulk: "state/bulk",
  bulkOf: (n: number) => `state/bulk/${numbered(n, ".json")}`,
  lock: "state/lock",
  claims: "state/lock.claims",
  daemon: "state/daemon.json",
  operatorToken: "state/operator.token",
  tokens: "state/tokens.json",
  /** Derived from the rest, safe to delete. */
  cache: "state/cache",
  pastCache: "state/cache/past.json",
  toolPack: "state/cache/tools.pack",
  skillPack: "state/cache/skills.pack",
  prepared: "state/cache/prepared.bin",
  /** Bytes of a person that lay where an edit had to write. */
  overwritten: "state/overwritten",
} as const;

/** The folders of a home, parents first. */
export const FOLDERS: readonly string[] = [
  places.config,
  "catalog",
  places.versions,
  places.tools,
  places.skills,
  places.state,
  "state/library",
  places.objects,
  places.revisions,
  places.episodes,
  places.calls,
  places.views,
  places.maintenance,
  places.evidence,
  places.samples,
  places.bulk,
  places.claims,
  places.cache,
];

/** The number in `000042.json`; undefined for every other name. */
export function numberOf(name: string, ending: string): number | undefined {
  const match = /^(\d{6,12})(\..+)$/.exec(name);
  return match !== null && match[2] === ending ? Number(match[1]) : undefined;
}

/** Ids become file names: what is not plain is no id of ours. */
export function isPlainId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(id);
}

export function isDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
