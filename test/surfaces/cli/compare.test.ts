import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERDICTS } from "../../../src/model/drift.js";
import type { JsonObject } from "../../../src/model/json.js";
import { footprint, openDesk, shopFile, type Desk } from "./stand.js";

let desk: Desk;
let first: string;
let second: string;

beforeAll(async () => {
  desk = await openDesk();
  first = desk.file("v1.json", { tools: shopFile(1) });
  second = desk.file("v2.json", { tools: shopFile(2) });
});
afterAll(() => desk.drop());

const rows = (value: unknown): JsonObject[] => value as JsonObject[];

describe("drift between two catalog files", () => {
  it("is typed, names who took over, and tells which skills of the home would rest", async () => {
    const said = await desk.run("catalog", "drift", first, second, "--json");
    expect(said.code).toBe(11);
    const drift = JSON.parse(said.out) as JsonObject;
    expect(drift["removed"]).toEqual(["depot/check_stock", "shop/find_customer"]);
    expect(rows(drift["changes"])).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ tool: "shop/open_return", rule: "I1", field: "condition" }),
        expect.objectContaining({ tool: "shop/find_customer", rule: "T3" }),
      ]),
    );
    expect(drift["unclassified"]).toBe(0);
    expect(rows(drift["lineage"])).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ tool: "shop/find_customer", to: ["shop/lookup_customer"], level: "certain" }),
      ]),
    );
    expect(rows(drift["skills"]).map((row) => row["skill"])).toContain("atomic-open-return");
  });

  it("needs no home and no daemon", async () => {
    const said = await desk.run("catalog", "drift", first, second, "--home", `${desk.folder}/nowhere`);
    // Without skills nothing rests; the changes need a look.
    expect(said.code).toBe(10);
    expect(said.out).toMatch(/T3 +breaking +shop\/find_customer/);
  });

  it("shows what breaks first, and how much of what there is", async () => {
    const lines = (await desk.run("catalog", "drift", first, second)).out.split("\n");
    const verdicts = lines.flatMap((line) => /^ {2}[A-Z]\d+ +([a-z]+) /.exec(line)?.[1] ?? []);
    const groups = verdicts.filter((verdict, index) => verdict !== verdicts[index - 1]);
    expect(groups).toEqual(VERDICTS.filter((verdict) => groups.includes(verdict)));
    expect(groups.length).toBeGreaterThan(1);
    const counts = groups.map((verdict) => `${verdicts.filter((one) => one === verdict).length} ${verdict}`);
    expect(lines[0]).toMatch(new RegExp(` · ${counts.join(", ")}$`));
  });

  it("says on stderr, in one line, which home it leaves out because it cannot be read, and answers without its skills", async () => {
    const broken = `${desk.folder}/broken`;
    mkdirSync(`${broken}/config`, { recursive: true });
    writeFileSync(`${broken}/config/steward.json`, "{ torn");
    for (const home of [broken, `${desk.folder}/nowhere`])
      for (const verb of ["drift", "lineage"]) {
        const said = await desk.run("catalog", verb, first, second, "--home", home);
        expect([said.code === 10 || said.code === 0, said.out === ""]).toEqual([true, false]);
        expect(said.err.trim().split("\n")).toEqual([expect.stringMatching(`^${home}: The home is left out, and with it what`)]);
      }
    expect((await desk.run("catalog", "drift", first, second)).err).not.toContain("left out");
  });

  const unsafe = (tool: JsonObject): JsonObject =>
    tool["name"] === "get_order" ? { ...tool, annotations: { readOnlyHint: false } } : tool;
  const larger = (tool: JsonObject): JsonObject =>
    tool["name"] === "get_order" ? { ...tool, icons: [{ src: "data:," }] } : tool;
  const poisoned = (tool: JsonObject): JsonObject =>
    tool["name"] === "get_order" ? { ...tool, description: `${String(tool["description"])} \u{e0041}\u{e0042}` } : tool;
  it.each([
    ["compatible drift only", 0, larger],
    ["a safety change", 12, unsafe],
    ["hidden characters in a text", 12, poisoned],
  ] as const)("%s ends with %i", async (_what, code, change) => {
    const path = desk.file("changed.json", { tools: shopFile(1, change) });
    expect((await desk.run("catalog", "drift", first, path)).code).toBe(code);
  });

  it("takes files in every shape, in either order, and says the same", async () => {
    const shop = shopFile(1, (tool) => (tool["server"] === "shop" ? tool : undefined));
    const bare = shop.map(({ server: _server, ...tool }) => tool);
    const array = desk.file("array.json", shop);
    const result = desk.file("result.json", { result: { tools: bare } });
    const plain = desk.file("plain.json", { server: "shop", tools: bare });
    for (const path of [result, plain]) expect((await desk.run("catalog", "drift", array, path, "--label", "shop")).code).toBe(0);
    const forth = (await desk.json("catalog", "drift", first, second)) as JsonObject;
    const back = (await desk.json("catalog", "drift", second, first)) as JsonObject;
    expect([forth["added"], forth["removed"]]).toEqual([back["removed"], back["added"]]);
  });

  it("compares a file with the version in force where one side is given, and leaves the home alone", async () => {
    const before = footprint(desk.home);
    const drift = (await desk.json("catalog", "drift", second)) as JsonObject;
    expect(drift["to"]).toBe(second);
    expect(rows(drift["changes"]).some((row) => row["rule"] === "T3")).toBe(true);
    expect(footprint(desk.home)).toEqual(before);
  });
});

describe("lineage between two catalog files", () => {
  it("shows who took over from whom, how sure, by what evidence; what is certain needs nobody", async () => {
    const said = await desk.run("catalog", "lineage", first, second);
    expect(said.code).toBe(0);
    expect(said.out).toMatch(/shop\/find_customer → shop\/lookup_customer \(renamed, certain, /);
    expect(said.out).toMatch(/equal contract and equal texts/);
  });

  it("says where nothing was found and what came nearest, and asks for a look", async () => {
    const path = desk.file("gone.json", { tools: shopFile(1, (tool) => (tool["name"] === "cancel_order" ? undefined : tool)) });
    const said = await desk.run("catalog", "lineage", first, path);
    expect([said.code, said.out]).toEqual([10, expect.stringMatching(/shop\/cancel_order → nothing found/)]);
  });
});
