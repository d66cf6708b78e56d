/** A token limited to some upstreams: whatever it asks, by every route and by MCP, nothing names another one. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Caller } from "../../src/model/operations.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { createHttpApp } from "../../src/surfaces/http/app.js";
import { openApi } from "../../src/surfaces/http/openapi.js";
import { checkTokens } from "../../src/surfaces/http/tokens.js";
import { closeHouses, later, list, makeHome, openHouse, person, tool } from "../house.js";
import { closeAll, fixed, legacyClient } from "./start.js";

/** Labels, tools, skills and texts of the upstream out of reach. */
const FOREIGN = /zebra|stripe/i;
const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
const entry = (name: string, upstreams: string[]) => ({
  name,
  sha256: sha(name),
  upstreams,
  rights: ["agent" as const, "operate" as const, "verify" as const, "approve" as const],
  created: "2027-01-01T00:00:00.000Z",
});
const skill = (name: string, description: string, tools: readonly string[]) => ({
  folder: name,
  files: {
    "SKILL.md": `---\nname: "${name}"\ndescription: "${description}"\n---\n\n## Steps\n\n${tools.map((key, at) => `${at + 1}. Call \`${key}\` with id from the request.`).join("\n")}\n`,
  },
});
const NOTE = tool("list_notes", { description: "Lists the notes of a book.", required: ["id"] });
const READ = tool("read_note", { description: "Reads one note of a book aloud.", required: ["id"] });
const STRIPES = tool("stripe_count", { description: "Counts the notes and stripes of a zebra.", required: ["id"] });
const PAINT = tool("stripe_paint", { description: "Paints stripes and notes.", required: ["id"], writes: true });

const closing: (() => Promise<void>)[] = [];
let house: House;
let url: string;
/** What stands for `{name}` in a path of the OpenAPI document. */
const params: Record<string, string> = {};

beforeAll(async () => {
  house = await openHouse(makeHome(["desk", "zebra"]));
  await list(house, "desk", [NOTE, READ]);
  await list(house, "zebra", [STRIPES, PAINT]);
  await house.operations.importSkills(
    [
      skill("notes-read", "Read the notes of a book.", ["desk/list_notes"]),
      skill("notes-count", "Count the notes and stripes.", ["desk/list_notes", "zebra/stripe_count"]),
      skill("stripes-paint", "Paint the stripes and notes.", ["zebra/stripe_paint"]),
    ],
    person,
  );
  await house.steward.post({ kind: "tick", at: later() });
  // `read_note` moves to the other upstream: a link between the two, and a skill whose tool went.
  await list(house, "zebra", [STRIPES, { ...READ, description: "Reads one note of a book aloud." }]);
  await list(house, "desk", [NOTE]);
  const started = await house.operations.startTask({ task: "count the stripes of the zebra's notes" }, person);
  const report = await house.operations.maintain({ mode: "frozen", dryRun: false, accept: [] }, person);
  Object.assign(params, {
    "/v1/results/{id}": "none",
    "/v1/maintenance/{id}": report.id,
    "/v1/episodes/{id}": started.episode,
    "/v1/views/{id}": started.body.view,
    version: "2",
    link: (await house.operations.lineage())[0]?.id ?? "none",
    name: "notes-count",
    skill: "notes-count",
  });
  const surface = createHttpApp({
    operations: house.operations,
    policy: DEFAULT_POLICY,
    http: { host: "127.0.0.1", port: 0, allowedHosts: [], allowedOrigins: [] },
    tokens: checkTokens(fixed({ format: "tokens/1", tokens: [entry("limited", ["desk"]), entry("whole", ["*"])] }), undefined),
    log: () => undefined,
    version: "0",
  });
  const listening = await surface.listen("127.0.0.1", 0);
  url = listening.url;
  closing.push(() => listening.close(0));
});
afterAll(async () => {
  await closeAll();
  for (const close of closing) await close();
  await closeHouses();
});

/** Bodies and queries that ask for as much as there is, for routes that need some. */
const ASKED: Readonly<Record<string, JsonObject | string>> = {
  "post /v1/start_task": { task: "read the notes of a book, count its stripes with stripe_count" },
  "post /v1/retrieve_tools": { query: "read_note stripe_count notes" },
  "post /v1/explore_capabilities": { need: "count notes and stripes" },
  "post /v1/describe_tools": { tools: ["desk/list_notes", "desk/read_note", "note_reading"] },
  "post /v1/call_tool": { tool: "desk/read_note", arguments: { id: "1" } },
  // Labels are listed where none is known; a real one would be asked for, and nothing runs here.
  "post /v1/catalog/sync": { upstream: "another" },
  "get /v1/catalog/drift": "?from=1&to=2",
  "get /v1/catalog/search": "?query=notes%20stripes",
  "post /v1/catalog/search": { query: "notes stripes" },
};

const routes = Object.entries(openApi("0")["paths"] as JsonObject).flatMap(([path, methods]) =>
  Object.keys(methods as JsonObject).map((method) => ({ key: `${method} ${path}`, method, path })),
);

async function ask(token: string, { key, method, path }: (typeof routes)[number]) {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const place = Object.keys(params).find((one) => path.startsWith(one));
    return (place === undefined ? params[name] : params[place]) ?? "none";
  });
  const asked = ASKED[key];
  const body = typeof asked === "object" ? { body: JSON.stringify(asked) } : {};
  const response = await fetch(`${url}${filled}${typeof asked === "string" ? asked : ""}`, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...body,
  });
  return { status: response.status, text: await response.text() };
}
/** Routes that have no better answer here: their words are looked at all the same. */
const PROBLEMS = [
  "post /v1/finish_task",
  "get /v1/results/{id}",
  "post /v1/call_tool",
  "post /v1/catalog/sync",
  "post /v1/catalog/tools/approve",
  "get /v1/skills/{name}",
];
/** An answer without the words that the request itself had. */
const without = (text: string, ...words: string[]): string => words.reduce((rest, word) => rest.replaceAll(word, ""), text);

describe("a token limited to one upstream", () => {
  it.each(routes)("$key names no other upstream, or is refused to it in words", async (route) => {
    const answer = await ask("limited", route);
    const task = "read the notes of a book, count its stripes with stripe_count";
    const unmatched = /"unmatched":\[[^\]]*\]/.exec(answer.text)?.[0] ?? "";
    expect(without(answer.text, task, unmatched)).not.toMatch(FOREIGN);
    if (answer.status === 403) {
      expect(JSON.parse(answer.text)).toMatchObject({ code: "forbidden", data: { upstreams: ["desk"] } });
      expect(answer.text).toContain("this token is limited to desk");
      return;
    }
    // A route that answers with a problem was not looked at: it needs an entry in ASKED, or a reason to stand in PROBLEMS.
    if (!PROBLEMS.includes(route.key)) expect(answer.status, answer.text).toBe(200);
  });

  it("is refused or answered less than a whole one: what was asked does name the other upstream", async () => {
    const naming = [];
    for (const route of routes.filter(({ method }) => method === "get")) {
      if (FOREIGN.test((await ask("whole", route)).text)) naming.push(route.path);
    }
    expect(naming).toEqual(
      expect.arrayContaining(["/v1/catalog", "/v1/catalog/drift", "/v1/catalog/versions", "/v1/catalog/versions/{version}"]),
    );
    expect(naming).toEqual(expect.arrayContaining(["/v1/skills", "/v1/graph", "/v1/episodes", "/v1/views/{id}", "/v1/health"]));
  });

  it("is given what is its own", async () => {
    const get = async (path: string): Promise<string> => (await ask("limited", { key: `get ${path}`, method: "get", path })).text;
    expect(await get("/v1/catalog")).toContain("desk/list_notes");
    expect(await get("/v1/skills")).toContain("notes-read");
    expect(await get("/v1/skills/notes-read")).toContain("Call `desk/list_notes`");
    expect(await get("/v1/health")).toContain('"label":"desk"');
  });

  it.each(["/mcp", "/mcp/direct"])("sees nothing of another by %s either", async (path) => {
    const headers = { authorization: "Bearer limited" };
    const legacy = await legacyClient(url, path, {}, headers);
    const seen: unknown[] = [legacy.getInstructions()];
    seen.push(await legacy.listTools(), await legacy.listPrompts(), await legacy.listResources());
    seen.push(await legacy.listResourceTemplates());
    for (const name of ["notes-count", "stripes-paint"]) {
      const refused = await legacy.getPrompt({ name }).catch((error: unknown) => (error as Error).message);
      expect(refused).toBe(`MCP error -32602: No prompt "${name}" is known.`);
    }
    const uris = (await legacy.listResources()).resources.map(({ uri }) => uri);
    for (const uri of uris) seen.push(await legacy.readResource({ uri }));
    expect(uris.join()).toContain("notes-read");
    expect(JSON.stringify(seen)).not.toMatch(FOREIGN);
    await expect(legacy.readResource({ uri: "skill://library/stripes-paint/SKILL.md" })).rejects.toThrow();
  });
});

it("a view for a limited token names no other upstream, whatever it is pinned to", async () => {
  const limited: Caller = { principal: "ci", rights: new Set(["agent"]), upstreams: new Set(["desk"]), session: undefined };
  await house.operations.pinCatalog({ version: 2, token: "ci" }, person);
  const { body } = await house.operations.retrieveTools({ query: "read_note" }, limited);
  expect(JSON.stringify(body)).toContain("catalog-pinned");
  expect(JSON.stringify(body)).not.toMatch(FOREIGN);
});
