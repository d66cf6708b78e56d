import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * Kinds of faults that users of such software reported, by id, each with the behaviour that is right here. Every id is cited in the
 * title of at least one test, as `[id]`.
 */
const REPORTS: Readonly<Record<string, string>> = {
  T01: "a dead session is renewed once for all, and the call sent again",
  T02: "lines on stdout that are not messages are skipped and counted",
  T02b: "our own stdout carries messages only",
  T04: "a process group is ended whole",
  T05: "the bridge ends with its client",
  T06: "idle streams are kept alive and reconnected",
  T08: "foreign hosts and origins are refused before the body is read",
  T09: "sessions end when idle, and are bounded",
  T10: "one protocol object per session",
  T11: "stderr is drained, its end is kept",
  T13: "commands are found the way the system finds them",
  T14: "children get safe defaults and what is configured, never the whole environment",
  T15: "a byte order mark is no reason to lose a configuration",
  T17: "bodies are bounded before they are buffered",
  T20: "a slow start has a timeout of its own, and says which phase it was in",
  T21: "a start waits for no upstream",
  T23: "a call to a lost upstream makes one bounded attempt",
  T26: "many first calls start one process",
  T29: "malformed requests get protocol errors without traces",
  T31: "a wrong entry is named by its path and the rest starts",
  C01: "listings are read to the end or not taken at all",
  C03: "announced and unannounced moves of a list are noticed",
  C04: "a storm of announcements makes one refresh, the last one kept",
  C07: "exposed names are bounded, distinct and stable",
  C08: "exposed names have the safe characters only, the upstream's name is untouched",
  C10: "one bad tool does not take the others with it",
  C11: "output schemas are never compiled at listing",
  C12: "no dangling reference in what an agent is shown",
  C15: "our own tools have plain object roots",
  C17: "a definition is stored and given back whole",
  C18: "unknown fields survive",
  C20: "the facade has six tools whatever is behind it",
  C21: "a bad output schema is dropped alone",
  C23: "tools of a removed upstream are gone from search and catalog",
  K01: "calls may take minutes, and say what their limit was",
  K02: "progress renews a call's time under a cap",
  K05: "a cancelled call is cancelled upstream",
  K06: "a tool's failure stays a result, an unknown tool gets suggestions",
  K08: "outputs are not validated on their way",
  K11: "every kind of content passes",
  K12: "request and result metadata pass",
  K14: "large results come as head, tail and a handle",
  K16: "absent and null arguments are an empty object",
  K17: "arguments as JSON text are taken, anything else is refused loudly",
  K19: "a call that may have run is not sent again",
  A05: "an agent's credentials reach an upstream only where configured",
  A06: "tokens are compared in constant time, missing and wrong look alike",
  S01: "a changed definition is noticed, shown, and held where it is a safety change",
  S03: "invisible characters are taken out of what agents see, and found",
  S04: "control characters reach no terminal",
  S06: "paths are confined",
  S07: "no metadata addresses, no redirects to other origins",
  S11: "front matter is never executed",
  P01: "writes survive power loss and disc damage",
  P02: "two writers lose nothing",
  P04: "a stop flushes",
  P09: "a dead lock is taken over, a live one refused",
  P11: "one damaged record does not keep the rest from starting",
  P12: "without the native addon everything works, and says so",
  L02: "a refusal is recognised",
  L03: "a truncated answer is never written",
  L05: "Retry-After has a cap",
  L06: "retries wait at least as long as asked, under the cap",
  L08: "nothing depends on tool calling",
  L09: "floats are asked for by name, and numbers that are no vector are not taken",
  L11: "a parameter that an endpoint does not take is left out",
  L12: "odd finish reasons and empty choices are no crash",
  L14: "front matter is written by a serialiser and read back",
  R02: "identifiers are split into words",
  R03: "every script is tokenised",
  R05: "parameters are indexed",
  R06: "tools of removed servers are not found",
  R08: "siblings are told apart",
  R09: "nothing is answered where nothing fits",
  R11: "an exact short name comes first",
  F02: "block scalars are read",
  F03: "wrapped descriptions are read",
  F05: "CRLF and byte order marks are read and kept",
  F06: "rules in the body are no front matter",
  F08: "a name twice is a loud conflict",
  F09: "names are written strictly and read tolerantly",
  F11: "a description that says nothing is refused",
  F12: "a missing front matter is named with the first line found",
};

describe("what users of such software reported", () => {
  const folder = import.meta.dirname;
  const text = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts") && !file.endsWith("field-reports.test.ts"))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n");

  it("is each cited by a test", () => {
    const cited = new Set(
      [...text.matchAll(/\[([A-Z]\d{2}b?(?:[,\]][\s[]*[A-Z]\d{2}b?)*)\]/g)].flatMap((match) =>
        (match[1] ?? "").split(/[^A-Z0-9b]+/),
      ),
    );
    expect(Object.keys(REPORTS).filter((id) => !cited.has(id))).toEqual([]);
  });
});
