import { afterEach, describe, expect, it } from "vitest";
import type { CliPorts } from "../../../src/surfaces/cli/access.js";
import { EXIT } from "../../../src/surfaces/cli/access.js";
import { runCli } from "../../../src/surfaces/cli/program.js";
import { createPrint } from "../../../src/host/print.js";
import { closeHouses, list, makeHome, openHouse, tool } from "../../house.js";
import { openDesk } from "./stand.js";

afterEach(closeHouses);

/** Runs a verb against a daemon that answers everything with nothing; tells what it was asked, and by which method. */
async function asked(argv: readonly string[]): Promise<{ code: number; err: string; paths: string[] }> {
  const paths: string[] = [];
  let err = "";
  const print = createPrint({ out: { write: () => true }, err: { write: (text) => (err += text) }, env: { NO_COLOR: "1" } });
  const ask = (_method: string, path: string) => {
    paths.push(path);
    return Promise.resolve(path.includes("lint") ? [] : {});
  };
  const access = { ask, follow: ask, askText: (path: string) => ask("GET", path).then(() => ""), close: () => Promise.resolve() };
  const ports = {
    print,
    version: "0",
    cwd: ".",
    openAccess: () => Promise.resolve(access),
    confirm: () => Promise.resolve(true),
  };
  const code = await runCli(argv, ports as unknown as CliPorts);
  return { code, err, paths };
}

/** Every verb that takes a person's words or names, with the place of the text marked. */
const VERBS: readonly string[][] = [
  ["retrieve", "@"],
  ["retrieve", "@", "--at", "1"],
  ["retrieve", "order", "--episode", "@"],
  ["explore", "@"],
  ["provision", "@"],
  ["provision", "order", "--hint", "@"],
  ["describe", "@"],
  ["call", "@"],
  ["call", "shop/x", "@"],
  ["catalog", "show", "@"],
  ["catalog", "show", "@", "--at", "1"],
  ["catalog", "sync", "@"],
  ["catalog", "approve", "@"],
  ["catalog", "pin", "1", "--token", "@"],
  ["catalog", "pin", "1", "--session", "@"],
  ["catalog", "lineage", "show", "@"],
  ["catalog", "lineage", "confirm", "@"],
  ["catalog", "lineage", "reject", "@"],
  ["catalog", "lineage", "add", "@", "@", "--map", "a=@", "--fix", "b=@"],
  ["graph", "why", "@"],
  ["graph", "why", "@", "--at", "1"],
  ["skills", "show", "@"],
  ["skills", "history", "@"],
  ["skills", "approve", "@"],
  ["skills", "pin", "@"],
  ["skills", "unpin", "@"],
  ["skills", "remove", "@"],
  ["skills", "revert", "1", "@"],
  ["episodes", "show", "@"],
  ["episodes", "verify", "@", "success"],
  ["episodes", "verify", "ep_1", "success", "--note", "@"],
  ["episodes", "export", "@"],
  ["replay", "@"],
  ["maintain", "--accept", "@"],
];
const put = (verb: readonly string[], text: string): string[] => verb.map((part) => part.replace("@", text));

/** Headers of a request may take 16 KB in all; the address is one of them, and not the only one. */
const ADDRESS_BYTES = 12_000;

describe("what a person types", () => {
  it.each(VERBS.map((verb) => [verb.join(" "), verb] as const))(
    "goes into no address that a request's headers could not hold: %s",
    async (_name, verb) => {
      const { code, err, paths } = await asked(put(verb, "注文を取り消して返金する。".repeat(400)));
      for (const path of paths) expect(path.length).toBeLessThan(ADDRESS_BYTES);
      // What is too long for an address is a name of nothing, and that is said.
      if (paths.length === 0) expect([code, err]).toEqual([EXIT.usage, expect.stringMatching(/is not the name of an? \w+/)]);
    },
  );

  it.each(VERBS.map((verb) => [verb.join(" "), verb] as const))(
    "asks for nothing else where it is empty, dots or slashes: %s",
    async (_name, verb) => {
      const routes = async (text: string): Promise<string[]> =>
        (await asked(put(verb, text))).paths.map((path) => new URL(path, "http://x").pathname.replaceAll(/%2F|%20|name/g, "_"));
      const usual = await routes("name");
      for (const text of ["", ".", "..", "../..", "a/b", "a?b", "a#b"]) {
        const shape = (path: string): number => path.split("/").length;
        for (const [at, path] of (await routes(text)).entries())
          expect([text, shape(path)]).toEqual([text, shape(usual[at] ?? "")]);
      }
    },
  );

  it("may be a need of thousands of letters as of an earlier version, as it may be of the present one", async () => {
    const desk = await openDesk();
    const home = makeHome(["shop"]);
    const house = await openHouse(home);
    await list(house, "shop", [tool("cancel_order", { description: "Cancels an order." })]);
    await list(house, "shop", [tool("find_order", { description: "Finds an order." })]);
    await house.stop();
    const need = `cancel an order ${"注文を取り消す".repeat(560)}`;
    const said = await desk.run("retrieve", need, "--at", "1", "--json", "--home", home);
    expect([said.code, said.err]).toEqual([EXIT.fine, ""]);
    expect(JSON.parse(said.out)).toMatchObject({ version: 1, tools: [{ tool: "shop/cancel_order" }] });
    const refused = await desk.run("retrieve", "an order", "--at", "1", "--full", "--home", home);
    expect([refused.code, refused.err]).toEqual([EXIT.usage, expect.stringContaining("--full")]);
    desk.drop();
  });
});
