import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { changeConfig, writeConfig } from "../../src/config/change.js";
import { readConfig } from "../../src/config/config.js";
import { expand } from "../../src/config/expand.js";
import { resolveHome } from "../../src/config/home.js";
import { parseJsonc, SyntaxMistake } from "../../src/config/text.js";
import { watchConfig, type ConfigMove } from "../../src/config/watch.js";
import { nodeFiles } from "../../src/host/files.js";
import type { Config, UpstreamConfig } from "../../src/model/config.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";

const homes: string[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

function homeWith(content: unknown): string {
  const home = mkdtempSync(join(tmpdir(), "steward-config-"));
  homes.push(home);
  mkdirSync(join(home, "config"));
  if (content !== undefined) {
    const bytes = typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content);
    writeFileSync(join(home, "config/steward.json"), bytes);
  }
  return home;
}

const env = { HOME: "/me", TOKEN: "tok-123456", EMPTY: "" };
const read = (content: unknown, more: Record<string, string> = {}): Promise<Config> =>
  readConfig(homeWith(content), { env: { ...env, ...more }, main: "/app/main.js" });
const upstream = (config: Config, label: string): UpstreamConfig | undefined => config.upstreams.get(label as UpstreamLabel);
const places = (config: Config): string[] => config.problems.map(({ where }) => where);

