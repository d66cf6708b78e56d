/**
 * Operations: what the surfaces may ask, answered.
 *
 * Owns: the one place where the port `Operations` is put together; each family stands in its own file beside this one.
 * Speaks: domain nouns and Faults.
 * Never: wire forms; rights (the surfaces check them); writing (the steward does).
 */
import { exportGexf, exportGraph } from "../graph/export.js";
import { Fault } from "../model/fault.js";
import type { Announcement, Operations } from "../model/operations.js";
import type { UpstreamLabel } from "../model/ids.js";
import { reaches } from "../model/reach.js";
import { callTool, keptResult } from "./calls.js";
import { approveTool } from "./approvals.js";
import { findLink, judgeLineage, listLinks, readCatalog, readDrift, shownLink, stateTakeover, syncCatalog } from "./catalog.js";
import type { Desk } from "./desk.js";
import { describeTools } from "./describe.js";
import { finishTask, listEpisodes, readEpisode, verifyEpisode } from "./episodes.js";
import { importEpisodes } from "./episodes-import.js";
import { directTools, facadeFacts, healthOf, inputSchema } from "./health.js";
import {
  approveSkill,
  importSkills,
  lintSkills,
  listSkills,
  pinSkill,
  readSkill,
  removeSkill,
  revertLibrary,
  skillHistory,
  whyOf,
} from "./library.js";
import { compareModes, listReports, maintain, readReport } from "./maintenance.js";
import { servedFile, servedSkills, skillWithheld } from "./served.js";
import { searchCatalog, worldAt } from "./past.js";
import { listPins, pinCatalog } from "./pins.js";
import { listVersions, readManifest } from "./versions.js";
import { exploreCapabilities, readView, replayView, retrieveTools, startTask } from "./views.js";

export function createOperations(desk: Desk): Operations {
  return {
    startTask: (input, caller) => startTask(desk, input, caller),
    retrieveTools: (input, caller) => retrieveTools(desk, input, caller),
    exploreCapabilities: (input, caller) => exploreCapabilities(desk, input, caller),
    describeTools: async (input, caller) => describeTools(desk, input, caller),
    callTool: (input, caller, options) => callTool(desk, input, caller, options),
    finishTask: (input, caller) => finishTask(desk, input, caller),

    facadeFacts: (reach) => facadeFacts(desk, reach),
    directTools: (caller) => directTools(desk, caller),
    inputSchema: (tool, caller) => inputSchema(desk, tool, caller),
    keptResult: (id, caller) => keptResult(desk, id, caller),
    onAnnounce: (listener) => onAnnounce(desk, listener),
    onResourceUpdated: (listener) =>
      desk.onUpstreamAnnouncement((label, announced) => {
        if (announced.kind === "resource") listener(label, announced.uri);
      }),

    catalog: ({ at }, caller) => readCatalog(desk, at, caller?.upstreams),
    versions: () => listVersions(desk),
    version: (version) => readManifest(desk.store, version),
    searchCatalog: (query, options, caller) => searchCatalog(desk, query, options, caller),
    catalogPins: async () => listPins(desk),
    pinCatalog: (options, caller) => pinCatalog(desk, options, caller),
    drift: (options) => readDrift(desk, options),
    lineage: async () => listLinks(desk),
    lineageLink: async (link) => shownLink(desk, findLink(desk.steward.world(), link)),
    judgeLineage: (link, verdict, caller) => judgeLineage(desk, link, verdict, caller),
    stateTakeover: (input, caller) => stateTakeover(desk, input, caller),
    sync: (label, caller) => syncCatalog(desk, label, caller?.upstreams),
    approveTool: (input, caller) => approveTool(desk, input, caller),

    skills: async ({ at, ...filter }, caller) =>
      listSkills(await worldAt(desk, at), filter, caller?.upstreams, at === undefined ? desk.memory.folders.refused : []),
    skill: async (name, caller) => readSkill(desk, name, caller?.upstreams),
    servedSkills: (caller) => servedSkills(desk, caller),
    skillWithheld: (label, uri, what) => skillWithheld(desk, label, uri, what),
    servedFile: (name, path, caller) => servedFile(desk, name, path, caller),
    skillHistory: (name) => skillHistory(desk, name),
    approveSkill: (name, caller) => approveSkill(desk, name, caller),
    pinSkill: (name, pinned, caller) => pinSkill(desk, name, pinned, caller),
    removeSkill: (name, caller) => removeSkill(desk, name, caller),
    importSkills: (folders) => importSkills(desk, folders, "import"),
    revert: (options, caller) => revertLibrary(desk, options, caller),
    lintSkills: async () => lintSkills(desk),

    graph: async () => exportGraph(desk.steward.world().graph),
    graphGexf: async () => exportGexf(desk.steward.world().graph),
    why: async (skill, options) => whyOf(await worldAt(desk, options?.at), skill),

    maintain: async (options, _caller, tell) => maintain(desk, options, tell),
    compareModes: (tell) => compareModes(desk, tell),
    reports: () => listReports(desk),
    report: (id, tell) => readReport(desk, id, tell),

    episodes: async (options) => listEpisodes(desk, options),
    episode: (id) => readEpisode(desk, id),
    verifyEpisode: (id, verdict, caller) => verifyEpisode(desk, id, verdict, caller),

    importEpisodes: (request, caller) => importEpisodes(desk, request, caller),

    viewRecord: (id) => readView(desk, id),
    replay: (id) => replayView(desk, id),

    upstreams: () =>
      desk.upstreams.status().map((status) => ({ ...status, prefix: desk.steward.world().prefixes.get(status.label) })),
    passThrough: (label, method, params, caller, options) => {
      if (!reaches(caller.upstreams, label)) throw new Fault("forbidden", `The token does not carry the upstream ${label}.`);
      return desk.upstreams.request(label as UpstreamLabel, method, params, options);
    },
    health: (caller) => healthOf(desk, caller?.upstreams),
  };
}

function onAnnounce(desk: Desk, listener: (what: Announcement) => void): () => void {
  const stopUpstreams = desk.onUpstreamAnnouncement((_label, announced) => {
    if (announced.kind !== "resource") listener(announced.kind);
  });
  const stopEffects = desk.steward.onEffect((effect) => {
    if (effect.kind === "announce-tools") listener("tools");
    else if (effect.kind === "announce-skills") listener("skills");
  });
  return () => {
    stopUpstreams();
    stopEffects();
  };
}
