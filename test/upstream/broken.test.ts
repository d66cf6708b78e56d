import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Refusal } from "../../src/model/fault.js";
import type { Fault } from "../../src/model/fault.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { createEventReader } from "../../src/upstream/events.js";
import { createFloodGuard } from "../../src/upstream/flood.js";
import { idInRemains } from "../../src/upstream/text.js";
import { readMessage, readRefusal } from "../../src/upstream/translate.js";
import { json, listen, readBody } from "./http-servers.js";
import { fixture, remote, stand, textOf, until } from "./stand.js";

/** Longer than any test may take: an answer that comes is not a timeout. */
const never = { callTimeoutMs: 600_000 };
const code = (call: Promise<JsonObject>): Promise<unknown> =>
  call.then(
    (result) => result,
    (error: unknown) => (error instanceof Refusal ? { refusal: error.code, message: error.message } : (error as Fault).code),
  );

describe("an answer on a pipe that cannot be read", () => {
  const head = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"';
  const unreadable: Record<string, string> = {
    "breaks off": `${head}half an ans\n`,
    "holds a raw line break": `${head}one\ntwo"}]}}\n`,
    "holds a raw line break, with the id at its end":
      '{"result":{"content":[{"type":"text","text":"one\ntwo"}]},"jsonrpc":"2.0","id":ID}\n',
    "holds raw line breaks, with a brace at the beginning of a line":
      '{"result":{"content":[{"type":"text","text":"one\n{two}\n{"}]},"jsonrpc":"2.0","id":ID}\n',
    "is printed over several lines": '{\n  "jsonrpc": "2.0",\n  "id": ID,\n  "result": {\n    "content": []\n  }\n}\n',
    "is printed over several lines, the id last":
      '{\n  "result": {\n    "content": [\n{}\n]\n  },\n  "jsonrpc": "2.0",\n  "id": ID\n}\n',
    "has two messages on one line": '{"jsonrpc":"2.0","id":ID,"result":{}}{"jsonrpc":"2.0","method":"notifications/x"}\n',
    "holds NaN": '{"jsonrpc":"2.0","id":ID,"result":{"structuredContent":{"n":NaN}}}\n',
    "has a byte order mark and breaks off": `\ufeff${head}half\n`,
    "names its id as text": '{"jsonrpc":"2.0","id":"ID","result":{"content":[\n',
  };

  it.each(Object.entries(unreadable))("fails its call at once where it %s, and the pipe goes on", async (_, text) => {
    const one = stand(fixture("workbench.mjs", [], never));
    const other = one.call("sleep", { ms: 200 });
    const fault = (await one.call("raw", { text }).catch((error: unknown) => error)) as Fault;
    expect(fault).toMatchObject({ code: "answer-unreadable", blame: "upstream", retryable: false });
    expect(fault.detail).toContain("workbench/raw: What the upstream wrote as its answer is not JSON");
    expect(textOf(await other)).toBe("slept 200");
    expect(textOf(await one.call("echo", { text: "on" }))).toBe("on");
    expect(one.status().noiseLines).toBeGreaterThan(0);
    expect(one.logs.some(({ text: logged }) => logged.includes("writes what is no message"))).toBe(true);
  });

  it("is told from what an upstream logs of messages on stdout: such lines fail no call", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    const logged = [
      'sending {"jsonrpc":"2.0","id":ID,"result":{}}',
      'sending {"result":{},"jsonrpc":"2.0","id":ID}',
      "{ an object of a log",
      'DEBUG < {"result":{},"jsonrpc":"2.0","id":ID}',
      '{"jsonrpc":"2.0","id":ID,"method":"sampling/createMessage","params":{broken',
      '{"method":"sampling/createMessage","params":{"a\n","jsonrpc":"2.0","id":ID}',
      '{"jsonrpc":"2.0","method":"notifications/x","params":{',
    ];
    const answer = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"whole"}]}}\n';
    for (const line of logged) expect(textOf(await one.call("raw", { text: `${line}\n${answer}` }))).toBe("whole");
  });

  it("is readable behind a byte order mark, wherever the bytes are cut", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    const answer = '\ufeff{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\ufeffwhole"}]}}\r\n';
    expect(textOf(await one.call("raw", { text: answer }))).toBe("\ufeffwhole");
    expect(one.status().noiseLines).toBe(0);
  });

  it("is told by its remains only where they are an answer of ours", () => {
    expect(idInRemains('{"id":7,"result":{"con', "x")).toBe(7);
    expect(idInRemains('{"jsonrpc":"2.0","id":7', '{"jsonrpc":"2.0","id":7')).toBeUndefined();
    expect(idInRemains('{"result":{"items":[{"id":6}', '{"result":{"items":[{"id":6}')).toBeUndefined();
    expect(idInRemains('{"id":3,"method":"roots/list","x":[', "")).toBeUndefined();
    expect(idInRemains('{"method":"sampling/createMessage","params":{', '},"jsonrpc":"2.0","id":3}')).toBeUndefined();
    expect(idInRemains("", '"jsonrpc":"2.0","id":3}')).toBe(3);
  });
});

