/** Every fault has its form in both protocols, in one table each, and nobody spells a status elsewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault, FAULTS } from "../../src/model/fault.js";
import type { FaultCode } from "../../src/model/fault.js";
import { HTTP_STATUS, isMcpPath, problemOf } from "../../src/surfaces/http/translate.js";
import { faultMessage, faultResult, MCP_FORMS } from "../../src/surfaces/mcp/translate.js";

const CODES = Object.keys(FAULTS) as FaultCode[];
const surfaces = resolve(import.meta.dirname, "../../src/surfaces");
const sources = ["mcp", "http"].flatMap((room) =>
  readdirSync(join(surfaces, room)).map((file) => ({
    file: `${room}/${file}`,
    text: readFileSync(join(surfaces, room, file), "utf8"),
  })),
);
const code = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");

describe("the forms of faults", () => {
  it("cover exactly the table of faults", () => {
    expect(Object.keys(HTTP_STATUS).sort()).toEqual([...CODES].sort());
    expect(Object.keys(MCP_FORMS).sort()).toEqual([...CODES].sort());
  });

  it.each(CODES)("say %s with its code, its blame and whether trying again helps [K06]", (of) => {
    const fault = new Fault(of, "More about it.", { some: "data" });
    const { blame, retryable } = FAULTS[of];
    expect(problemOf(fault)).toMatchObject({ code: of, blame, retryable, status: HTTP_STATUS[of], data: { some: "data" } });
    expect(faultResult(fault)).toMatchObject({ isError: true, structuredContent: { error: { code: of, blame, retryable } } });
    const text = (faultResult(fault)["content"] as { text: string }[])[0]?.text ?? "";
    for (const part of [FAULTS[of].sentence, "More about it.", of, '"some":"data"']) expect(text).toContain(part);
    expect(faultMessage(fault, 7)).toMatchObject({
      jsonrpc: "2.0",
      id: 7,
      error: { code: MCP_FORMS[of].code, data: { code: of } },
    });
  });

  it.each<[FaultCode, RegExp]>([
    ["tool-not-offered", /parked|disabled|login|pinned|version/],
    ["forbidden", /right|upstream/],
    ["skill-unknown", /library|rests/],
    ["call-interrupted", /upstream|daemon/],
  ])("leave the reason of %s to who throws it: there are several, and only one is true", (of, reasons) => {
    expect(FAULTS[of].sentence).not.toMatch(reasons);
  });

  it("blame the caller with 4xx, and others with 5xx or a conflict", () => {
    for (const of of CODES) {
      const status = HTTP_STATUS[of];
      if (FAULTS[of].blame === "caller") expect(status, of).toBeLessThan(500);
      else expect(status >= 500 || status === 409 || status === 429, of).toBe(true);
    }
  });

  it("name only codes of the table where a fault is thrown", () => {
    for (const { file, text } of sources) {
      for (const match of text.matchAll(/new Fault\(\s*"([a-z-]+)"/g)) expect(CODES, file).toContain(match[1]);
    }
  });

  it("are spelt in translate.ts alone: no HTTP status and no JSON-RPC code elsewhere", () => {
    for (const { file, text } of sources) {
      if (file.endsWith("translate.ts") || file.endsWith("openapi.ts")) continue;
      const spelt = [...code(text).matchAll(/-32[0-9]{3}\b|\b(?:status|statusCode|writeHead)\W{0,8}[1-5][0-9]{2}\b/g)];
      expect(
        spelt.map((match) => match[0]),
        file,
      ).toEqual([]);
    }
  });

  it("are JSON-RPC on the MCP routes and problem documents on all others", () => {
    expect(["/mcp", "/mcp/direct", "/mcp?x=1", "/mcp/else"].every(isMcpPath)).toBe(true);
    expect(["/", "/v1/catalog", "/mcpx", undefined].some(isMcpPath)).toBe(false);
  });
});
