/** Routes of the library and of the graph that ties it to tools. */
import { z } from "zod";
import { SKILL_LIMITS } from "../../model/policy.js";
import * as answers from "./answers.js";
import { count, name, noBody, route, TextAnswer } from "./route.js";
import type { Route } from "./route.js";

export const skillRoutes: readonly Route[] = [
  route({
    method: "get",
    path: "/skills",
    tag: "skills",
    rights: [],
    withinReach: true,
    summary: "Skills with standing and reasons.",
    query: z.object({
      tier: z.enum(["planning", "atomic", "tool"]).optional(),
      standing: z.enum(["active", "inactive"]).optional(),
      at: count.optional().describe("As the library stood while this catalog version was in force."),
    }),
    answer: answers.skills,
    run: (operations, { query, caller }) =>
      operations.skills(
        {
          ...(query.tier === undefined ? {} : { tier: query.tier }),
          ...(query.standing === undefined ? {} : { standing: query.standing }),
          ...(query.at === undefined ? {} : { at: query.at }),
        },
        caller,
      ),
  }),
  route({
    method: "get",
    path: "/skills/:name",
    tag: "skills",
    rights: [],
    withinReach: true,
    summary: "One skill: text, files, contract, problems.",
    answer: answers.skillDetail,
    run: (operations, { params, caller }) => operations.skill(params["name"] ?? "", caller),
  }),
  route({
    method: "get",
    path: "/skills/:name/history",
    tag: "skills",
    rights: [],
    summary: "Revisions of one skill.",
    answer: answers.skillHistory,
    run: (operations, { params }) => operations.skillHistory(params["name"] ?? ""),
  }),
  route({
    method: "post",
    path: "/skills/:name/approve",
    tag: "skills",
    rights: ["approve"],
    summary: "A person looked at it: the review mark goes.",
    body: noBody,
    answer: answers.skill,
    run: (operations, { params, caller }) => operations.approveSkill(params["name"] ?? "", caller),
  }),
  ...(["pin", "unpin"] as const).map((verb) =>
    route({
      method: "post",
      path: `/skills/:name/${verb}`,
      tag: "skills",
      rights: ["operate"],
      summary: verb === "pin" ? "Pins a skill: it is never edited." : "Unpins a skill.",
      body: noBody,
      answer: answers.skill,
      run: (operations, { params, caller }) => operations.pinSkill(params["name"] ?? "", verb === "pin", caller),
    }),
  ),
  route({
    method: "delete",
    path: "/skills/:name",
    tag: "skills",
    rights: ["operate"],
    summary: "Removes a skill; its history stays.",
    answer: answers.skillRemoved,
    run: (operations, { params, caller }) => operations.removeSkill(params["name"] ?? "", caller),
  }),
  route({
    method: "post",
    path: "/skills/:name/remove",
    tag: "skills",
    rights: ["operate"],
    summary: "Removes a skill; its history stays.",
    body: noBody,
    answer: answers.skillRemoved,
    run: (operations, { params, caller }) => operations.removeSkill(params["name"] ?? "", caller),
  }),
  route({
    method: "post",
    path: "/library/import",
    tag: "skills",
    rights: ["operate"],
    summary: "Imports skill folders, given as text.",
    body: z.strictObject({
      folders: z
        .array(
          z.strictObject({ folder: name, files: z.record(z.string(), z.string()), origin: z.string().max(2_000).optional() }),
        )
        .min(1)
        .max(SKILL_LIMITS.foldersAtOnce),
    }),
    answer: answers.skillsImported,
    run: (operations, { body, caller }) =>
      operations.importSkills(
        body.folders.map(({ origin, ...folder }) => ({ ...folder, ...(origin === undefined ? {} : { origin }) })),
        caller,
      ),
  }),
  route({
    method: "post",
    path: "/library/revert",
    tag: "skills",
    rights: ["operate"],
    summary: "Back to what stood at a library revision, as a new revision.",
    body: z.strictObject({ to: z.int().min(0), skill: name.optional() }),
    answer: answers.reverted,
    run: (operations, { body, caller }) =>
      operations.revert({ to: body.to, ...(body.skill === undefined ? {} : { skill: body.skill }) }, caller),
  }),
  route({
    method: "get",
    path: "/library/lint",
    tag: "skills",
    rights: [],
    summary: "Problems of all skill files.",
    answer: answers.lint,
    run: (operations) => operations.lintSkills(),
  }),
  route({
    method: "get",
    path: "/graph",
    tag: "graph",
    rights: [],
    summary: "The dependency graph, as JSON or GEXF.",
    query: z.object({ format: z.enum(["json", "gexf"]).optional() }),
    answer: answers.graph,
    run: async (operations, { query }) =>
      query.format === "gexf" ? new TextAnswer("application/gexf+xml", await operations.graphGexf()) : operations.graph(),
  }),
  route({
    method: "get",
    path: "/graph/why/:skill",
    tag: "graph",
    rights: [],
    summary: "Why a skill stands as it does: paths to what it rests on.",
    query: z.object({ at: count.optional().describe("As of a catalog version.") }),
    answer: answers.why,
    run: (operations, { params, query }) => operations.why(params["skill"] ?? "", query.at === undefined ? {} : { at: query.at }),
  }),
];
