/** Resources, prompts, completions, instructions, and what is told of their moves. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { isJsonObject, type JsonObject } from "../../../src/model/json.js";
import { call, ownItems, passes, refused, structured, until, uriOf, way, type Cell, type Feature, type Seen } from "./cell.js";
import { withoutEnvelope } from "./upstream.js";

/** A list of the proxy holds what all pages of the upstream hold. */
const wholeList = (method: string, field: string, name: string, prefix: (cell: Cell) => string) => async (cell: Cell) => {
  const truth = await cell.upstream.list(method, field);
  expect(truth.pages).toBeGreaterThan(1);
  const result = await cell.agent.ask(method);
  expect(ownItems(result[field], name, prefix(cell))).toEqual(truth.items);
  return passes;
};
const byUri = (cell: Cell): string => uriOf(cell, "");
const byName = (cell: Cell): string => `${cell.upstream.label}__`;

async function reads(cell: Cell): Promise<Seen> {
  for (const own of ["every://note/1", "every://blob", "every://row/7"]) {
    const truth = await cell.upstream.ask("resources/read", { uri: own });
    const uri = uriOf(cell, own);
    const expected = (truth["contents"] as JsonObject[]).map((part) => ({ ...part, uri }));
    expect(withoutEnvelope(await cell.agent.ask("resources/read", { uri }))).toEqual({ contents: expected });
  }
  expect((await refused(cell.agent.ask("resources/read", { uri: uriOf(cell, "every://nothing") }))).data).toEqual({
    uri: "every://nothing",
  });
  return passes;
}

async function linked(cell: Cell): Promise<Seen> {
  const result = { content: [{ type: "resource_link", uri: "every://note/2", name: "note-2" }] };
  const { content } = await call(cell, "reply", { result });
  const uri = (content as JsonObject[])[0]?.["uri"] ?? "";
  expect(await cell.agent.ask("resources/read", { uri })).toMatchObject({ contents: [{ text: "of every://note/2" }] });
  return passes;
}

async function followedResource(cell: Cell): Promise<Seen> {
  const own = "every://note/0";
  const uri = uriOf(cell, own);
  const stop = await cell.agent.follow(uri);
  const followed = async (): Promise<Map<unknown, unknown>> =>
    new Map((await structured(cell, "touch", { uri: own }))["followed"] as [unknown, unknown][]);
  const upstreamWay = String(await until(async () => (await followed()).get(own), "the upstream is followed"));
  await followed();
  await until(() => heard(cell, "notifications/resources/updated", (params) => params["uri"] === uri), "the agent was told");
  await stop();
  return way(cell.agent.era === "legacy" ? "resources/subscribe" : "subscriptions/listen", upstreamWay);
}

const heard = (cell: Cell, method: string, fits: (params: JsonObject) => boolean = () => true): boolean =>
  cell.agent.heard.some(
    (message) => message["method"] === method && fits(isJsonObject(message["params"]) ? message["params"] : {}),
  );

const moves = (list: "tools" | "prompts" | "resources") => async (cell: Cell) => {
  const method = `notifications/${list}/list_changed`;
  cell.agent.heard.length = 0;
  const { by } = await structured(cell, "move", { list });
  await until(() => heard(cell, method), "the agent was told");
  return way(cell.agent.era === "legacy" ? "notification" : "subscriptions/listen", String(by));
};

async function prompts(cell: Cell): Promise<Seen> {
  const params = { arguments: { code: "x = 1" } };
  const truth = await cell.upstream.ask("prompts/get", { name: "review", ...params });
  const given = await cell.agent.ask("prompts/get", { name: `${cell.upstream.label}__review`, ...params });
  expect(withoutEnvelope(given)).toEqual(truth);
  return passes;
}

async function completions(cell: Cell): Promise<Seen> {
  const argument = { name: "code", value: "pa" };
  const context = { arguments: { id: "7" } };
  const pairs = [
    [
      { type: "ref/prompt", name: `${cell.upstream.label}__review` },
      { type: "ref/prompt", name: "review" },
    ],
    [
      { type: "ref/resource", uri: uriOf(cell, "every://row/{id}") },
      { type: "ref/resource", uri: "every://row/{id}" },
    ],
  ] as const;
  for (const [ref, own] of pairs) {
    const { completion } = await cell.agent.ask("completion/complete", { ref, argument, context });
    expect(completion).toMatchObject({ values: ["pa!"], total: 7, hasMore: true, "x-seen": { ref: own, argument, context } });
  }
  return passes;
}

async function instructions(cell: Cell): Promise<Seen> {
  const { era, label } = cell.upstream;
  expect(cell.agent.instructions).toContain(
    `## ${label} (names begin with ${label}__)\n\nUse the tools of every-${era} with care.`,
  );
  return passes;
}

const SKILLS = "skill://warehouse/pack-orders";

async function skills(cell: Cell): Promise<Seen> {
  const root = `skill://upstream/${cell.upstream.label}/warehouse/pack-orders`;
  const qualified = (uri: unknown): string => String(uri).replace(SKILLS, root);
  const [entry = {}] = (await cell.upstream.list("skills/list", "skills")).items;
  const files = entry["resources"] as JsonObject[];
  const expected = {
    ...entry,
    uri: qualified(entry["uri"]),
    resources: files.map((file) => ({ ...file, uri: qualified(file["uri"]) })),
  };
  const { skills: listed } = await cell.agent.ask("skills/list");
  expect((listed as JsonObject[]).filter((skill) => String(skill["uri"]).startsWith(root))).toEqual([expected]);
  expect(withoutEnvelope(await cell.agent.ask("skills/get", { uri: expected.uri }))).toEqual({ skill: expected });
  for (const { uri, digest, size } of files) {
    const { contents } = await cell.agent.ask("resources/read", { uri: qualified(uri) });
    const text = String((contents as JsonObject[])[0]?.["text"]);
    expect([Buffer.byteLength(text), `sha256:${createHash("sha256").update(text).digest("hex")}`]).toEqual([size, digest]);
  }
  const { resources } = await cell.agent.ask("resources/directory/read", { uri: root });
  expect((resources as JsonObject[]).map((child) => child["uri"])).toEqual([`${root}/SKILL.md`, `${root}/references`]);
  return passes;
}

const group = "What else is offered";
export const OFFERS: readonly Feature[] = [
  { group, name: "`resources/list`, all pages", probe: wholeList("resources/list", "resources", "uri", byUri) },
  {
    group,
    name: "`resources/templates/list`, all pages",
    probe: wholeList("resources/templates/list", "resourceTemplates", "uriTemplate", byUri),
  },
  { group, name: "`resources/read`: text, blob, by template", probe: reads },
  { group, name: "resource links in results can be read as they stand", probe: linked },
  { group, name: "followed resources", probe: followedResource },
  { group, name: "`prompts/list`, all pages", probe: wholeList("prompts/list", "prompts", "name", byName) },
  { group, name: "`prompts/get`", probe: prompts },
  { group, name: "`completion/complete`, for prompts and templates", probe: completions },
  { group, name: "`instructions` (at `/mcp/direct`)", probe: instructions },
  { group, name: "skills: list, get, files by digest, folders", probe: skills },
  { group, name: "tools moved", probe: moves("tools") },
  { group, name: "prompts moved", probe: moves("prompts") },
  { group, name: "resources moved", probe: moves("resources") },
];
