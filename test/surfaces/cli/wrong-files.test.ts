import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readJson } from "../../../src/rehearse/files.js";
import { EXIT } from "../../../src/surfaces/cli/access.js";
import { openDesk, shopFile, type Desk } from "./stand.js";

let desk: Desk;
let good: string;
beforeAll(async () => {
  desk = await openDesk();
  good = desk.file("good.json", shopFile(1));
});
afterAll(() => desk.drop());

const TOOLS = JSON.stringify({ server: "shop", tools: [{ name: "a", inputSchema: { type: "object" } }] });
const tar = Buffer.alloc(1024);
tar.write("tools.json");
tar.write("ustar", 257);

/** Files that are no JSON, with what is said after the file's name. */
const NO_JSON: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ["empty.json", "", /is empty: what wrote it has failed/],
  ["blank.json", "\n \n", /is empty/],
  ["bom.json", "\ufeff", /is empty/],
  ["page.json", "<!DOCTYPE html>\n<html><body>Sign in</body></html>", /is a web page or XML \(it begins with "<!DOCTYPE html>/],
  ["answer.xml", '<?xml version="1.0"?><error/>', /is a web page or XML/],
  ["stream.txt", `event: message\ndata: {"result":${TOOLS}}\n\n`, /is an event stream: keep the JSON behind `data:`/],
  ["dump.jsonl", `${TOOLS}\n${TOOLS}\n`, /has one JSON document a line \(JSONL\).*jq -s/],
  ["dump2.jsonl", `\ufeff${TOOLS}\r\n\r\n${TOOLS}`, /one JSON document a line/],
  ["wide.json", Buffer.from(`\ufeff${TOOLS}`, "utf16le"), /is encoded as UTF-16\. Save it as UTF-8/],
  ["bare-wide.json", Buffer.from(TOOLS, "utf16le"), /is encoded as UTF-16/],
  ["latin.json", Buffer.from('{"tools": "\u00e9"}', "latin1"), /is not UTF-8 text/],
  ["tools.zip", Buffer.from("PK\u0003\u0004 and more of it"), /is a zip archive/],
  ["tools.zst", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]), /packed with zstd, bzip2 or xz/],
  ["tools.tar.gz", gzipSync(tar), /is a tar archive/],
  ["page.json.gz", gzipSync("<html></html>"), /is a web page/],
  ["torn.json", TOOLS.slice(0, -3), /line 1, column \d+: the file ends/],
  ["list.yaml", "tools:\n  - name: a\n", /line 1, column 1: "tools" is not a value/],
];

describe("a file that is no JSON", () => {
  it.each(NO_JSON)("(%s) is called what it is, with the way out", (name, bytes, says) => {
    writeFileSync(join(desk.folder, name), bytes);
    const read = (): unknown => readJson(desk.folder, name);
    expect(read).toThrow(says);
    expect(read).toThrow(name);
    expect(read).toThrow(expect.objectContaining({ exit: EXIT.usage }));
  });

  it("is told so by every verb that takes one", async () => {
    const path = desk.file("login.html", "<!DOCTYPE html>");
    for (const argv of [
      ["check", "--against", path],
      ["catalog", "drift", good, path],
      ["catalog", "drift", path],
      ["catalog", "lineage", path, good],
    ]) {
      const said = await desk.run(...argv);
      expect([said.code, said.out, said.err]).toEqual([
        EXIT.usage,
        "",
        expect.stringMatching(/login\.html is a web page or XML/),
      ]);
    }
  });
});

describe("what is given in place of a catalog file", () => {
  const drift = async (ref: string): Promise<string> => {
    const said = await desk.run("catalog", "drift", good, ref);
    expect(said.code).toBe(EXIT.usage);
    return said.err;
  };

  it("may be an error that a server answered: its own words are shown", async () => {
    const path = desk.file("denied.json", { jsonrpc: "2.0", id: 1, error: { code: -32001, message: "Session expired" } });
    expect(await drift(path)).toMatch(/denied\.json: This is an error.*"Session expired" \(code -32001\)/);
    expect((await desk.run("check", "--against", path)).err).toContain("Session expired");
  });

  it("may be an mcpServers file, which `check` takes and a comparison names", async () => {
    expect(await drift(desk.file("servers.json", { mcpServers: { x: { command: "x" } } }))).toContain(
      "`steward check --against`",
    );
  });

  it("may be a version written like one, a home, or a folder", async () => {
    expect(await drift("v12")).toContain("by its number alone: 12");
    mkdirSync(join(desk.folder, "other/catalog/versions"), { recursive: true });
    expect(await drift("other")).toContain("name it with --home");
    mkdirSync(join(desk.folder, "plain"));
    expect(await drift("plain")).toMatch(/plain cannot be read \(EISDIR.*give a catalog file or the number of a version/);
  });
});

describe("a catalog file that is read otherwise than it may be meant", () => {
  it("is read with a byte order mark as without", async () => {
    const marked = join(desk.folder, "marked.json");
    writeFileSync(marked, `\ufeff${JSON.stringify(shopFile(1))}`);
    expect(await desk.run("catalog", "drift", good, marked)).toMatchObject({ code: EXIT.fine, err: "" });
  });

  it("says which tool is in it twice, and which name", async () => {
    const [first, ...rest] = shopFile(1);
    const twice = desk.file("twice.json", [first ?? {}, ...rest, { ...first, description: "Another." }]);
    const said = await desk.run("catalog", "drift", good, twice);
    expect([said.code, said.err]).toEqual([EXIT.fine, expect.stringMatching(/twice\.json: .*more than once; the first is kept/)]);
    const names = join(desk.folder, "names.json");
    writeFileSync(names, `{"server": "x", "server": "shop", "tools": [{"name": "a", "inputSchema": {"type": "object"}}]}`);
    for (const argv of [
      ["catalog", "drift", good, names],
      ["check", "--against", names],
    ])
      expect((await desk.run(...argv)).err).toMatch(/names\.json: server stands there twice; the later one counts\./);
  });

  it("says so where the label that is given is of none of its tools", async () => {
    for (const argv of [
      ["catalog", "drift", good, good, "--label", "nope"],
      ["check", "--against", good, "--label", "nope"],
    ]) {
      const said = await desk.run(...argv);
      expect([said.code, said.err]).toEqual([
        EXIT.fine,
        expect.stringMatching(/good\.json: its tools say themselves .*--label nope is of none/),
      ]);
    }
    expect((await desk.run("catalog", "drift", good, good)).err).toBe("");
  });

  it("is refused where a tool's server is no text, with file, member and the way out, by each verb", async () => {
    const path = desk.file("servers5.json", [...shopFile(1), { name: "a", inputSchema: {}, server: 5 }]);
    for (const argv of [
      ["catalog", "drift", good, path],
      ["check", "--against", path],
    ]) {
      const said = await desk.run(...argv);
      expect([said.code, said.err]).toEqual([
        EXIT.usage,
        expect.stringMatching(/servers5\.json: `\[\d+\]\.server` is a number: .*--label/),
      ]);
    }
  });
});