describe("an error that names no request", () => {
  const error = '"error":{"code":-32700,"message":"Parse error"}';
  const illegible = ["null", "{}", "[1]", "true", '"abc"', '""', undefined].map((id) =>
    id === undefined ? `{"jsonrpc":"2.0",${error}}\n` : `{"jsonrpc":"2.0","id":${id},${error}}\n`,
  );
  const answer = (id = "ID"): string => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"whole"}]}}\n`;

  it("on a pipe fails the only request in flight at once, and it is never sent again", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    await one.call("echo");
    for (const [at, text] of illegible.entries()) {
      const fault = (await one.call("raw", { text }, { repeatable: at % 2 === 0 }).catch((caught: unknown) => caught)) as Fault;
      expect(fault, text).toMatchObject({ code: "answer-unreadable", blame: "upstream", retryable: false });
      expect(fault.detail).toContain("an error that names no request: Parse error (code -32700)");
      expect(fault.data).toEqual({ error: { code: -32700, message: "Parse error" } });
    }
    expect(textOf(await one.call("echo", { text: "on" }))).toBe("on");
    const counts = { answersWithoutId: illegible.length, calls: illegible.length + 2, noiseLines: 0 };
    expect(one.status()).toMatchObject(counts);
    expect(one.logs.filter(({ level, text: told }) => level === "warn" && told.includes("names no request"))).toHaveLength(1);
  });

  it("on a pipe is given to nobody where it may mean another, and every such call still gets its answer", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    await one.call("echo");
    // Two in flight.
    const slow = one.call("sleep", { ms: 100 });
    expect(textOf(await one.call("raw", { text: illegible.join("") + answer() }))).toBe("whole");
    expect(textOf(await slow)).toBe("slept 100");
    expect(one.status().answersWithoutId).toBe(illegible.length);
    // One in flight, behind a notification that may be what could not be read.
    const abort = new AbortController();
    const given = code(one.call("sleep", { ms: 600_000 }, { signal: abort.signal }));
    abort.abort();
    expect(await given).toBe("call-cancelled");
    expect(textOf(await one.call("raw", { text: `${illegible[0] ?? ""}${answer()}` }))).toBe("whole");
    // That one was answered, and with it the notification is accounted for.
    expect(await code(one.call("raw", { text: illegible[0] ?? "" }))).toBe("answer-unreadable");
  });

  it("on a pipe is nobody's where it is a log, a result, or named as a request that nobody sent", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    await one.call("echo");
    const others = [
      `{${error}}\n`,
      `{"level":"error","id":null,${error}}\n`,
      `{"jsonrpc":"2.0","id":424242,${error}}\n`,
      `{"jsonrpc":"2.0","id":null,"error":null}\n`,
      answer("null"),
    ];
    for (const text of others) expect(textOf(await one.call("raw", { text: text + answer() }))).toBe("whole");
    expect(one.status()).toMatchObject({ answersWithoutId: 1, noiseLines: others.length });
  });

  it("over HTTP is the answer of the request whose own reply it is, as a body and as an event, whatever else runs", async () => {
    for (const events of [false, true]) {
      const one = stand(remote((await oddHttp(events, () => illegible[0] ?? "")).url, never));
      const both = await Promise.all([code(one.call("x")), code(one.call("x"))]);
      expect(both).toEqual(Array(2).fill({ refusal: -32700, message: "Parse error" }));
    }
  });
});

describe("messages that are JSON and yet odd", () => {
  it("reach whoever waits, once: twice answered, answered for others, reported on for nobody", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    await one.call("echo", {});
    const answer = (id: string, text: string): string =>
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}]}}\n`;
    const progress = (token: string): string =>
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}\n`;
    const seen: unknown[] = [];
    const text =
      answer("999999", "for nobody") +
      answer("-1", "for nobody") +
      answer("0.5", "for nobody") +
      answer("null", "for nobody") +
      progress("999999") +
      progress('"x"') +
      progress("TOKEN") +
      answer("ID", "first") +
      answer("ID", "second") +
      progress("TOKEN") +
      '{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"message":"third"}}\n';
    expect(textOf(await one.call("raw", { text }, { onProgress: (told) => seen.push(told) }))).toBe("first");
    expect(textOf(await one.call("echo", { text: "on" }))).toBe("on");
    expect(seen).toEqual([{ progress: 1 }]);
    // What nobody asked for is noise; what comes late is not.
    expect(one.status()).toMatchObject({ noiseLines: 5, answersWithoutId: 1 });
  });

  it("are settled once where an answer and a cancellation cross", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    await one.reach("up");
    const settled = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const abort = new AbortController();
        const call = code(one.call("sleep", { ms: at % 6 }, { signal: abort.signal }));
        setTimeout(() => abort.abort(), at % 5);
        return call;
      }),
    );
    for (const one of settled)
      expect([{ content: [{ type: "text", text: expect.stringMatching(/^slept/) as string }] }, "call-cancelled"]).toContainEqual(
        one,
      );
    expect(textOf(await one.call("echo", { text: "on" }))).toBe("on");
    expect(one.status().noiseLines).toBe(0);
  });

  it("tell the bytes they came in to whoever asked", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    const answer = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"é"}]} }';
    const seen: number[] = [];
    await one.call("raw", { text: `noise\n  ${answer}\n` }, { onBytes: (bytes) => seen.push(bytes) });
    for (const events of [false, true]) {
      const server = await oddHttp(events, (id) => answer.replace("ID", id));
      await stand(remote(server.url, never)).call("x", {}, { onBytes: (bytes) => seen.push(bytes) });
    }
    const wide = Buffer.byteLength(answer);
    for (const bytes of seen) expect(wide - 2 <= bytes && bytes <= wide + 2).toBe(true);
    expect(seen).toHaveLength(3);
  });

  it("say that they are no answer where they carry neither result nor error", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    const refused = (text: string): Promise<unknown> => one.call("raw", { text: `${text}\n` }).catch((error: unknown) => error);
    const ours = { code: "answer-unreadable", blame: "upstream" };
    expect(await refused('{"jsonrpc":"2.0","id":ID}')).toMatchObject({
      ...ours,
      detail: "workbench/raw: The upstream answered with neither a result nor an error.",
    });
    // What came instead is kept.
    expect(await refused('{"jsonrpc":"2.0","id":ID,"result":"plain"}')).toMatchObject({ ...ours, data: { result: "plain" } });
    expect(await refused('{"jsonrpc":"2.0","id":ID,"result":null}')).toMatchObject({ ...ours, data: { result: null } });
    expect(await refused('{"jsonrpc":"2.0","id":ID,"error":null,"result":{"content":[]}}')).toEqual({ content: [] });
  });
});

describe("an upstream's error that the protocol does not allow", () => {
  const odd: [JsonValue, number, string][] = [
    ["plain words", -32603, "plain words"],
    [{ code: "E_AUTH", message: "log in", data: { at: 1 } }, -32603, "log in"],
    [{ code: "-32001", message: "as text" }, -32001, "as text"],
    [{ code: 1.5, message: "a half" }, -32603, "a half"],
    [{ code: -32000, message: { de: "nein", en: "no" } }, -32000, '{"de":"nein","en":"no"}'],
    [{ code: -32000 }, -32000, '{"code":-32000}'],
    [{ code: -32000, message: "" }, -32000, '{"code":-32000,"message":""}'],
    [{ reason: "quota" }, -32603, '{"reason":"quota"}'],
    [{}, -32603, "{}"],
    [["a", 1], -32603, '["a",1]'],
    [17, -32603, "17"],
    [false, -32603, "false"],
  ];

  it.each(odd)("keeps what it says and goes along as it was written: %j", (error, wantedCode, wanted) => {
    const message = readMessage({ jsonrpc: "2.0", id: 1, error });
    expect(message).toMatchObject({ kind: "refusal", id: 1, refusal: { code: wantedCode } });
    const { refusal } = message as Extract<typeof message, { kind: "refusal" }>;
    expect(refusal.message).toContain(wanted);
    expect(refusal.data).toEqual(typeof error === "string" ? undefined : error);
  });

  it("always has an integer code and a text, and nothing of it is lost, whatever it is", () => {
    const error = fc.oneof(
      fc.jsonValue(),
      fc.record({ code: fc.jsonValue(), message: fc.jsonValue(), data: fc.jsonValue() }, { requiredKeys: [] }),
    );
    fc.assert(
      fc.property(error, (value) => {
        const written = value as JsonValue;
        const { code: number, message, data } = readRefusal(written);
        expect(Number.isSafeInteger(number)).toBe(true);
        expect(message).not.toBe("");
        const proper = { code: number, message, ...(data === undefined ? {} : { data }) };
        const kept = [JSON.stringify(proper), JSON.stringify(data), JSON.stringify(message)];
        const { code: hadCode, message: hadMessage, data: hadData } = Object(written) as Record<string, JsonValue>;
        const known = JSON.stringify({ code: hadCode, message: hadMessage, data: hadData });
        expect(kept.includes(JSON.stringify(written)) || JSON.stringify(proper) === known).toBe(true);
      }),
    );
  });

  it("reaches the agent over every transport", async () => {
    const error = '{"code":"E_QUOTA","message":{"text":"used up"},"data":[1]}';
    const expected = {
      code: -32603,
      data: JSON.parse(error) as JsonValue,
      message: expect.stringContaining("used up") as string,
    };
    const pipe = stand(fixture("workbench.mjs", [], never));
    expect(
      await pipe.call("raw", { text: `{"jsonrpc":"2.0","id":ID,"error":${error}}\n` }).catch((e: unknown) => e),
    ).toMatchObject(expected);
    for (const events of [false, true]) {
      const one = stand(remote((await oddHttp(events, (id) => `{"jsonrpc":"2.0","id":${id},"error":${error}}`)).url, never));
      expect(await one.call("x").catch((e: unknown) => e)).toMatchObject(expected);
    }
  });
});

/** An HTTP server whose tool calls are replied to with this text, as one event of a stream that stays open or as a body. */
async function oddHttp(events: boolean, written: (id: string) => string, type = "application/json") {
  return listen((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    void readBody(request).then((body) => {
      const id = body["id"];
      if (id === undefined) return response.writeHead(202).end();
      if (body["method"] === "initialize") {
        const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } };
        return json(response, 200, { jsonrpc: "2.0", id, result }, { "mcp-session-id": "s" });
      }
      if (body["method"] === "tools/list")
        return json(response, 200, { jsonrpc: "2.0", id, result: { tools: [{ name: "x", inputSchema: { type: "object" } }] } });
      const text = written(JSON.stringify(id));
      if (!events) return response.writeHead(200, type === "" ? {} : { "content-type": type }).end(text);
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.write(
        text
          .split("\n\n")
          .map((one) => `${one.replace(/^/gm, "data: ")}\n\n`)
          .join(""),
      );
    });
  });
}

describe("a reply over HTTP that cannot be read", () => {
  const half = (id: string): string => `{"jsonrpc":"2.0","id":${id},"result":{"content":[`;

  it.each([
    ["a body breaks off", false, half, undefined],
    ["an event breaks off and its stream stays open", true, half, undefined],
    ["an event breaks off without a legible id", true, () => '{"result":{"content":[{"text":"on', undefined],
    ["a body is a page", false, () => "<html>Bad gateway</html>", undefined],
    ["a body is a page and says so", false, () => "<html>Sign in</html>", "text/html"],
    ["a body has no type", false, () => "", ""],
    ["a body is empty", false, () => "", undefined],
    ["a body answers something else", false, () => '{"jsonrpc":"2.0","id":98765,"result":{}}', undefined],
    ["a body is no message", false, () => '{"status":"ok"}', undefined],
  ])("fails its call at once where %s", async (_, events, written, type) => {
    const one = stand(remote((await oddHttp(events, written, type)).url, never));
    const fault = (await one.call("x").catch((error: unknown) => error)) as Fault;
    expect(fault.code).toBe("answer-unreadable");
    expect(await one.upstreams.sync()).toEqual([{ label: "remote", ok: true }]);
  });

  it("passes a protocol error on that names no request: the reply belongs to one", async () => {
    const written = (): string => '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}';
    const one = stand(remote((await oddHttp(false, written)).url, never));
    expect(await code(one.call("x"))).toEqual({ refusal: -32700, message: "Parse error" });
  });

  it("is no reason to give a stream up where it is not meant as an answer", async () => {
    const written = (id: string): string =>
      `keep-alive\n\n{}\n\n{"jsonrpc":"2.0","method":"notifications/x","params":{\n\n{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`;
    const one = stand(remote((await oddHttp(true, written)).url, never));
    expect(await one.call("x")).toEqual({ content: [] });
    expect(one.status().noiseLines).toBe(3);
  });

  it("hands every result over as it was written, as a body and as an event", async () => {
    const results = fc.record({
      "x-first": fc.jsonValue(),
      content: fc.array(fc.record({ type: fc.string(), x: fc.jsonValue() })),
      structuredContent: fc.jsonValue(),
      _meta: fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue())),
    });
    for (const events of [false, true]) {
      let sent = "{}";
      const one = stand(remote((await oddHttp(events, (id) => `{"jsonrpc":"2.0","id":${id},"result":${sent}}`)).url, never));
      await fc.assert(
        fc.asyncProperty(results, async (result) => {
          sent = JSON.stringify(result);
          expect(JSON.stringify(await one.call("x"))).toBe(sent);
        }),
        { numRuns: 40 },
      );
    }
  });

  it("passes an answer of many megabytes as a body and as an event, and refuses one above the bound", async () => {
    for (const events of [false, true]) {
      let bytes = 12 * 1024 * 1024;
      const answer = (id: string): string =>
        `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${"x".repeat(bytes)}"}]}}`;
      const one = stand(remote((await oddHttp(events, answer)).url, never));
      expect(textOf(await one.call("x"))).toHaveLength(bytes);
      bytes = 65 * 1024 * 1024;
      expect(await code(one.call("x"))).toBe("answer-too-large");
      expect(await one.upstreams.sync()).toEqual([{ label: "remote", ok: true }]);
    }
  });
});

describe("events out of bytes", () => {
  const read = (chunks: readonly Buffer[]): { messages: string[]; on: string } => {
    const seen = { messages: [] as string[], on: "" };
    const reader = createEventReader({
      maxBytes: 1_000_000,
      onMessage: (text) => (seen.messages.push(text), "{}"),
      onTooLong: () => undefined,
    });
    for (const chunk of chunks) seen.on += reader.push(chunk)?.toString() ?? "";
    return seen;
  };

  it("are the same whatever the chunking and the line ends, and what is no message goes on", () => {
    const one = fc.record({
      data: fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n]/g, ""))),
      id: fc.option(fc.stringMatching(/^[a-z0-9]{1,5}$/), { nil: undefined }),
      type: fc.constantFrom("", "message", "endpoint"),
    });
    fc.assert(
      fc.property(
        fc.array(one),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat({ max: 30 })),
        fc.boolean(),
        (events, end, cuts, bom) => {
          const written = events.map(({ data, id, type }) =>
            [
              ...(id === undefined ? [] : [`id: ${id}`]),
              ...(type === "" ? [] : [`event: ${type}`]),
              ...data.map((line) => `data: ${line}`),
              ": said",
            ]
              .map((line) => line + end)
              .join(""),
          );
          const bytes = Buffer.from((bom ? "\ufeff" : "") + written.map((text) => text + end).join(""));
          const chunks: Buffer[] = [];
          let from = 0;
          for (const cut of cuts) chunks.push(bytes.subarray(from, (from += cut)));
          chunks.push(bytes.subarray(from));
          const seen = read(chunks);
          expect(seen).toEqual(read([bytes]));
          expect(seen.messages).toEqual(
            events.flatMap(({ data, type }) => (type === "endpoint" || data.join("\n") === "" ? [] : [data.join("\n")])),
          );
          for (const { id, data, type } of events) {
            if (id !== undefined) expect(seen.on).toContain(`id: ${id}\n`);
            if (type === "endpoint" && data.length > 0)
              expect(seen.on).toContain(`event: endpoint\n${data.map((line) => `data: ${line}\n`).join("")}`);
          }
        },
      ),
    );
  });
});

