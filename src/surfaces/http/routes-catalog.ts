/** Routes of the catalog: versions, drift, lineage, approvals. */
import { z } from "zod";
import { retrieveToolsInput } from "../../model/facade.js";
import * as answers from "./answers.js";
import { count, digits, name, readCount, route, wholeNumber } from "./route.js";
import type { Route } from "./route.js";

const TOOLS = "must be a tool's key or name, or a list of 1 to 50 of them";
const tools = z.union([name.transform((one) => [one]), z.array(name).min(1, { error: TOOLS }).max(50, { error: TOOLS })], {
  error: TOOLS,
});

const A_VERSION = "A catalog version.";
const need = retrieveToolsInput.shape.query;
const search = { path: "/catalog/search", tag: "catalog", rights: [], withinReach: true, answer: answers.searched } as const;

/** Where and how much; by GET a long query would not fit into the headers of a request. */
function readSearch({ at, limit }: { readonly at?: number | undefined; readonly limit?: number | undefined }) {
  return { ...(at === undefined ? {} : { at }), ...(limit === undefined ? {} : { limit }) };
}

export const catalogRoutes: readonly Route[] = [
  route({
    method: "get",
    path: "/catalog",
    tag: "catalog",
    rights: [],
    withinReach: true,
    summary: "All tools of the present catalog version, or of an earlier one.",
    query: z.object({ at: count.optional().describe("A catalog version.") }),
    answer: answers.catalog,
    run: (operations, { query, caller }) => operations.catalog(query.at === undefined ? {} : { at: query.at }, caller),
  }),
  route({
    method: "get",
    path: "/catalog/versions",
    tag: "catalog",
    rights: [],
    summary: "Catalog versions with their causes.",
    answer: answers.versions,
    run: (operations) => operations.versions(),
  }),
  route({
    method: "get",
    path: "/catalog/versions/:version",
    tag: "catalog",
    rights: [],
    summary: "The manifest of one catalog version.",
    answer: answers.manifest,
    run: (operations, { params }) => operations.version(readCount(params, "version")),
  }),
  route({
    ...search,
    method: "get",
    summary: "Tools for a query, by words, as of a catalog version; nothing is recorded. A long query goes by POST.",
    query: z.object({ query: need, at: count.optional().describe(A_VERSION), limit: digits(wholeNumber.min(1)).optional() }),
    run: (operations, { query, caller }) => operations.searchCatalog(query.query, readSearch(query), caller),
  }),
  route({
    ...search,
    method: "post",
    summary: "The same, for a query of any length that a need may have.",
    body: z.strictObject({ query: need, at: wholeNumber.optional().describe(A_VERSION), limit: z.int().min(1).optional() }),
    run: (operations, { body, caller }) => operations.searchCatalog(body.query, readSearch(body), caller),
  }),
  route({
    method: "get",
    path: "/catalog/pins",
    tag: "catalog",
    rights: ["operate"],
    summary: "Tokens and sessions that stay with a catalog version, and what is left of it.",
    answer: answers.pins,
    run: (operations) => operations.catalogPins(),
  }),
  route({
    method: "post",
    path: "/catalog/pin",
    tag: "catalog",
    rights: ["operate"],
    summary:
      "Pins a token (by default the caller's own) or a session to a catalog version: its views and calls use what still exists of it.",
    body: z.strictObject({
      version: wholeNumber.nullable().describe("null ends the pin."),
      token: name.optional().describe("`mcp` and `local` are callers without a token."),
      session: name.optional(),
    }),
    answer: answers.pinned,
    run: (operations, { body, caller }) =>
      operations.pinCatalog(
        {
          version: body.version ?? undefined,
          ...(body.token === undefined ? {} : { token: body.token }),
          ...(body.session === undefined ? {} : { session: body.session }),
        },
        caller,
      ),
  }),
  route({
    method: "get",
    path: "/catalog/drift",
    tag: "catalog",
    rights: [],
    summary: "The typed difference between two catalog versions; by default between the last two.",
    query: z.object({ from: count.optional(), to: count.optional() }),
    answer: answers.drift,
    run: (operations, { query }) =>
      operations.drift({
        ...(query.from === undefined ? {} : { from: query.from }),
        ...(query.to === undefined ? {} : { to: query.to }),
      }),
  }),
  route({
    method: "get",
    path: "/catalog/lineage",
    tag: "catalog",
    rights: [],
    summary: "Which tools took over from which.",
    answer: answers.links,
    run: (operations) => operations.lineage(),
  }),
  route({
    method: "get",
    path: "/catalog/lineage/:link",
    tag: "catalog",
    rights: [],
    summary: "One link with its evidence: whose word stands, and what a manager and a replay found.",
    answer: answers.link,
    run: (operations, { params }) => operations.lineageLink(params["link"] ?? ""),
  }),
  ...(["confirm", "reject"] as const).map((verdict) =>
    route({
      method: "post",
      path: `/catalog/lineage/${verdict}`,
      tag: "catalog",
      rights: ["operate"],
      summary:
        verdict === "confirm"
          ? "Confirms a lineage link: it counts as certain."
          : "Rejects a lineage link: it is ignored, and skills that were bound by it go back.",
      body: z.strictObject({ link: name }),
      answer: answers.judgedLink,
      run: (operations, { body, caller }) => operations.judgeLineage(body.link, verdict, caller),
    }),
  ),
  route({
    method: "post",
    path: "/catalog/lineage/add",
    tag: "catalog",
    rights: ["operate"],
    summary:
      "States which tool or tools took over from one that left (or one from several), or corrects the mapping of a known link.",
    body: z.strictObject({
      from: tools.describe("Keys of tools that left, or names that one alone had; several only for one in `to`."),
      to: tools.describe("What took over, in order of use."),
      params: z
        .record(name, name.nullable())
        .optional()
        .describe("old parameter → new one, or null for one that goes nowhere; the others as they are found."),
      fixed: z.record(name, z.json()).optional().describe("All arguments that are fixed; without it those that are known stay."),
    }),
    answer: answers.statedTakeover,
    run: (operations, { body, caller }) => operations.stateTakeover(body, caller),
  }),
  route({
    method: "post",
    path: "/catalog/sync",
    tag: "catalog",
    rights: ["operate"],
    withinReach: true,
    summary: "Lists one upstream or all of them now.",
    body: z.strictObject({ upstream: name.optional() }).optional(),
    answer: answers.synced,
    run: (operations, { body, caller }) => operations.sync(body?.upstream, caller),
  }),
  route({
    method: "post",
    path: "/catalog/tools/approve",
    tag: "catalog",
    rights: ["approve"],
    withinReach: true,
    summary:
      "Approves a held tool for the digests that were shown (`dryRun` shows them and approves nothing); lapses when its digests move.",
    body: z.strictObject({
      tool: name,
      contract: z.string().optional().describe("Digest as shown; needed, with `text`, but for a dry run."),
      text: z.string().optional(),
      document: z.string().optional().describe("Where given, nothing else of the definition may have moved either."),
      dryRun: z.boolean().optional(),
    }),
    answer: answers.approved,
    run: (operations, { body, caller }) => operations.approveTool(body, caller),
  }),
];
