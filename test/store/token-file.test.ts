/** The token file of a running daemon: what is written there is in force from the next request on. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openTokenFile } from "../../src/store/token-file.js";
import { checkTokens } from "../../src/surfaces/http/tokens.js";

const homes: string[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
const entry = (name: string, more: object = {}) => ({
  name,
  sha256: sha(name),
  upstreams: ["*"],
  rights: ["agent"],
  created: "2027-01-01T00:00:00.000Z",
  ...more,
});
const file = (...entries: object[]): string => JSON.stringify({ format: "tokens/1", tokens: entries });

/** A home whose token file holds `text`, and who is let in by it now: each name given stands for its token. */
function scene(text?: string) {
  const home = mkdtempSync(join(tmpdir(), "steward-tokens-"));
  homes.push(home);
  mkdirSync(join(home, "state"));
  const path = join(home, "state/tokens.json");
  const write = (next: string): void => writeFileSync(path, next);
  if (text !== undefined) write(text);
  const said: string[] = [];
  const tokens = openTokenFile(home, (level, line) => said.push(`${level} ${line}`));
  const check = checkTokens(() => tokens.inForce(), sha("operator"));
  return {
    tokens,
    said,
    write,
    remove: () => rmSync(path),
    with: (name: string) => check(`Bearer ${name}`, true)?.principal,
    without: () => check(undefined, true)?.principal,
  };
}

describe("the token file", () => {
  it("is read again when it moved: a token that was taken out opens nothing more, a new one opens at once", () => {
    const at = scene(file(entry("ann"), entry("bob")));
    expect([at.with("ann"), at.with("bob"), at.with("cyd")]).toEqual(["ann", "bob", undefined]);
    at.write(file(entry("bob"), entry("cyd")));
    expect([at.with("ann"), at.with("bob"), at.with("cyd"), at.with("operator")]).toEqual([undefined, "bob", "cyd", "local"]);
    expect(at.said).toEqual(["info state/tokens.json was read again: bob, cyd in force"]);
    expect(at.tokens.problems()).toEqual([]);
  });

  it("closes this machine to callers without a token with the first one, and opens it again with none", () => {
    const at = scene();
    expect(at.without()).toBe("local");
    at.write(file(entry("ann")));
    expect([at.without(), at.with("ann")]).toEqual([undefined, "ann"]);
    at.write(file());
    expect(at.without()).toBe("local");
  });

  it.each([
    ["half written", file(entry("ann")).slice(0, 40), "it is not JSON"],
    ["empty", "", "it is empty"],
    ["of a newer format", JSON.stringify({ format: "tokens/9", tokens: [] }), "tokens/9"],
    ["with an unknown right", file(entry("ann", { rights: ["admin"] })), "tokens.0.rights.0"],
    ["with a name twice", file(entry("ann"), entry("ann")), '"ann" is there twice'],
    ["with the name of callers without a token", file(entry("local")), '"local" is not a name'],
    ["with a token in clear", file(entry("ann", { sha256: "s3cret" })), "tokens.0.sha256"],
  ])("that is %s leaves the last good tokens in force, and says so where people look", (_what, broken, why) => {
    const at = scene(file(entry("ann")));
    at.write(broken);
    expect([at.with("ann"), at.without()]).toEqual(["ann", undefined]);
    expect(at.said.filter((line) => line.startsWith("error"))).toHaveLength(1);
    expect(at.tokens.problems()).toMatchObject([{ code: "tokens-unreadable", where: "state/tokens.json" }]);
    expect(at.tokens.problems()[0]?.text).toContain(why);
    expect(at.tokens.problems()[0]?.text).toContain("The last good tokens stay in force.");
    at.write(file(entry("bob")));
    expect([at.with("ann"), at.with("bob")]).toEqual([undefined, "bob"]);
    expect(at.tokens.problems()).toEqual([]);

    // At the start there is no last good state: nobody but the operator is let in.
    const first = scene(broken);
    expect([first.without(), first.with("ann"), first.with("operator")]).toEqual([undefined, undefined, "local"]);
    expect(first.tokens.problems()).toHaveLength(1);
  });

  it("that goes does not open the house", () => {
    const at = scene(file(entry("ann")));
    at.remove();
    expect([at.without(), at.with("ann")]).toEqual([undefined, "ann"]);
    expect(at.tokens.problems()[0]?.text).toContain("it is gone");
  });
});
