/** Lists that come whole: a cursor that was never given out is refused, not answered with the beginning. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bareSession, closeAll, post, start } from "./start.js";

let url: string;
beforeAll(async () => {
  ({ url } = await start());
});
afterAll(closeAll);

const LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "skills/list"];

describe.each(["/mcp", "/mcp/direct"])("at %s", (path) => {
  it.each(LISTS)("%s refuses a cursor that it never gave out, of whatever kind", async (method) => {
    const session = await bareSession(url, path);
    const ask = async (params: object) =>
      (await post(`${url}${path}`, { jsonrpc: "2.0", id: 1, method, params }, session)).json();
    for (const cursor of ["junk", "MTA=", "-1", 7, { page: 2 }, ["x"], true]) {
      expect(await ask({ cursor }), JSON.stringify(cursor)).toMatchObject({ error: { code: -32602 } });
    }
    expect(await ask({})).toMatchObject({ result: expect.any(Object) });
  });
});
