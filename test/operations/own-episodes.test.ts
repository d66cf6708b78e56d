/** An episode is its token's: another can neither go on in it, nor call in it, nor end it. */
import { afterEach, expect, it } from "vitest";
import type { Fault } from "../../src/model/fault.js";
import type { Caller } from "../../src/model/operations.js";
import { closeHouses, list, makeHome, openHouse, tool } from "../house.js";

afterEach(closeHouses);

const token = (principal: string): Caller => ({
  principal,
  rights: new Set(["agent"]),
  upstreams: undefined,
  session: undefined,
});

it("an episode of another token is answered as one that never was, by every operation that takes one", async () => {
  const { operations } = await scene();
  const { episode } = await operations.startTask({ task: "list the notes" }, token("ann"));
  const uses: readonly ((id: string, caller: Caller) => Promise<unknown>)[] = [
    (id, caller) => operations.startTask({ task: "more", episode: id }, caller),
    (id, caller) => operations.retrieveTools({ query: "notes", episode: id }, caller),
    (id, caller) => operations.exploreCapabilities({ need: "notes", episode: id }, caller),
    (id, caller) => operations.describeTools({ tools: ["desk/list_notes"], episode: id }, caller),
    (id, caller) => operations.callTool({ tool: "desk/list_notes", arguments: {}, episode: id }, caller, options),
    (id, caller) => operations.finishTask({ episode: id, outcome: "success" }, caller),
  ];
  for (const use of uses) {
    for (const other of ["bob", "local", "mcp"]) {
      expect(await said(() => use(episode, token(other)), episode)).toBe(
        await said(() => use("ep_never", token(other)), "ep_never"),
      );
      expect(await said(() => use(episode, token(other)), episode)).toContain("episode-unknown");
    }
  }
  expect((await operations.episode(episode)).episode).toMatchObject({ principal: "ann", turn: 1, calls: 0 });
  expect(await operations.finishTask({ episode, outcome: "success" }, token("ann"))).toMatchObject({ episode });
});

it("callers without a token share their episodes", async () => {
  const { operations } = await scene();
  const { episode } = await operations.startTask({ task: "list the notes" }, token("local"));
  expect(await operations.startTask({ task: "and more", episode }, token("mcp"))).toMatchObject({ episode });
});

const options = { signal: new AbortController().signal, direct: false };

async function scene() {
  const house = await openHouse(makeHome(["desk"]));
  await list(house, "desk", [tool("list_notes", { description: "Lists the notes." })]);
  return house;
}

/** The code and the words of a refusal, whatever the id. */
async function said(work: () => Promise<unknown>, id: string): Promise<string> {
  const error = await Promise.resolve()
    .then(work)
    .then(
      () => undefined,
      (thrown: unknown) => thrown as Fault,
    );
  return error === undefined ? "answered" : `${error.code}: ${error.message.replaceAll(id, "<id>")}`;
}