describe("an upstream that writes on and on", () => {
  it.each([
    ["one line that has no end", "x"],
    ["one message that has no end", '{"jsonrpc":"2.0","id":1,"result":"'],
    ["lines that are no messages", "a line of a log\n"],
    ["empty lines", "\n"],
    ["space", " "],
  ])("%s is ended, its calls are told, and it is started anew after a pause", async (_, text) => {
    const one = stand(fixture("workbench.mjs", [], never));
    await one.reach("up");
    const { pid } = one.status();
    const other = code(one.call("sleep", { ms: 600_000 }));
    const refused = (await one.call("flood", { text }).catch((error: unknown) => error)) as Fault;
    expect(refused.code).toBe("call-interrupted");
    expect(refused.detail).toMatch(/it wrote \d+ bytes in \d+ lines to stdout within \d+ ms without a message among them/);
    expect(await other).toBe("call-interrupted");
    expect(one.presences()).toContain("away");
    const away = one.events.find((event) => event.kind === "presence" && event.state === "away");
    expect(away).toMatchObject({ reason: expect.stringContaining("without a message among them") as string });
    await until(() => one.status().presence.state === "up" && one.status().pid !== pid, "it is up again");
    expect(textOf(await one.call("echo", { text: "anew" }))).toBe("anew");
  });

  it("is away for as long as it does nothing else, and nothing of it is left", async () => {
    const script =
      'process.stdin.once("data", () => { const p = "x".repeat(65536); const w = () => { while (process.stdout.write(p)); process.stdout.once("drain", w); }; w(); });';
    const one = stand({ ...fixture("workbench.mjs", [], never), args: ["-e", script] });
    await one.reach("away");
    expect(one.status().presence.reason).toContain("without a message among them");
    expect(await code(one.call("echo"))).toBe("tool-unavailable");
  });

  it("on stderr disturbs no call, and only the end of it is kept", async () => {
    const one = stand(fixture("workbench.mjs", [], never));
    expect(textOf(await one.call("flood", { text: "e".repeat(2_000), on: "stderr" }))).toBe("flooding");
    for (let at = 0; at < 20; at += 1) expect(textOf(await one.call("echo", { text: String(at) }))).toBe(String(at));
    expect(one.status().stderrTail.length).toBeLessThanOrEqual(8 * 1024);
    expect(one.status().presence.state).toBe("up");
  });

  describe("is told", () => {
    const MiB = 1024 * 1024;
    function guarded() {
      const state = { nowMs: 0, floods: [] as string[] };
      const guard = createFloodGuard({ elapsedMs: () => state.nowMs, onFlood: (text) => state.floods.push(text) });
      return { state, guard };
    }

    it("from one that writes much in a long time, or with messages among it", () => {
      const { state, guard } = guarded();
      for (let at = 0; at < 40; at += 1) {
        guard.add(64 * MiB, 0);
        state.nowMs += 20_000;
      }
      expect(state.floods).toEqual([]);
      guard.reset();
      for (let at = 0; at < 40; at += 1) {
        guard.add(64 * MiB, 0);
        if (at % 3 === 0) guard.reset();
      }
      expect(state.floods).toEqual([]);
      for (let at = 0; at < 40; at += 1) guard.add(64 * MiB, 0);
      expect(state.floods).toEqual(["it wrote 335544320 bytes in 0 lines to stdout within 0 ms without a message among them"]);
    });

    it("as soon as it is one, however long nothing or little came before, and with its own time and size", () => {
      for (const quietMs of [0, 30_000, 61_000, 3_600_000]) {
        for (const chatty of [false, true]) {
          const { state, guard } = guarded();
          guard.add(100, 1);
          const until = quietMs;
          while (chatty && state.nowMs < until) {
            state.nowMs += 1_000;
            guard.add(100, 1);
          }
          state.nowMs = until + 5_000;
          const beginMs = state.nowMs;
          let written = 0;
          while (state.floods.length === 0) {
            guard.add(MiB, 0);
            written += MiB;
            expect(written).toBeLessThanOrEqual(257 * MiB);
            if (state.floods.length === 0) state.nowMs += 20;
          }
          const [bytes = 0, , tookMs = 0] =
            /(\d+) bytes in (\d+) lines to stdout within (\d+) ms/
              .exec(state.floods[0] ?? "")
              ?.slice(1)
              .map(Number) ?? [];
          // The sentence is about the flood: not older than it, and not of more than it wrote.
          expect(tookMs).toBeLessThanOrEqual(state.nowMs - beginMs);
          expect(tookMs).toBeGreaterThan((state.nowMs - beginMs) / 2);
          expect(bytes).toBeLessThanOrEqual(written);
          expect(bytes).toBeGreaterThan(written * 0.9);
        }
      }
    });
  });
});