describe("a configuration", () => {
  it("is read in the shape every client writes, with defaults for the rest", async () => {
    const config = await read({
      mcpServers: {
        files: { command: "npx", args: ["-y", "server"], env: { DEBUG: true }, cwd: "work" },
        "issue.tracker": { type: "http", url: "https://x.example/mcp", headers: { Authorization: "Bearer abcdef123456" } },
        old: { url: "http://localhost:1/sse", type: "sse", disabled: true },
      },
    });
    expect(config.problems).toEqual([]);
    expect(upstream(config, "files")).toMatchObject({
      kind: "stdio",
      command: "npx",
      args: ["-y", "server"],
      env: { DEBUG: "true" },
      prefix: "files",
      disabled: false,
      callTimeoutMs: DEFAULT_POLICY.callTimeoutMs,
    });
    expect(upstream(config, "files")).toHaveProperty("cwd", expect.stringMatching(/steward-config-.*work$/));
    expect(upstream(config, "issue.tracker")).toMatchObject({ kind: "http", transport: "http", forwardHeaders: [] });
    expect(upstream(config, "old")).toMatchObject({ kind: "http", transport: "sse", disabled: true });
    expect(config).toMatchObject({
      policy: DEFAULT_POLICY,
      http: { host: "127.0.0.1", port: 7717 },
      manager: { kind: "rules" },
      embeddings: undefined,
    });
    expect(config.secrets).toContain("abcdef123456");
    expect(Object.isFrozen(config) && Object.isFrozen(config.http)).toBe(true);
  });

  it("understands what VS Code and other clients call the same things", async () => {
    const config = await read({
      servers: {
        a: { httpUrl: "https://a.example/mcp" },
        b: { serverUrl: "https://b.example/", enabled: false },
        c: { transport: "sse", url: "https://c.example/" },
      },
    });
    expect(config.problems).toEqual([]);
    expect([...config.upstreams.values()].map(({ kind, disabled }) => [kind, disabled])).toEqual([
      ["http", false],
      ["http", true],
      ["http", false],
    ]);
    expect(upstream(config, "c")).toMatchObject({ transport: "sse" });
  });

  it("names exactly what is wrong, and the valid rest starts [T31]", async () => {
    const config = await read({
      mcpServers: {
        good: { command: "node" },
        nothing: {},
        both: { command: "a", url: "http://b" },
        args: { command: "a", args: ["x", 5] },
        text: "npx server",
        ftp: { url: "ftp://x" },
        socket: { type: "ws", url: "ws://x" },
        "bad label": { command: "node" },
      },
      steward: {
        policy: { callTimeoutMs: "soon", viewTokens: 5_000, colour: 1 },
        http: { port: "80" },
        upstreams: { good: { callTimeoutMs: -1, nonsense: 1 }, absent: { prefix: "x" } },
        extra: 1,
      },
      more: true,
    });
    expect([...config.upstreams].filter(([, { disabled }]) => !disabled).map(([label]) => label)).toEqual(["good"]);
    expect(config.policy.viewTokens).toBe(5_000);
    expect(places(config)).toEqual(
      expect.arrayContaining([
        "mcpServers.nothing.command",
        "mcpServers.both",
        "mcpServers.args.args[1]",
        "mcpServers.text",
        "mcpServers.ftp.url",
        "mcpServers.socket.type",
        "mcpServers.bad label",
        "steward.policy.callTimeoutMs",
        "steward.policy.colour",
        "steward.http.port",
        "steward.upstreams.good.callTimeoutMs",
        "steward.upstreams.good.nonsense",
        "steward.upstreams.absent",
        "steward.extra",
        "more",
      ]),
    );
    expect(config.problems.find(({ where }) => where === "mcpServers.bad label")?.text).toContain('"bad_label"');
    expect(config.http.port).toBe(7717);
  });

  it("keeps the label of an entry that cannot be used, switched off: a slip of the pen removes no tools", async () => {
    const config = await read({ mcpServers: { shop: { comand: "node" }, gate: { command: "x", env: { KEY: "${NOT_SET}" } } } });
    expect(upstream(config, "shop")).toMatchObject({ disabled: true });
    expect(upstream(config, "gate")).toMatchObject({ disabled: true });
    expect(config.problems.find(({ code }) => code === "variable-missing")).toMatchObject({ where: "mcpServers.gate.env.KEY" });
  });

  it("takes a tab in a path for the single backslash it came from", async () => {
    const config = await read('{"mcpServers": {"a": {"command": "C:\\tools"}}}');
    expect(config.problems).toMatchObject([
      { where: "mcpServers.a.command", text: expect.stringContaining("written twice") as string },
    ]);
  });

  it("does not complain about the half-written entry that is switched off", async () => {
    expect(
      (await read({ mcpServers: { later: { disabled: true, command: "x", env: { KEY: "${NOT_SET}" } } } })).problems,
    ).toEqual([]);
  });

  it("takes a byte order mark and CRLF, comments and trailing commas [T15]", async () => {
    const text = '\ufeff{\r\n  // mine\r\n  "mcpServers": { "a": { "command": "x", }, /* more */ },\r\n}\r\n';
    const config = await read(text);
    expect(config.problems).toEqual([]);
    expect(upstream(config, "a")).toMatchObject({ command: "x" });
  });

  it("names UTF-16 for what it is, with the way out [T15]", async () => {
    const text = '{"mcpServers":{}}';
    for (const bytes of [
      Buffer.from(`\ufeff${text}`, "utf16le"),
      Buffer.from(text, "utf16le"),
      Buffer.from(`\ufeff${text}`, "utf16le").swap16(),
    ]) {
      await expect(read(bytes)).rejects.toMatchObject({
        code: "config-invalid",
        message: expect.stringContaining("UTF-16") as string,
      });
    }
    await expect(read(Buffer.from([0x7b, 0xff, 0x7d]))).rejects.toThrow(/not UTF-8/);
  });

  it("is never overwritten when it could not be read, and says where it breaks [T15]", async () => {
    const text = '{\n  "mcpServers": {\n    "a": { "command": "C:\\tools\\x" }\n    "b": {}\n  }\n}';
    const home = homeWith(text.replaceAll("\\", "\\\\"));
    await expect(readConfig(home, { env })).rejects.toThrow(
      'config/steward.json, line 4, column 5: a comma or } should follow the value of "a"',
    );
    await expect(changeConfig(home, nodeFiles(), (json) => json)).rejects.toMatchObject({ code: "config-invalid" });
    await expect(writeConfig(home, nodeFiles(), {})).rejects.toMatchObject({ code: "config-invalid" });
    expect(readFileSync(join(home, "config/steward.json"), "utf8")).toBe(text.replaceAll("\\", "\\\\"));
    await expect(read('{"mcpServers": {"a": {"command": "C:\\Windows"}}}')).rejects.toThrow(/backslash has to be written twice/);
  });

  it("says so where there is none, and where a name is given twice", async () => {
    expect((await read(undefined)).problems.map(({ code }) => code)).toEqual(["config-missing"]);
    const config = await read('{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}');
    expect(places(config)).toEqual(["mcpServers.a"]);
    expect(upstream(config, "a")).toMatchObject({ command: "y" });
  });

  it("refuses a newer format by name", async () => {
    await expect(read({ steward: { format: "config/2" } })).rejects.toMatchObject({ code: "format-newer" });
    expect((await read({ steward: { format: "config/1" } })).problems).toEqual([]);
  });
});

