import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveCommand } from "../../src/upstream/command.js";
import { childEnv } from "../../src/upstream/env.js";
import { headerMarks, markedHeaders } from "../../src/catalog/header-marks.js";
import { createLineReader } from "../../src/upstream/lines.js";
import { guardedLookup, isRefusedAddress } from "../../src/upstream/net-guard.js";
import { createStarts } from "../../src/upstream/starts.js";
import { redact } from "../../src/host/redact.js";
import { createTail } from "../../src/upstream/tail.js";
import { idInRemains } from "../../src/upstream/text.js";

describe("finding a program", () => {
  const there =
    (...paths: string[]) =>
    (path: string): boolean =>
      paths.includes(path);
  const windows = {
    args: ["-y", "pkg"],
    cwd: undefined,
    platform: "win32" as const,
    env: { Path: "C:\\bin;C:\\nodejs", PATHEXT: ".COM;.EXE;.BAT;.CMD", ComSpec: "C:\\Windows\\cmd.exe" },
  };
  const linux = { args: ["x"], cwd: undefined, platform: "linux" as const, env: { PATH: "/usr/bin:/opt/bin" } };

  it("searches PATH in order and takes paths as they are [T13]", () => {
    expect(resolveCommand({ ...linux, command: "node", isProgram: there("/opt/bin/node") })).toEqual({
      file: "/opt/bin/node",
      args: ["x"],
      verbatim: false,
    });
    expect(resolveCommand({ ...linux, command: "./run", cwd: "/srv", isProgram: there("/srv/run") }).file).toBe("/srv/run");
    expect(() => resolveCommand({ ...linux, command: "npx", isProgram: there() })).toThrow(
      /"npx" was not found \(PATH searched: \/usr\/bin:\/opt\/bin\)\. Install it, give its absolute path/,
    );
    expect(() => resolveCommand({ ...linux, env: {}, command: "npx", isProgram: there() })).toThrow(/PATH is empty/);
  });

  it("knows Windows' extensions, whatever the variables' case [T13]", () => {
    expect(resolveCommand({ ...windows, command: "uvx", isProgram: there("C:\\bin\\uvx.exe") })).toMatchObject({
      file: "C:\\bin\\uvx.exe",
      verbatim: false,
    });
    expect(() => resolveCommand({ ...windows, command: "npx", isProgram: there() })).toThrow(/PATH searched: C:\\bin;C:\\nodejs/);
  });

  it("runs batch files through cmd.exe with every special character escaped [T13]", () => {
    const found = resolveCommand({
      ...windows,
      command: "npx",
      args: ["-y", 'a "b" & c%PATH%', "tail\\"],
      isProgram: there("C:\\nodejs\\npx.cmd"),
    });
    expect(found).toMatchObject({ file: "C:\\Windows\\cmd.exe", verbatim: true });
    const [, , , line = ""] = found.args;
    expect(found.args.slice(0, 3)).toEqual(["/d", "/s", "/c"]);
    // Nothing that cmd.exe acts upon stands there without its caret.
    expect(line.slice(1, -1).replace(/\^./g, "")).not.toMatch(/[&|<>"%^()!]/);
    expect(() => resolveCommand({ ...windows, command: "npx", args: ["a\nb"], isProgram: there("C:\\nodejs\\npx.cmd") })).toThrow(
      /line break/,
    );
  });
});

describe("a child's environment", () => {
  it("keeps what programs need and drops everything else, on Windows in any case [T14]", () => {
    const base = { Path: "C:\\x", PATHEXT: ".EXE", ComSpec: "cmd", SystemRoot: "C:\\W", Secret: "s", https_proxy: "p" };
    expect(childEnv(base, { PATH: "C:\\mine" }, "win32")).toEqual({
      PATHEXT: ".EXE",
      ComSpec: "cmd",
      SystemRoot: "C:\\W",
      https_proxy: "p",
      PATH: "C:\\mine",
    });
    expect(
      childEnv({ PATH: "/bin", LC_ALL: "C", XDG_DATA_HOME: "/d", AWS_SECRET_ACCESS_KEY: "s", HOME: undefined }, {}, "linux"),
    ).toEqual({ PATH: "/bin", LC_ALL: "C", XDG_DATA_HOME: "/d" });
  });
});

describe("lines out of bytes", () => {
  const read = (
    chunks: readonly Buffer[],
    maxBytes = 1_000,
  ): { lines: string[]; noise: number; long: number[]; ends: string[] } => {
    const seen = { lines: [] as string[], noise: 0, long: [] as number[], ends: [] as string[] };
    const reader = createLineReader({
      maxBytes,
      onLine: (text) => seen.lines.push(text),
      onNoise: () => (seen.noise += 1),
      onTooLong: ({ bytes, head, tail }) => {
        seen.long.push(bytes);
        seen.ends.push(head, tail);
      },
    });
    for (const chunk of chunks) reader.push(chunk);
    return seen;
  };

  it("are the same whatever the chunking, whole in every character [T02]", () => {
    const line = fc.oneof(
      fc.jsonValue().map((value) => JSON.stringify({ value })),
      fc.string({ unit: "grapheme" }).map((text) => `# ${text.replace(/[\r\n{[]/g, "")}`),
      fc.constant(""),
      fc.constant(`{"long":"${"é".repeat(600)}"}`),
    );
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat({ max: 40 })), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((one) => `${one}\n`).join(""));
        const chunks: Buffer[] = [];
        let from = 0;
        for (const cut of cuts) chunks.push(bytes.subarray(from, (from += cut)));
        chunks.push(bytes.subarray(from));
        const seen = read(chunks);
        expect(seen).toEqual(read([bytes]));
        expect(seen.lines).toEqual(lines.filter((one) => one.startsWith("{") && Buffer.byteLength(one) <= 1_000));
        expect(seen.long).toEqual(
          lines.filter((one) => one.startsWith("{") && Buffer.byteLength(one) > 1_000).map((one) => Buffer.byteLength(one)),
        );
        const long = lines.filter((one) => one.startsWith("{") && Buffer.byteLength(one) > 1_000).map((one) => Buffer.from(one));
        const ends = (one: Buffer): string[] => [one.toString("utf8", 0, 1_024), one.subarray(-1_024).toString("utf8")];
        expect(seen.ends).toEqual(long.flatMap(ends));
        expect(seen.noise).toBe(lines.filter((one) => one.startsWith("#")).length);
      }),
    );
  });

  it("that are too long still tell whose answer they were, wherever the id stands", () => {
    expect(idInRemains('{"jsonrpc":"2.0","id":7,"result":{"con', '"}]}}')).toBe(7);
    expect(idInRemains('{"result":{"content":[{"ty', 'xxx"}]},"jsonrpc":"2.0","id":12}')).toBe(12);
    expect(idInRemains('{"result":{"content":[{"ty', 'xxx"}]},"id":"13","jsonrpc":"2.0"}')).toBe(13);
    expect(idInRemains('{"result":{"id":5', '{"id":6}]}}')).toBeUndefined();
  });
});

