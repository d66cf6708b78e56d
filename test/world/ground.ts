import { NO_CALIBRATION, type Calibration } from "../../src/model/experience.js";
import type { Change } from "../../src/model/change.js";
import type { SeenFlow } from "../../src/model/flow.js";
import type { CallLine, Evidence, Episode } from "../../src/model/episode.js";
import type { PatternAnswer, Sample } from "../../src/model/sample.js";
import type { SkillName, ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import type { CatalogPin, Presence } from "../../src/model/catalog.js";
import type { LineageLink, SupersedeHint } from "../../src/model/lineage.js";
import type { Ground, PastSkill } from "../../src/model/ports.js";
import type { LibraryRevisionRecord } from "../../src/model/skill.js";
import type { Standing } from "../../src/model/standing.js";
import type { ListedTool } from "../../src/model/tool.js";
import type { UpstreamSkills } from "../../src/model/upstream-skills.js";
import { emptyHolds } from "../../src/world/world.js";

/** The ground state kept in memory the way the store keeps it on disc: what a rebuild reads. */
export class MemoryGround {
  manifest: Ground["manifest"] = undefined;
  documents = new Map<string, ListedTool>();
  lineage = new Map<string, LineageLink>();
  hints: SupersedeHint[] = [];
  holds = emptyHolds;
  presence = new Map<UpstreamLabel, Presence>();
  revisions: LibraryRevisionRecord[] = [];
  objects = new Map<string, string>();
  standings = new Map<SkillName, Standing>();
  pinned = new Map<SkillName, { at: string; by: string }>();
  episodes = new Map<string, Episode>();
  rejected = new Map<string, { skill: string; why: string; at: string }>();
  flows = new Map<string, SeenFlow>();
  calibration: Calibration = NO_CALIBRATION;
  evidence = new Map<string, Evidence>();
  calls: CallLine[] = [];
  catalogPins = new Map<string, CatalogPin>();
  samples = new Map<ToolKey, readonly Sample[]>();
  patterns: ReadonlyMap<string, PatternAnswer> = new Map();
  upstreamSkills = new Map<UpstreamLabel, UpstreamSkills>();

  persist(changes: readonly Change[]): Promise<void> {
    for (const change of changes) this.apply(change);
    return Promise.resolve();
  }

  private apply(change: Change): void {
    switch (change.kind) {
      case "catalog-version":
        this.manifest = change.manifest;
        for (const [digest, listed] of change.documents) this.documents.set(digest, listed);
        return;
      case "lineage":
        for (const link of change.links) this.lineage.set(link.id, link);
        if (change.hints !== undefined) this.hints = [...change.hints];
        return;
      case "holds":
        this.holds = change.holds;
        return;
      case "catalog-pin":
        if (change.pin === undefined) this.catalogPins.delete(change.token);
        else this.catalogPins.set(change.token, change.pin);
        return;
      case "presence":
        if (change.presence === undefined) this.presence.delete(change.label);
        else this.presence.set(change.label, change.presence);
        return;
      case "library-revision":
        for (const [digest, text] of change.objects) this.objects.set(digest, text);
        this.revisions.push(change.record);
        return;
      case "standings":
        for (const [name, standing] of change.set) this.standings.set(name, standing);
        for (const name of change.drop) this.standings.delete(name);
        return;
      case "pinned":
        if (change.pin === undefined) this.pinned.delete(change.skill);
        else this.pinned.set(change.skill, change.pin);
        return;
      case "episode":
        if (change.episode.retired === true) this.episodes.delete(change.episode.episode);
        else this.episodes.set(change.episode.episode, change.episode);
        return;
      case "call":
        this.calls.push(change.line);
        return;
      case "evidence":
        this.evidence.set(change.digest, change.evidence);
        return;
      case "calibration":
        this.calibration = change.calibration;
        return;
      case "flows":
        for (const [id, flow] of change.set) this.flows.set(id, flow);
        return;
      case "samples":
        if (change.samples.length === 0) this.samples.delete(change.tool);
        else this.samples.set(change.tool, change.samples);
        return;
      case "upstream-skills":
        this.upstreamSkills.set(change.label, change.taken);
        return;
      case "patterns":
        this.patterns = change.answers;
        return;
      case "rejected":
        for (const [signature, entry] of change.set) this.rejected.set(signature, entry);
        return;
      default:
        return;
    }
  }

  files(record: LibraryRevisionRecord, skill: string): Record<string, string> {
    return Object.fromEntries(
      Object.entries(record.skills[skill] ?? {}).map(([path, digest]) => [path, this.objects.get(digest) ?? ""]),
    );
  }

  read(): Ground {
    const revision = this.revisions[this.revisions.length - 1];
    const skills = new Map<SkillName, Record<string, string>>();
    for (const name of Object.keys(revision?.skills ?? {}))
      if (revision !== undefined) skills.set(name as SkillName, this.files(revision, name));
    return {
      manifest: this.manifest,
      highestVersion: this.manifest?.version ?? 0,
      documents: this.documents,
      lineage: [...this.lineage.values()],
      hints: this.hints,
      holds: this.holds,
      catalogPins: this.catalogPins,
      presence: this.presence,
      revision,
      skills,
      pastRevisions: this.past(),
      standings: this.standings,
      pinned: this.pinned,
      episodes: [...this.episodes.values()],
      rejected: this.rejected,
      calibration: this.calibration,
      flows: new Map(this.flows),
      samples: this.samples,
      patterns: this.patterns,
      upstreamSkills: new Map(this.upstreamSkills),
      evidence: this.evidence.size,
      prepared: new Map(),
      problems: [],
    };
  }

  /** Earlier states of skills whose lock entry was written anew, newest first, at most eight. */
  private past(): Map<SkillName, PastSkill[]> {
    const result = new Map<SkillName, PastSkill[]>();
    const last = this.revisions[this.revisions.length - 1];
    for (const name of Object.keys(last?.skills ?? {})) {
      const states: PastSkill[] = [];
      let seen = last?.lock.skills[name]?.revision;
      for (const record of [...this.revisions].reverse()) {
        const entry = record.lock.skills[name];
        if (entry === undefined) break;
        if (entry.revision === seen) continue;
        states.push({ revision: entry.revision, files: this.files(record, name), entry });
        seen = entry.revision;
      }
      if (states.length > 0) result.set(name as SkillName, states.slice(0, 8));
    }
    return result;
  }
}