describe("settings", () => {
  it("take amounts in the unit of their name or with one of their own", async () => {
    const { policy } = await read({
      steward: {
        policy: {
          callTimeoutMs: "5 min",
          graceMs: "48h",
          resultBytes: "1 MiB",
          requestBytes: 50_000,
          mmrLambda: 0.5,
          maintainAuto: true,
        },
        exposure: { maxNameLength: 40 },
        evidence: { keep: "full" },
      },
    });
    expect(policy).toMatchObject({
      callTimeoutMs: 300_000,
      graceMs: 172_800_000,
      resultBytes: 1_048_576,
      requestBytes: 50_000,
      mmrLambda: 0.5,
      maintainAuto: true,
      maxNameLength: 40,
      evidenceKeep: "full",
    });
  });

  it("of one upstream go before the policy, within its cap", async () => {
    const config = await read({
      mcpServers: { a: { command: "x" }, b: { url: "https://b" } },
      steward: {
        policy: { callCapMs: "10 min" },
        upstreams: {
          a: { callTimeoutMs: "1 h", idleStopMs: 0, prefix: "" },
          b: { forwardHeaders: ["X-Tenant", "Host"], connectTimeoutMs: "2 min", era: "legacy" },
        },
      },
    });
    expect(upstream(config, "a")).toMatchObject({ callTimeoutMs: 600_000, idleStopMs: 0, prefix: "" });
    expect(upstream(config, "b")).toMatchObject({ forwardHeaders: ["x-tenant"], connectTimeoutMs: 120_000, era: "legacy" });
    expect(places(config)).toEqual(["steward.upstreams.b.forwardHeaders[1]"]);
  });

  it("allow one empty prefix and no prefix twice; the later one is refused", async () => {
    const config = await read({
      mcpServers: { a: { command: "x" }, b: { command: "x" }, c: { command: "x" }, d: { command: "x" } },
      steward: { upstreams: { a: { prefix: "" }, b: { prefix: "" }, c: { prefix: "d" }, d: {} } },
    });
    expect([...config.upstreams.values()].map(({ prefix }) => prefix)).toEqual(["", "b", "c", "d"]);
    expect(config.problems.map(({ code, where }) => [code, where])).toEqual([
      ["prefix-clash", "steward.upstreams.b.prefix"],
      ["prefix-clash", "steward.upstreams.c.prefix"],
    ]);
  });

  it("name the manager and the embeddings without their keys, which are secrets all the same", async () => {
    const config = await read(
      {
        steward: {
          manager: { kind: "llm", baseUrl: "${BASE:-http://localhost:1/v1}", model: "m", apiKeyEnv: "KEY" },
          embeddings: { baseUrl: "http://e", model: "e", dimensions: 8 },
        },
      },
      { KEY: "key-1234567", OPENAI_API_KEY: "other-key-1" },
    );
    expect(config.manager).toEqual({ kind: "llm", baseUrl: "http://localhost:1/v1", model: "m", apiKeyEnv: "KEY" });
    expect(config.embeddings).toEqual({ baseUrl: "http://e", model: "e", apiKeyEnv: "OPENAI_API_KEY", dimensions: 8 });
    expect(config.secrets).toEqual(expect.arrayContaining(["key-1234567", "other-key-1"]));
  });
});

describe("endpoints that could never be asked", () => {
  const fine = { baseUrl: "https://e/v1", model: "m" };
  it.each<[string, object, RegExp]>([
    ["baseUrl", { ...fine, baseUrl: "nope" }, /no address; write .*http:/],
    ["baseUrl", { ...fine, baseUrl: "" }, /no address/],
    ["baseUrl", { ...fine, baseUrl: "ftp://e/v1" }, /begins with ftp:/],
    ["baseUrl", { ...fine, baseUrl: "localhost:11434/v1" }, /begins with localhost:/],
    ["baseUrl", { ...fine, baseUrl: "https://user:hidden@e/v1" }, /apiKeyEnv/],
    ["baseUrl", { ...fine, baseUrl: "https://e/v1?key=hidden" }, /behind the path/],
    ["baseUrl", { ...fine, baseUrl: "${NOT_SET}/v1" }, /\$\{NOT_SET\} has no value/],
    ["model", { ...fine, model: "" }, /name the model/],
    ["model", { ...fine, model: " " }, /name the model/],
    ["model", { baseUrl: "https://e/v1" }, /It has to be/],
  ])("are refused at their %s, of a manager as of embeddings: %j", async (member, endpoint, why) => {
    const config = await read({ steward: { manager: { kind: "llm", ...endpoint }, embeddings: endpoint } });
    expect(config.manager).toEqual({ kind: "rules" });
    expect(config.embeddings).toEqual({ refused: `steward.embeddings.${member}` });
    for (const part of ["manager", "embeddings"]) {
      const problem = config.problems.find(({ where }) => where === `steward.${part}.${member}`);
      expect(problem?.text).toMatch(why);
      expect(problem?.text).not.toContain("hidden");
    }
  });
});