describe("the end of stderr", () => {
  it("is never more than its bound, and never begins within a line or a secret [T11]", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 80 })), (texts) => {
        const tail = createTail(100, (text) => redact(text, ["s3cret-value"]));
        for (const text of texts) tail.push(Buffer.from(`${text}s3cret-value\n`));
        expect(tail.text().length).toBeLessThanOrEqual(100);
        expect(tail.text()).not.toMatch(/cret-value/);
      }),
    );
  });
});

describe("addresses", () => {
  it("that are link-local or metadata are refused, private and loopback ones are the operator's to configure [S07]", () => {
    for (const bad of [
      "169.254.169.254",
      "169.254.0.1",
      "fe80::1",
      "fe80::1%eth0",
      "::ffff:169.254.169.254",
      "fd00:ec2::254",
      "100.100.100.200",
      "[fe80::2]",
    ])
      expect(isRefusedAddress(bad)).toBe(true);
    for (const good of ["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "example.org"])
      expect(isRefusedAddress(good)).toBe(false);
  });

  it("are looked at after the name was resolved [S07]", async () => {
    const answer = await new Promise((done) =>
      guardedLookup("localhost", { all: true }, (error, addresses) => done(error ?? addresses)),
    );
    expect(answer).toMatchObject([{ family: expect.any(Number) as number }]);
  });
});

describe("arguments as headers", () => {
  it("are read from marks that every call reaches, and no others", () => {
    const schema = {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        deep: { type: "object", properties: { n: { type: "integer", "x-mcp-header": "N" } } },
      },
    };
    const { marks, wrong } = headerMarks(schema);
    expect(wrong).toBeUndefined();
    expect(markedHeaders(marks, { region: "eu", deep: { n: 3 } })).toEqual({ "Mcp-Param-Region": "eu", "Mcp-Param-N": "3" });
    expect(markedHeaders(marks, { region: null })).toEqual({});
    expect(markedHeaders(marks, { region: "Zürich" })).toEqual({
      "Mcp-Param-Region": `=?base64?${Buffer.from("Zürich").toString("base64")}?=`,
    });
    expect(markedHeaders(marks, { region: " a" })["Mcp-Param-Region"]).toMatch(/^=\?base64\?/);
    for (const bad of [
      { items: { type: "string", "x-mcp-header": "X" } },
      { properties: { a: { type: "number", "x-mcp-header": "X" } } },
      { properties: { a: { type: "string", "x-mcp-header": "no space" } } },
      { properties: { a: { type: "string", "x-mcp-header": "X" }, b: { type: "string", "x-mcp-header": "x" } } },
      { anyOf: [{ properties: { a: { type: "string", "x-mcp-header": "X" } } }] },
    ]) {
      expect(headerMarks(bad).wrong).toBeDefined();
    }
  });
});

describe("places for starting", () => {
  it("are never more than there are, all are served, and what a call waits for goes past the queue [T20]", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ call: fc.boolean(), promoted: fc.boolean(), leavesEarly: fc.boolean() }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 4 }),
        async (wanted, atOnce) => {
          const starts = createStarts(atOnce);
          let holding = 0;
          let most = 0;
          let served = 0;
          await Promise.all(
            wanted.map(async ({ call, promoted, leavesEarly }) => {
              const place = starts.take(call ? "call" : "background");
              if (promoted) place.promote();
              if (leavesEarly) {
                place.leave();
                return;
              }
              const release = await place.granted;
              holding += 1;
              most = Math.max(most, holding);
              await Promise.resolve();
              served += 1;
              holding -= 1;
              release();
            }),
          );
          expect(served).toBe(wanted.filter((one) => !one.leavesEarly).length);
          expect(most).toBeLessThanOrEqual(2 * atOnce);
        },
      ),
    );
  });
});
