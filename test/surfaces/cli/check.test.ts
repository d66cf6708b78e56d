import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compose } from "../../../src/compose.js";
import { silentLog } from "../../../src/host/log.js";
import type { JsonObject } from "../../../src/model/json.js";
import { EXIT, type CheckAnswer } from "../../../src/surfaces/cli/access.js";
import { footprint, openDesk, shopFile, type Desk } from "./stand.js";
import { SARIF_SCHEMA } from "./sarif-schema.js";

let desk: Desk;
let next: string;

beforeAll(async () => {
  desk = await openDesk();
  next = desk.file("next.json", { tools: shopFile(2) });
});
afterAll(() => desk.drop());

const answerOf = async (...argv: string[]): Promise<CheckAnswer> => (await desk.json("check", ...argv)) as unknown as CheckAnswer;
const skillsOf = (answer: CheckAnswer, outcome: string): string[] =>
  answer.skills.filter((skill) => skill.outcome === outcome).map((skill) => skill.skill);

describe("steward check", () => {
  it("says fine where nothing moves", async () => {
    const same = await desk.run("check", "--against", desk.file("same.json", { tools: shopFile(1) }));
    expect(same.code).toBe(0);
    expect(same.out).toContain("No skill would be touched.");
  });

  it("names the skills that would rest with rule, tool, parameter and both values, who takes over, and what maintenance would do", async () => {
    const answer = await answerOf("--against", next);
    expect(skillsOf(answer, "rests")).toEqual(expect.arrayContaining(["atomic-find-customer", "atomic-open-return"]));
    const open = answer.skills.find((skill) => skill.skill === "atomic-open-return");
    expect(open?.causes[0]).toMatchObject({ on: "shop/open_return", rule: "I1", level: "breaking", field: "condition" });
    expect(open?.causes[0]?.after).toBeDefined();
    expect(open?.maintenance?.how).toBe("proposed");
    const find = answer.skills.find((skill) => skill.skill === "atomic-find-customer");
    expect(find?.successors).toMatchObject([{ tool: "shop/find_customer", to: ["shop/lookup_customer"], level: "certain" }]);
    expect(find?.maintenance?.how).toBe("applied");
    const line = readFileSync(join(desk.home, "skills/atomic-find-customer/SKILL.md"), "utf8").split("\n")[
      (find?.places[0]?.line ?? 0) - 1
    ];
    expect(line).toContain("shop/find_customer");
    expect(JSON.stringify(answer)).not.toContain("after catalog version");
  });

  it("tells what it found also where the SARIF file cannot be written, and says why that is", async () => {
    for (const path of ["no/such/folder/check.sarif", desk.home]) {
      const said = await desk.run("check", "--against", next, "--sarif", path);
      expect(said.code).toBe(EXIT.usage);
      expect(said.out).toContain("Would rest");
      expect(said.err).toContain(`${path} cannot be written`);
    }
  });

  it("leaves out the tool that the daemon would leave out for its depth, and no other", async () => {
    const deep = (levels: number): JsonObject => {
      let schema: JsonObject = { type: "string" };
      for (let level = 0; level < levels; level++) schema = { type: "object", properties: { a: schema } };
      return schema;
    };
    for (const [levels, left] of [
      [40, 0],
      [60, 0],
      [120, 1],
      [240, 1],
    ] as const) {
      const path = desk.file("deep.json", [...shopFile(1), { server: "shop", name: "deep", inputSchema: deep(levels) }]);
      const said = await desk.run("check", "--against", path);
      expect([levels, said.code], said.err).toEqual([levels, 0]);
      expect(said.err.split("nested deeper than").length - 1).toBe(left);
    }
    const whole = await desk.run("check", "--against", desk.file("deep.json", [{ name: "deep", inputSchema: deep(400) }]));
    expect(whole).toMatchObject({ code: EXIT.usage, err: expect.stringContaining("nested deeper than 512 levels") });
  });

  it("says a look is needed where only texts moved", async () => {
    const texts = shopFile(1, (tool) => (tool["name"] === "get_order" ? { ...tool, description: "Another text." } : tool));
    const path = desk.file("texts.json", texts);
    const answer = await answerOf("--against", path);
    expect(new Set(answer.skills.map((skill) => skill.outcome))).toEqual(new Set(["review"]));
    expect((await desk.run("check", "--against", path)).code).toBe(10);
  });

  it("says what would be held, and that is the highest code", async () => {
    const path = desk.file(
      "unsafe.json",
      shopFile(2, (tool) =>
        tool["name"] === "get_order" ? { ...tool, annotations: { readOnlyHint: false, destructiveHint: true } } : tool,
      ),
    );
    const answer = await answerOf("--against", path);
    expect(answer.held.map((one) => one.tool)).toEqual(["shop/get_order"]);
    expect(skillsOf(answer, "held").length).toBeGreaterThan(0);
    expect(skillsOf(answer, "rests").length).toBeGreaterThan(0);
    expect((await desk.run("check", "--against", path)).code).toBe(12);
  });

  it("leaves upstreams alone that a catalog file does not name", async () => {
    const answer = await answerOf(
      "--against",
      desk.file(
        "shop-only.json",
        shopFile(1, (tool) => (tool["server"] === "shop" ? tool : undefined)),
      ),
    );
    expect(answer.skills).toEqual([]);
    expect(answer.drift.removed).toEqual([]);
  });

  it("takes a tools/list result of one server under the label given, and asks for it where it cannot know", async () => {
    const list = {
      tools: shopFile(2, (tool) => (tool["server"] === "shop" ? { ...tool, server: undefined as never } : undefined)),
    };
    const path = desk.file("list.json", { jsonrpc: "2.0", id: 1, result: list });
    const lost = await desk.run("check", "--against", path);
    expect([lost.code, lost.err]).toEqual([2, expect.stringContaining("--label")]);
    const answer = await answerOf("--against", path, "--label", "shop");
    expect(skillsOf(answer, "rests")).toContain("atomic-open-return");
  });

  it("starts and lists the servers of an mcpServers file; one that does not start is told and keeps what it has", async () => {
    const server = resolve(import.meta.dirname, "../../fixtures/servers/paginated.mjs");
    const path = desk.file("mcp.json", {
      mcpServers: {
        shop: { command: process.execPath, args: [server] },
        depot: { command: "no-such-program-anywhere" },
      },
    });
    const answer = await answerOf("--against", path);
    expect(answer.unlisted.map((one) => one.label)).toEqual(["depot"]);
    expect(answer.drift.added).toContain("shop/tool-4");
    expect(answer.drift.removed.every((key) => key.startsWith("shop/"))).toBe(true);
    expect(skillsOf(answer, "rests").length).toBeGreaterThan(0);
    expect(skillsOf(answer, "rests")).not.toContain("atomic-restock-article");
  }, 60_000);

  it("counts a server that left the configuration as gone, unless others are kept", async () => {
    const server = resolve(import.meta.dirname, "../../fixtures/servers/paginated.mjs");
    const path = desk.file("one.json", { mcpServers: { extra: { command: process.execPath, args: [server] } } });
    const gone = await answerOf("--against", path);
    expect(gone.drift.removed.length).toBe(gone.from.tools);
    const kept = await answerOf("--against", path, "--keep-others");
    expect([kept.drift.removed, kept.skills]).toEqual([[], []]);
  }, 60_000);

  it.each([
    ["lists nothing", [], ["--label", "shop"]],
    ["lists nothing, and says so itself", { server: "shop", tools: [] }, []],
    ["has no tool that could be read", [{ name: 1 }, { title: "no name" }, null], ["--label", "shop"]],
  ])("takes a server that %s for one whose tools are gone, as a daemon would", async (_what, json, flags) => {
    const answer = await answerOf("--against", desk.file("nothing.json", json), ...flags);
    expect(answer.drift.removed.length).toBeGreaterThan(0);
    expect(answer.drift.removed.every((key) => key.startsWith("shop/"))).toBe(true);
    expect(skillsOf(answer, "rests").length).toBeGreaterThan(0);
  });

  it("leaves an upstream alone of which a file has nothing but what is no object", async () => {
    const only = shopFile(1, (tool) => (tool["server"] === "depot" ? tool : undefined));
    const answer = await answerOf("--against", desk.file("odd.json", [...only, null, "x"]), "--label", "shop");
    expect(answer.drift.removed).toEqual([]);
  });

  it("reads a catalog that is packed with gzip as it reads it unpacked", async () => {
    const packed = join(desk.folder, "next.json.gz");
    writeFileSync(packed, gzipSync(readFileSync(next)));
    const [plain, unpacked] = [await answerOf("--against", next), await answerOf("--against", packed)];
    expect(unpacked.drift).toEqual(plain.drift);
    expect(skillsOf(unpacked, "rests")).toEqual(skillsOf(plain, "rests"));
    expect((await desk.run("catalog", "drift", packed, next)).code).toBe(0);
  });

  it("names no version of the home that it has not", async () => {
    const said = await desk.run("check", "--against", "2");
    expect([said.code, said.err]).toEqual([
      2,
      expect.stringMatching(/Version 2 is not kept: none is, since nothing was listed yet/),
    ]);
    const drift = await desk.run("catalog", "drift", next);
    expect(drift.out).toMatch(/^what the skills were verified against → /);
  });

  it("changes nothing in the home, not even a folder", async () => {
    const before = footprint(desk.home);
    for (const format of ["text", "json", "markdown", "sarif"]) await desk.run("check", "--against", next, "--format", format);
    expect(footprint(desk.home)).toEqual(before);
    expect(existsSync(join(desk.home, "state"))).toBe(false);
  });

  it("names the file and the way out where it cannot read what it is given", async () => {
    const [wide, cut] = [join(desk.folder, "wide.json"), join(desk.folder, "cut.gz")];
    writeFileSync(wide, Buffer.from("\ufeff[]", "utf16le"));
    writeFileSync(cut, gzipSync(readFileSync(next)).subarray(0, 60));
    const cases: [string, RegExp][] = [
      [join(desk.folder, "none.json"), /none\.json cannot be read/],
      [desk.file("torn.json", '{"tools": ['), /torn\.json, line 1/],
      [desk.file("nobody.json", []), /nobody\.json has no tool that could be read and names no upstream/],
      [
        desk.file("page.json", { result: { tools: [{ name: "a" }], nextCursor: "x" } }),
        /page\.json: This is one page of a listing/,
      ],
      [desk.file("newer.json", { format: "catalog-manifest/9", tools: {} }), /newer\.json: It is of format catalog-manifest\/9/],
      [
        desk.file("elsewhere.json", {
          format: "catalog-manifest/1",
          tools: { "shop/x": { contract: "a", text: "b", document: "c" } },
        }),
        /definitions of 1 of its tools \(shop\/x\) are neither in its home nor in this one/,
      ],
      [wide, /wide\.json is encoded as UTF-16/],
      [cut, /cut\.gz is packed with gzip and cannot be unpacked/],
      [desk.file("other.json", { hello: 1 }), /other\.json.*no catalog file/],
      ["7", /Version 7 is not kept/],
    ];
    for (const [against, says] of cases) {
      const said = await desk.run("check", "--against", against);
      expect([said.code, said.err]).toEqual([2, expect.stringMatching(says)]);
    }
    expect((await desk.run("check", "--against", next, "--format", "xml")).code).toBe(2);
    expect((await desk.run("check")).code).toBe(2);
  });

  it("gives SARIF that keeps the standard's structure, with each finding at the skill's own line", async () => {
    const { out, code } = await desk.run("check", "--against", next, "--format", "sarif");
    expect(code).toBe(11);
    const sarif = JSON.parse(out) as JsonObject;
    const ajv = new Ajv2020({
      allErrors: true,
      formats: { uri: true, "uri-reference": (uri: string) => URL.canParse(uri, "file:///") },
    });
    ajv.validate(SARIF_SCHEMA, sarif);
    expect(ajv.errors ?? []).toEqual([]);
    const run = (sarif["runs"] as unknown as SarifRun[])[0];
    expect(run?.results.length).toBeGreaterThan(0);
    for (const result of run?.results ?? []) {
      expect(run?.tool.driver.rules[result.ruleIndex]?.id).toBe(result.ruleId);
      const { artifactLocation, region } = result.locations[0]?.physicalLocation ?? {
        artifactLocation: { uri: "" },
        region: { startLine: 0 },
      };
      const lines = readFileSync(join(desk.folder, artifactLocation.uri), "utf8").split("\n");
      expect(artifactLocation.uri).toMatch(/^home\/skills\/[a-z-]+\/SKILL\.md$/);
      expect(lines.length).toBeGreaterThanOrEqual(region.startLine);
      expect(result.relatedLocations?.[0]?.physicalLocation.artifactLocation.uri ?? "contract.json").toMatch(/contract\.json$/);
    }
    const ids = run?.results.map((result) => JSON.stringify(result.partialFingerprints)) ?? [];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("gives Markdown in which no text of a server is markup", async () => {
    const path = desk.file(
      "markup.json",
      shopFile(1, (tool) =>
        tool["name"] === "get_order" ? { ...tool, description: "<img src=x> | **now** `rm`\n# Head" } : tool,
      ),
    );
    const { out } = await desk.run("check", "--against", path, "--format", "markdown");
    expect(out).toContain("## STEWARD check");
    expect(out).not.toMatch(/^# Head/m);
    for (const row of out.split("\n").filter((line) => line.startsWith("| `")))
      expect(row.replaceAll("\\|", "").split("|").length).toBe(5);
  });
});

describe("the example for GitHub Actions", () => {
  const path = resolve(import.meta.dirname, "../../../.github/examples/steward-check.yml");
  const workflow = parse(readFileSync(path, "utf8")) as {
    jobs: { check: { steps: { id?: string; name?: string; run?: string }[] } };
  };
  const step = (name: string): string => workflow.jobs.check.steps.find((one) => one.id === name || one.name === name)?.run ?? "";

  it("asks with words that the command line knows, and leaves the findings where the next step takes them", async () => {
    const line = step("check")
      .split("\n")
      .find((one) => one.includes(" check "));
    const argv = (/main\.js (.*?) >>/.exec(line ?? "")?.[1] ?? "").split(" ");
    const files: Record<string, string> = {
      steward: desk.home,
      ".mcp.json": next,
      "steward.sarif": join(desk.folder, "steward.sarif"),
    };
    const said = await desk.run(...argv.map((word) => files[word] ?? word));
    expect([said.code, said.err]).toEqual([11, ""]);
    expect(said.out).toContain("### Would rest");
    expect(JSON.parse(readFileSync(join(desk.folder, "steward.sarif"), "utf8"))).toMatchObject({ version: "2.1.0" });
  });

  it("has a verdict for each exit code", () => {
    for (const code of [EXIT.fine, EXIT.review, EXIT.inactive, EXIT.safety]) expect(step("Verdict")).toContain(`  ${code}) echo`);
  });
});

interface SarifPlace {
  readonly physicalLocation: {
    readonly artifactLocation: { readonly uri: string };
    readonly region: { readonly startLine: number };
  };
}
interface SarifRun {
  readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
  readonly results: readonly {
    readonly ruleId: string;
    readonly ruleIndex: number;
    readonly locations: readonly SarifPlace[];
    readonly relatedLocations?: readonly SarifPlace[];
    readonly partialFingerprints: JsonObject;
  }[];
}

describe("a check beside a daemon on the same home", () => {
  it("reads without the lock what the daemon has on disc, and says what the daemon does when it happens", async () => {
    const own = await openDesk();
    const house = await compose({ home: own.home, env: {}, main: "", log: silentLog, upstreams: false, watch: false });
    try {
      const list = async (version: number): Promise<void> => {
        const { readCatalogFile } = await import("../../../src/catalog/files.js");
        const { tools } = readCatalogFile(shopFile(version));
        for (const label of ["shop", "depot"] as const)
          await house.steward.post({
            kind: "listing",
            at: new Date().toISOString(),
            label: label as never,
            tools: tools.filter((tool) => tool.label === (label as never)),
            problems: [],
            cause: "sync",
          });
      };
      await list(1);
      const before = house.steward.world().catalog.version;
      const answer = (await own.json("check", "--against", own.file("next.json", shopFile(2)))) as unknown as CheckAnswer;
      expect(answer.from.catalog).toBe(before);
      expect(house.steward.world().catalog.version).toBe(before);
      await list(2);
      const { standings } = house.steward.world();
      const resting = [...standings].filter(([, standing]) => standing.standing === "inactive").map(([name]) => name);
      expect(answer.skills.filter((skill) => skill.outcome === "rests").map((skill) => skill.skill)).toEqual(resting.sort());
      expect(resting.length).toBeGreaterThan(0);
      // Going back is a version: what rests now would be in use again.
      const back = (await own.json("check", "--against", String(before))) as unknown as CheckAnswer;
      expect(back.skills.filter((skill) => skill.outcome === "wakes").map((skill) => skill.skill)).toEqual(resting);
    } finally {
      await house.stop();
      own.drop();
    }
  });

  it("works on a checkout that has skills and definitions only", async () => {
    const own = await openDesk();
    rmSync(join(own.home, "config"), { recursive: true });
    const answer = (await own.json("check", "--against", own.file("next.json", shopFile(2)))) as unknown as CheckAnswer;
    expect(answer.from).toMatchObject({ catalog: 0, skills: 43 });
    expect(answer.skills.some((skill) => skill.outcome === "rests")).toBe(true);
    own.drop();
  });
});