describe("variables", () => {
  it("stand for the environment's values, with defaults, and for the paths of STEWARD itself", async () => {
    const config = await read({
      mcpServers: {
        a: {
          command: "${STEWARD_NODE}",
          args: ["${STEWARD_MAIN}", "lab", "${STEWARD_HOME}/x", "--key=${TOKEN}"],
          env: { A: "${env:TOKEN}", B: "${NOPE:-fallback}", C: "${EMPTY:-used}", D: "$${TOKEN}" },
          cwd: "~/dir",
        },
      },
    });
    expect(config.problems).toEqual([]);
    const a = upstream(config, "a");
    expect(a).toMatchObject({
      command: process.execPath,
      env: { A: "tok-123456", B: "fallback", C: "used", D: "${TOKEN}" },
      cwd: "/me/dir",
    });
    expect(a?.kind === "stdio" && a.args).toEqual([
      "/app/main.js",
      "lab",
      expect.stringMatching(/steward-config-.*\/x$/),
      "--key=tok-123456",
    ]);
    expect(config.secrets).toContain("tok-123456");
  });

  it("leave every other text as it is", () => {
    const text = fc.string().filter((given) => !given.includes("${"));
    fc.assert(
      fc.property(text, (given) => {
        expect(expand(given, env, {})).toEqual({ text: given, missing: [], values: [] });
      }),
    );
    expect(expand("${input:key} ${workspaceFolder}", {}, {}).missing).toEqual(["${input:key}", "${workspaceFolder}"]);
  });
});

describe("JSON with comments", () => {
  it("reads every JSON document as JSON does", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(parseJsonc(json).value).toEqual(JSON.parse(json));
        expect(parseJsonc(JSON.stringify(JSON.parse(json), null, 2)).value).toEqual(JSON.parse(json));
      }),
    );
  });

  it("tells the place of a mistake for every text it does not read", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseJsonc(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxMistake);
          expect((error as SyntaxMistake).message).toMatch(/^line \d+, column \d+: /);
        }
      }),
    );
  });
});

describe("the home of a command", () => {
  const options = { env: { HOME: "/me" }, cwd: "/here", packageRoot: "/pkg" };
  it("is the flag's, else the variable's, else the user's own", () => {
    expect(resolveHome({ ...options, flag: "x", env: { HOME: "/me", STEWARD_HOME: "/y" } })).toBe("/here/x");
    expect(resolveHome({ ...options, env: { HOME: "/me", STEWARD_HOME: "~/y" } })).toBe("/me/y");
    expect(resolveHome(options)).toBe("/me/.steward");
  });

  it("is beside the clone where that runs, and never in a folder one merely stands in", () => {
    const folder = homeWith(undefined);
    expect(
      resolveHome({ ...options, cwd: folder, packageRoot: folder, env: { HOME: "/me", npm_lifecycle_event: "start" } }),
    ).toBe(join(folder, ".steward"));
    mkdirSync(join(folder, ".steward"));
    expect(resolveHome({ ...options, cwd: folder, packageRoot: folder })).toBe(join(folder, ".steward"));
    expect(resolveHome({ ...options, cwd: folder })).toBe("/me/.steward");
  });
});

describe("writing a configuration", () => {
  it("replaces the file, keeps the one before, its line endings and its owner's mode", async () => {
    const home = homeWith('{\r\n  "mcpServers": {}\r\n}\r\n');
    await changeConfig(home, nodeFiles(), (json) => ({ ...json, steward: { http: { port: 1 } } }));
    expect(readFileSync(join(home, "config/steward.json"), "utf8")).toBe(
      '{\r\n  "mcpServers": {},\r\n  "steward": {\r\n    "http": {\r\n      "port": 1\r\n    }\r\n  }\r\n}\r\n',
    );
    expect(readdirSync(join(home, "config"))).toEqual(["steward.json", "steward.json.bak"]);
    const fresh = homeWith(undefined);
    await writeConfig(fresh, nodeFiles(), { mcpServers: {} });
    if (process.platform !== "win32") expect(statSync(join(fresh, "config/steward.json")).mode & 0o777).toBe(0o600);
  });

  it("is seen by who watches it; what cannot be read is told and changes nothing", async () => {
    const home = homeWith({ mcpServers: {} });
    const moves: ConfigMove[] = [];
    let wake: () => void = () => undefined;
    const watching = watchConfig(home, { env }, (move) => (moves.push(move), wake()), { settleMs: 100 });
    await watching.ready;
    const next = (): Promise<void> => new Promise((resolve) => (wake = resolve));
    const first = next();
    await writeConfig(home, nodeFiles(), { mcpServers: { a: { command: "x" } } });
    await first;
    const second = next();
    writeFileSync(join(home, "config/steward.json"), "{");
    await second;
    await watching.stop();
    expect(moves.map((move) => (move.kind === "moved" ? move.config.upstreams.size : move.fault.code))).toEqual([
      1,
      "config-invalid",
    ]);
  });
});
