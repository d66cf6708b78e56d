import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLog } from "../../src/host/log.js";
import { createPrint, widthOf, type Print } from "../../src/host/print.js";
import { visible, visibleJson, visibleLines } from "../../src/host/visible.js";

const ansi = "\u001b[2J\u001b]0;title\u0007\u009b31m";

function captured(options: { isTTY?: boolean; columns?: number; env?: Record<string, string> } = {}) {
  let text = "";
  const out = { write: (part: string) => void (text += part), isTTY: options.isTTY, columns: options.columns };
  return { print: createPrint({ out, err: out, env: options.env ?? {} }), text: () => text };
}

function printed(what: (print: Print) => void): string {
  const { print, text } = captured();
  what(print);
  return text();
}

describe("text shown to people", () => {
  it("lets no control, bidi, tag or zero-width character of a server through to a terminal [S04]", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(visible(text)).not.toMatch(
          /[\u0000-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u,
        );
        expect(visibleLines(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
      }),
    );
    expect(visible(ansi)).toBe("\\x1b[2J\\x1b]0;title\\x07\\x9b31m");
    expect(visible("a\nb\u{e0041}")).toBe("a\\nb\\u{e0041}");
  });

  it("keeps the joiners that emoji and scripts need", () => {
    expect(visible("👩‍💻 می‌خواهم naïve 解析")).toBe("👩‍💻 می‌خواهم naïve 解析");
  });

  it("spells JSON so that it stays the same value and steers nothing [S04]", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const json = visibleJson(JSON.stringify({ text }, null, 2));
        expect(JSON.parse(json)).toEqual({ text });
        expect(json).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]|[\u{e0000}-\u{e007f}]/u);
      }),
    );
  });

  it("escapes a server's sequences in log lines, in both forms [S04]", () => {
    for (const form of ["json", "text"] as const) {
      const lines: string[] = [];
      const log = createLog({ form, colour: false, write: (line) => lines.push(line) });
      log.warn(`upstream said ${ansi}`, { tail: `${ansi}\nsecond line`, error: new Error(ansi) });
      expect(lines).toHaveLength(1);
      expect(lines[0]?.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      expect(lines[0]).toContain("upstream said");
      if (form === "json") expect((JSON.parse(lines[0] ?? "") as { msg: string }).msg).toBe(`upstream said ${ansi}`);
    }
  });

  it("prints no known secret in a log line, however deep it stands", () => {
    const lines: string[] = [];
    const secrets = ['s3cr"et-value'];
    const log = createLog({ form: "json", secrets: () => secrets, write: (line) => lines.push(line) }).with({ part: "upstream" });
    log.error(`failed with ${secrets[0]}`, {
      url: "https://me:hunter22@host/x",
      deep: [{ header: secrets[0] }],
      error: new Error(secrets[0]),
    });
    expect(lines[0]).not.toContain("s3cr");
    expect(lines[0]).not.toContain("hunter22");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "error", part: "upstream", msg: "failed with [redacted]" });
  });

  it("obeys the level and says nothing below it", () => {
    const lines: string[] = [];
    const log = createLog({ form: "text", colour: false, level: "warn", write: (line) => lines.push(line) });
    log.info("small");
    log.warn("large", { n: 3 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}large n=3\n$/);
  });
});

describe("the CLI's answers", () => {
  it("aligns columns by what a terminal shows, numbers to the right", () => {
    const { print, text } = captured();
    print.table(
      [{ title: "tool" }, { title: "calls", align: "right" }, { title: "note" }],
      [
        ["shop/get", "7", "first"],
        ["店/取得", "1234", ""],
        ["a\u001b[31m", "1", { text: "x", colour: "red" }],
      ],
    );
    expect(text()).toBe(
      ["tool       calls  note", "shop/get       7  first", "店/取得     1234", "a\\x1b[31m      1  x", ""].join("\n"),
    );
    expect(widthOf("店/取得")).toBe(7);
    expect(widthOf("e\u0301👩")).toBe(3);
  });

  it("colours on a terminal only, and not where people ask for none", () => {
    const red = { text: "gone", colour: "red" } as const;
    const on = captured({ isTTY: true });
    on.print.line(red);
    expect(on.text()).toBe("\u001b[31mgone\u001b[0m\n");
    for (const off of [
      captured(),
      captured({ isTTY: true, env: { NO_COLOR: "1" } }),
      captured({ isTTY: true, env: { TERM: "dumb" } }),
    ]) {
      off.print.line(red);
      expect(off.text()).toBe("gone\n");
    }
    expect(captured({ env: { FORCE_COLOR: "1" } }).print.colour).toBe(true);
  });

  it("cuts the last column to the terminal and nothing anywhere else", () => {
    const long = "word ".repeat(40);
    const narrow = captured({ isTTY: true, columns: 40, env: { NO_COLOR: "1" } });
    narrow.print.table([{ title: "a" }, { title: "text" }], [["1", long]]);
    expect(
      Math.max(
        ...narrow
          .text()
          .split("\n")
          .map((line) => line.length),
      ),
    ).toBe(40);
    const piped = captured({ columns: 40 });
    piped.print.table([{ title: "a" }, { title: "text" }], [["1", long]]);
    expect(piped.text()).toContain(long.trim());
  });

  it("tells how far long work is on one line of a terminal that it takes away again, escaped and no wider than it", () => {
    const { print, text } = captured({ isTTY: true, columns: 30 });
    print.progress(`looking at ${ansi}${"x".repeat(80)}`, "edits");
    print.progress("writing", "library");
    print.note("a remark");
    print.progress("", "");
    const [first = "", second = ""] = text().split("\r\u001b[K");
    expect(first).not.toContain("\u001b");
    expect(widthOf(first)).toBeLessThan(30);
    expect(second).toBe("writing");
    expect(text().endsWith("\r\u001b[Ka remark\n")).toBe(true);
  });

  it("tells a pipe only of milestones, a line each", () => {
    const { print, text } = captured();
    for (let n = 0; n < 100; n += 1) print.progress(`looking ${n} of 100`, "edits");
    print.progress("writing", "library");
    print.progress("", "");
    expect(text()).toBe("looking 0 of 100\nwriting\n");
  });

  it("writes one line for a line or a remark, whatever names are in it, and a block in its lines", () => {
    const name = "skills/ok\nno problem\r\n\u2028at all\u0085";
    const line = printed((print) => print.line(name, ": ", { text: name, colour: "bold" }));
    const note = printed((print) => print.note(name));
    const row = printed((print) => print.table([{ title: "name" }, { title: "where" }], [[name, name]]));
    expect([line, note, row].map((text) => text.split(/[\n\r\u2028\u0085]/).length)).toEqual([2, 2, 3]);
    expect(printed((print) => print.block("one\ntwo\u001b[2J"))).toBe("one\ntwo\\x1b[2J\n");
  });

  it("keeps remarks off stdout", () => {
    let out = "";
    let err = "";
    const print = createPrint({
      out: { write: (text) => void (out += text) },
      err: { write: (text) => void (err += text) },
      env: {},
    });
    print.note("looking");
    print.json({ answer: 1 });
    expect([out, err]).toEqual(['{\n  "answer": 1\n}\n', "looking\n"]);
  });
});
