import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { importClientConfigs, mergeImported } from "../../src/config/clients.js";
import { parseToml } from "../../src/config/toml.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A user's folder with these files. */
function user(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "steward-user-"));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const importing = (root: string, more: { from?: string[]; platform?: NodeJS.Platform } = {}) =>
  importClientConfigs({
    env: { HOME: root, APPDATA: join(root, "Roaming") },
    cwd: join(root, "project"),
    platform: "linux",
    ...more,
  });

describe("importing what clients are configured with", () => {
  it("finds Claude Desktop, Claude Code, Cursor, VS Code and Codex where each keeps its own", async () => {
    const root = user({
      ".config/Claude/claude_desktop_config.json": JSON.stringify({ mcpServers: { files: { command: "npx", args: ["files"] } } }),
      ".claude.json": JSON.stringify({
        mcpServers: { git: { type: "stdio", command: "git-mcp" } },
        projects: { PROJECT: { mcpServers: { local: { command: "l" } } } },
      }),
      "project/.mcp.json": JSON.stringify({ mcpServers: { team: { type: "http", url: "https://team.example/mcp" } } }),
      ".cursor/mcp.json":
        '\ufeff{"mcpServers": {"search": {"url": "https://s.example/mcp", "headers": {"X-Key": "${env:KEY}"}}}}',
      ".config/Code/User/mcp.json":
        '{ // mine\n "servers": { "db": { "type": "stdio", "command": "db", "env": {"PW": "${input:pw}"}, }, }, "inputs": [] }',
      ".config/Code/User/settings.json": '{"editor.fontSize": 12, "mcp": {"servers": {"older": {"command": "o"}}}}',
      ".codex/config.toml":
        'model = "x"\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "docs"]\n[mcp_servers.docs.env]\nA = "b"\n[mcp_servers.remote]\nurl = "https://r.example"\nbearer_token_env_var = "R_TOKEN"\n',
    });
    writeFileSync(
      join(root, ".claude.json"),
      readFileSync(join(root, ".claude.json"), "utf8").replace("PROJECT", join(root, "project")),
    );
    const found = await importing(root);
    expect(found.sources.map(({ client, labels }) => [client, labels])).toEqual([
      ["claude-desktop", ["files"]],
      ["claude-code", ["git", "local"]],
      ["claude-code", ["team"]],
      ["cursor", ["search"]],
      ["vscode", ["db"]],
      ["vscode", ["older"]],
      ["codex", ["docs", "remote"]],
    ]);
    expect(found.mcpServers["docs"]).toEqual({ command: "npx", args: ["-y", "docs"], env: { A: "b" } });
    expect(found.mcpServers["remote"]).toEqual({ url: "https://r.example", headers: { Authorization: "Bearer ${R_TOKEN}" } });
    expect(found.problems.map(({ code }) => code)).toEqual(["client-entry-input"]);
  });

  it("looks where macOS and Windows keep them", async () => {
    const content = JSON.stringify({ mcpServers: { a: { command: "x" } } });
    const mac = user({ "Library/Application Support/Claude/claude_desktop_config.json": content });
    expect((await importing(mac, { platform: "darwin" })).sources).toHaveLength(1);
    const windows = user({ "Roaming/Claude/claude_desktop_config.json": content });
    expect((await importing(windows, { platform: "win32" })).sources).toHaveLength(1);
  });

  it("takes a server once, tells namesakes apart, and does not take STEWARD itself", async () => {
    const a = { command: "a" };
    const root = user({
      ".claude.json": JSON.stringify({
        mcpServers: {
          same: a,
          other: { command: "one" },
          "my tools": a,
          steward: { command: "npx", args: ["-y", "@steward-mcp/steward", "stdio"] },
          empty: {},
        },
      }),
      ".cursor/mcp.json": JSON.stringify({ mcpServers: { same: a, other: { command: "two" } } }),
    });
    const found = await importing(root);
    expect(Object.keys(found.mcpServers)).toEqual(["same", "other", "my_tools", "other-cursor"]);
    expect(found.problems.map(({ code }) => code).sort()).toEqual([
      "client-entry-refused",
      "client-entry-refused",
      "client-entry-renamed",
      "client-entry-renamed",
    ]);
  });

  it("names a file that cannot be read and reads the others", async () => {
    const root = user({ ".claude.json": "{", ".cursor/mcp.json": JSON.stringify({ mcpServers: { a: { command: "x" } } }) });
    const found = await importing(root);
    expect(Object.keys(found.mcpServers)).toEqual(["a"]);
    expect(found.problems).toMatchObject([{ code: "client-config-unread", where: join(root, ".claude.json") }]);
  });

  it("takes one client or one file where asked to, and no client it does not know", async () => {
    const root = user({
      ".cursor/mcp.json": '{"mcpServers":{"a":{"command":"x"}}}',
      "project/some.json": '{"mcpServers":{"b":{"command":"y"}}}',
    });
    expect(Object.keys((await importing(root, { from: ["cursor"] })).mcpServers)).toEqual(["a"]);
    expect(Object.keys((await importing(root, { from: ["./some.json"] })).mcpServers)).toEqual(["b"]);
    expect((await importing(root, { from: ["./absent.json"] })).problems).toHaveLength(1);
    await expect(importing(root, { from: ["emacs"] })).rejects.toMatchObject({ code: "input-invalid" });
  });

  it("adds what is new to the home and leaves what is configured already", async () => {
    const home = user({ "config/steward.json": '{"mcpServers":{"a":{"command":"mine"}}}' });
    expect(await mergeImported(home, { a: { command: "theirs" }, b: { command: "b" } })).toEqual({
      taken: ["b"],
      kept: ["a"],
    });
    expect(JSON.parse(readFileSync(join(home, "config/steward.json"), "utf8"))).toEqual({
      mcpServers: { a: { command: "mine" }, b: { command: "b" } },
    });
  });
});

describe("TOML", () => {
  it("reads tables, dotted and quoted keys, strings of all kinds, lists and inline tables", () => {
    const { value, unread } = parseToml(
      [
        "# comment",
        'a.b = "x\\u00e9\\n" # after',
        "lit = 'C:\\dir'",
        'block = """',
        "one \\",
        '  two"""',
        "n = 1_000",
        "f = -1.5e3",
        "t = true",
        "when = 2026-11-30T10:00:00Z",
        "list = [ 1, # one",
        '  "two", [3], ]',
        'inline = { x = 1, "y z" = { w = false } }',
        '[servers."my.server"]',
        "on = false",
        "[[many]]",
        "k = 1",
        "[[many]]",
        "k = 2",
      ].join("\r\n"),
    );
    expect(unread).toEqual([]);
    expect(value).toEqual({
      a: { b: "xé\n" },
      lit: "C:\\dir",
      block: "one two",
      n: 1000,
      f: -1500,
      t: true,
      when: "2026-11-30T10:00:00Z",
      list: [1, "two", [3]],
      inline: { x: 1, "y z": { w: false } },
      servers: { "my.server": { on: false } },
      many: [{ k: 1 }, { k: 2 }],
    });
  });

  it("passes over what it does not understand, names the line, and reads the rest", () => {
    expect(parseToml('a = 1\nb = what?\nc = "open\nd = 2\n__proto__.x = 1\n')).toEqual({
      value: { a: 1, d: 2 },
      unread: [2, 3, 5],
    });
  });

  it("ends on every text and reaches no prototype", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("[", "]", "a", ".", "=", '"', "'", "{", "}", ",", "\n", "1", "#", "\\", "__proto__", "true")),
        (parts) => {
          parseToml(parts.join(""));
          expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
        },
      ),
    );
  });
});
