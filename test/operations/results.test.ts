import { afterEach, describe, expect, it } from "vitest";
import { Fault, Refusal } from "../../src/model/fault.js";
import type { JsonObject } from "../../src/model/json.js";
import { callTool, keptResult } from "../../src/operations/calls.js";
import { createMemory, type Desk } from "../../src/operations/desk.js";
import { refusalResult, withEpisode } from "../../src/surfaces/mcp/translate.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";

afterEach(closeHouses);

const CAP = 10_000;
const texts = (count: number, text: string): JsonObject => ({
  content: Array.from({ length: count }, () => ({ type: "text", text })),
});

function answering(answer: JsonObject | Refusal): Desk["upstreams"] {
  const call = (): Promise<JsonObject> => (answer instanceof Refusal ? Promise.reject(answer) : Promise.resolve(answer));
  return { call } as unknown as Desk["upstreams"];
}

/** A desk whose one upstream answers every call with this. */
async function deskOf(answer: JsonObject | Refusal): Promise<Desk> {
  const house = await openHouse(makeHome(["shop"], { policy: { resultBytes: CAP } }));
  await list(house, "shop", [tool("dump")]);
  let ids = 0;
  const desk: Partial<Desk> = {
    steward: house.steward,
    memory: createMemory(),
    clock: { now: () => "2027-01-01T00:00:00.000Z", elapsedMs: () => 0 },
    chance: { id: (prefix: string) => `${prefix}${String((ids += 1)).padStart(20, "0")}` } as Desk["chance"],
    calls: { add: () => undefined } as unknown as Desk["calls"],
    upstreams: answering(answer),
  };
  return desk as Desk;
}

/** The answer as a surface spells it. */
async function answerOf(desk: Desk, direct = false): Promise<JsonObject> {
  const options = { signal: new AbortController().signal, direct };
  try {
    const { body, episode } = await callTool(desk, { tool: "shop/dump", arguments: {} }, person, options);
    return direct ? body.result : withEpisode(body.result, episode);
  } catch (error) {
    if (error instanceof Refusal) return refusalResult(error);
    throw error;
  }
}
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const handleIn = (answer: JsonObject): { id: string; pages: number } => {
  const [, id = "", pages = ""] =
    /Read steward:\/\/results\/(\w+) for the whole, or \S+ to \S+\/(\d+) /.exec(JSON.stringify(answer)) ?? [];
  return { id, pages: Number(pages) };
};

const LARGE: readonly (readonly [string, JsonObject | Refusal])[] = [
  ["one long text", texts(1, "😀".repeat(100_000))],
  ["many short texts", texts(2_000, "line")],
  ["a little more than the cap in many blocks", texts(400, "l")],
  ["a huge member of _meta", { ...texts(1, "fine"), _meta: { "shop/dump": "m".repeat(200_000) } }],
  ["huge structured content", { ...texts(1, "fine"), structuredContent: { rows: ["s".repeat(200_000)] } }],
  ["a member that no protocol knows", { ...texts(1, "fine"), extra: "e".repeat(200_000) }],
  ["no content at all", { structuredContent: { rows: ["s".repeat(200_000)] } }],
  ["an error with huge data", new Refusal(-32_000, "no", { dump: "d".repeat(200_000) })],
  ["an error with a huge message", new Refusal(-32_000, '"'.repeat(200_000))],
];

describe("a kept result", () => {
  it("is there for the token whose call made it, and for another it is as unknown as any", async () => {
    const desk = await deskOf(texts(1, "long ".repeat(10_000)));
    const token = (principal: string) => ({ ...person, principal });
    const made = async (principal: string): Promise<string> => {
      const options = { signal: new AbortController().signal, direct: false };
      const { body } = await callTool(desk, { tool: "shop/dump", arguments: {} }, token(principal), options);
      return handleIn(body.result).id;
    };
    const reads = (principal: string, id: string): string => {
      try {
        return keptResult(desk, id, token(principal)).mimeType;
      } catch (error) {
        return (error as Fault).message.replaceAll(id, "<id>");
      }
    };
    const unknown = reads("ann", "never").replace("never", "<id>");
    const [ofAnn, ofLocal] = [await made("ann"), await made("local")];
    expect([reads("ann", ofAnn), reads("ann", `${ofAnn}/1`)]).toEqual(["application/json", "text/plain"]);
    for (const other of ["bob", "local", "mcp"]) expect(reads(other, ofAnn), other).toBe(unknown);
    expect(reads("bob", ofLocal)).toBe(unknown);
    // Callers without a token share theirs.
    expect(reads("mcp", ofLocal)).toBe("application/json");
  });
});

describe.each(LARGE)("an answer of call_tool with %s", (_what, given) => {
  it("is no larger than resultBytes, and the whole can be read, at once and by pages", async () => {
    const desk = await deskOf(given);
    const answer = await answerOf(desk);
    expect(bytesOf(answer)).toBeLessThanOrEqual(CAP);
    const { id, pages } = handleIn(answer);
    const whole = keptResult(desk, id, person);
    const { code, message, data } = given as Refusal;
    const expected = given instanceof Refusal ? { code, message, ...(data === undefined ? {} : { data }) } : given;
    expect(JSON.parse(whole.text)).toEqual(expected);
    const read = Array.from({ length: pages }, (_, index) => keptResult(desk, `${id}/${index + 1}`, person).text);
    expect(read.join("") === whole.text).toBe(true);
  });

  it("is not cut where it is called directly", async () => {
    const desk = await deskOf(given);
    expect(await answerOf(desk, true)).toEqual(given instanceof Refusal ? refusalResult(given) : given);
    expect(desk.memory.results.size).toBe(0);
  });
});

describe("an answer of call_tool around the cap", () => {
  it("is whole or an excerpt, and never above it once the episode is named in it", async () => {
    const desk = await deskOf({});
    let whole = 0;
    for (let length = CAP - 140; length <= CAP + 20; length += 4) {
      const given = texts(1, "x".repeat(length));
      const answer = await answerOf({ ...desk, upstreams: answering(given) });
      expect(bytesOf(answer)).toBeLessThanOrEqual(CAP);
      if (answer["content"] === given["content"]) whole += 1;
    }
    expect(whole).toBeGreaterThan(0);
  });
});

describe("a page of a kept result", () => {
  it("has a plain number from one; any other address is told which pages there are", async () => {
    const desk = await deskOf(texts(1, "x".repeat(120_000)));
    const { id, pages } = handleIn(await answerOf(desk));
    expect(pages).toBe(3);
    for (const page of [
      "0",
      "-1",
      "4",
      "1e1",
      "01",
      "1.0",
      "+1",
      " 1",
      "1 ",
      "1/2",
      "1/",
      "",
      "abc",
      "0x1",
      "1?x",
      "٣",
      "9".repeat(400),
    ]) {
      const refused = (() => {
        try {
          return keptResult(desk, `${id}/${page}`, person);
        } catch (error) {
          return error;
        }
      })();
      expect(refused, page).toBeInstanceOf(Fault);
      expect((refused as Fault).code).toBe("result-unknown");
      expect((refused as Fault).message).toContain(`its pages are ${id}/1 to ${id}/3`);
    }
    expect(() => keptResult(desk, "never", person)).toThrow(/never is not kept/);
  });
});
