import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FAULTS } from "../../../src/model/fault.js";
import { EXIT, exitOf } from "../../../src/surfaces/cli/access.js";
import { openDesk, type Desk } from "./stand.js";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.drop());

describe("what cannot be meant on the command line", () => {
  it.each([
    ["nothing"],
    ["retrieve"],
    ["retrieve", "order", "--limit", "0"],
    ["retrieve", "order", "--limit", "-1"],
    ["retrieve", "order", "--limit", "many"],
    ["retrieve", "order", "--limit", ""],
    ["retrieve", "order", "--limit", "1e99"],
    ["retrieve", ""],
    ["retrieve", "", "--at", "1"],
    ["retrieve", "order", "--at", "99"],
    ["retrieve", "order", "--episode", ""],
    ["explore", ""],
    ["provision", ""],
    ["provision", "cancel an order", "--budget", "1"],
    ["provision", "cancel an order", "--episode", "ep_nobody"],
    ["catalog", "show", "shop/nothing"],
    ["describe", "shop/nothing"],
    ["describe", "shop/cancel_order", "shop/nothing"],
    ["call", "shop/nothing"],
    ["catalog", "show", "shop/nothing", "--at", "1"],
    ["catalog", "show", "--at", "99"],
    ["catalog", "show", "--at", "0x1"],
    ["catalog", "show", "--at", "1e0"],
    ["catalog", "show", "--at", " 1"],
    ["catalog", "drift", "98", "99"],
    ["catalog", "approve", "shop/nothing"],
    ["catalog", "pin", "99"],
    ["skills", "show", "no-such-skill"],
    ["skills", "list", "--tier", "golden"],
    ["skills", "list", "--standing", "upright"],
    ["skills", "list", "--at", "99"],
    ["skills", "revert", "99"],
    ["episodes", "show", "ep_nobody"],
    ["replay", "vw_nothing"],
    ["serve", "--port", "70000"],
    ["serve", "--log", "loud"],
    ["maintain", "--mode", "magic"],
  ])("ends with the exit code of wrong use and a word why: %j %j %j %j", { timeout: 60_000 }, async (...argv) => {
    const said = await desk.run(...argv.filter((part) => typeof part === "string"));
    expect([said.code, said.err.trim() !== ""], said.err).toEqual([EXIT.usage, true]);
  });

  it("is told by the fault's blame, refusals apart", () => {
    for (const [code, { blame }] of Object.entries(FAULTS)) {
      if (blame !== "caller") expect(exitOf(code), code).toBe(EXIT.failed);
    }
    for (const code of ["input-invalid", "version-unknown", "skill-unknown", "tool-unknown", "arguments-invalid"])
      expect(exitOf(code), code).toBe(EXIT.usage);
    for (const code of ["edit-refused", "forbidden", "skill-pinned", undefined, "never-heard-of"])
      expect(exitOf(code)).toBe(EXIT.failed);
  });

  it("is not a need of several words without quotes, which is the same need", async () => {
    for (const verb of ["retrieve", "explore", "provision"]) {
      const texts = [
        await desk.run(verb, "cancel an order", "--json"),
        await desk.run(verb, "cancel", "an", "order", "--json"),
      ].map(({ code, out }) => [code, (JSON.parse(out) as { tools: unknown; view: string }).tools]);
      expect(texts[1]).toEqual(texts[0]);
    }
  });

  it("is not a large limit, which is cut and said to be", async () => {
    for (const limit of ["6", "101", "5000"]) {
      const said = await desk.run("retrieve", "order", "--limit", limit, "--json");
      expect(said.code, said.err).toBe(EXIT.fine);
      const codes = (JSON.parse(said.out) as { notices: { code: string }[] }).notices.map(({ code }) => code);
      expect(codes).toContain("limit-cut");
    }
  });
});
