/** What `/v1` takes: nothing is read as something else, nothing is left out without a word, whatever the route. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import type { JsonObject } from "../../src/model/json.js";
import { ROUTES } from "../../src/surfaces/http/routes.js";
import { closeAll, start } from "./start.js";
import type { Started } from "./start.js";

let started: Started;
beforeAll(async () => {
  started = await start();
});
afterAll(closeAll);

interface Answer {
  readonly status: number;
  readonly detail: string;
}

async function ask(method: string, path: string, body?: string): Promise<Answer> {
  const response = await fetch(`${started.url}/v1${path}`, {
    method: method.toUpperCase(),
    ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
  });
  const { detail } = (await response.json()) as JsonObject;
  return { status: response.status, detail: String(detail) };
}

const pathOf = (path: string): string => path.replace(/:[a-z]+/g, "x");
/** Fields of a query that are numbers: those that take digits and no word. */
const numbersOf = (query: z.ZodObject | undefined): string[] =>
  Object.entries(query?.shape ?? {})
    .filter(([, schema]) => (schema as z.ZodType).safeParse("3").data === 3)
    .map(([name]) => name);
const NUMBERED = ROUTES.flatMap((route) => numbersOf(route.query).map((field) => ({ route, field })));
const NO_NUMBERS = ["", "%20", "%203", "3%20", "0x3", "1e1", "-1", "%2B1", "1.5", "abc", "NaN", "true", "99999999999999999999"];

describe("a number in a query", () => {
  it("is there to be tried", () => {
    expect(NUMBERED.length).toBeGreaterThan(6);
  });

  it.each(NUMBERED)("$field of $route.path is digits alone: an empty text is no 0 and 0x3 no 3", async ({ route, field }) => {
    const others = route.query?.shape["query"] === undefined ? "" : "&query=order";
    for (const text of NO_NUMBERS) {
      const answer = await ask(route.method, `${pathOf(route.path)}?${field}=${text}${others}`);
      expect([text, answer.status], answer.detail).toEqual([text, 400]);
      expect(answer.detail).toContain(field);
    }
  });

  it("of a path is named and says what it must be", async () => {
    for (const text of ["abc", "%20", "0x1", "1e0"])
      expect(await ask("get", `/catalog/versions/${text}`)).toEqual({
        status: 400,
        detail: "version: must be a whole number, 0 or more",
      });
  });
});

describe("a number in a body", () => {
  it.each([true, false, "", "3", [3], [], {}, 1.5, -1])(
    "is a number and nothing that could be read as one: %j",
    async (version) => {
      const answer = await ask("post", "/catalog/pin", JSON.stringify({ version }));
      expect(answer).toEqual({ status: 400, detail: "version: must be a whole number, 0 or more" });
    },
  );
});

describe("what a route does not know of a query", () => {
  it.each(ROUTES)("is refused by $method $path, not answered as if it had not been asked", async ({ method, path }) => {
    const answer = await ask(method, `${pathOf(path)}?vrsion=3`);
    expect(answer.status).toBe(400);
    expect(answer.detail).toContain("vrsion");
  });
});

describe("a name __proto__ in a body", () => {
  const bodies: readonly [string, string, string][] = [
    ["/catalog/lineage/add", '{"from":"shop/a","to":"shop/b","params":{"__proto__":"x"}}', "params.__proto__"],
    ["/catalog/lineage/add", '{"from":"shop/a","to":"shop/b","fixed":{"__proto__":1}}', "fixed.__proto__"],
    ["/catalog/lineage/add", '{"from":"shop/a","to":"shop/b","fixed":{"mode":[{"__proto__":1}]}}', "fixed.mode.0.__proto__"],
    ["/library/import", '{"folders":[{"folder":"x","files":{"__proto__":"y"}}]}', "folders.0.files.__proto__"],
    ["/episodes/import", '{"episodes":[],"map":{"__proto__":""}}', "map.__proto__"],
    ["/catalog/sync", '{"__proto__":{"upstream":"shop"}}', "__proto__"],
  ];
  it.each(bodies)("of %s is refused where it stands, not left out: %s", async (path, body, where) => {
    const answer = await ask("post", path, body);
    expect(answer).toEqual({ status: 400, detail: `${where}: nothing can be called __proto__ here.` });
  });
});

describe("a takeover without its sides", () => {
  it.each(["{}", '{"from":5,"to":[]}', '{"from":{},"to":[1]}'])("says what they are: %s", async (body) => {
    const { status, detail } = await ask("post", "/catalog/lineage/add", body);
    expect(status).toBe(400);
    expect(detail).toContain("from: must be a tool's key or name, or a list of 1 to 50 of them");
    expect(detail).toContain("to: must be");
  });
});
