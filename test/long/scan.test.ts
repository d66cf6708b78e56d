import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readVersions, seriesNames } from "../../scripts/eval/lineage.js";
import { readCatalogFile } from "../../src/catalog/files.js";
import { nextHolds } from "../../src/catalog/hold.js";
import { isGrave, scanTool } from "../../src/catalog/scan.js";
import { holdsFormat } from "../../src/model/catalog.js";
import type { Holds } from "../../src/model/catalog.js";
import type { Tool } from "../../src/model/tool.js";
import { sharedData } from "../data.js";

const data = sharedData("");

/** Every tool of a set of catalogs; definitions that several versions share count once. */
function* sets(): Iterable<readonly [string, readonly Tool[]]> {
  for (const name of seriesNames(data ?? "")) {
    const tools = readVersions(data ?? "", name).flatMap((version) => [...version.tools.values()]);
    yield [name, [...new Map(tools.map((tool) => [tool.digests.document, tool])).values()]];
  }
  const lines = (text: string): unknown[] =>
    text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
  for (const name of readdirSync(join(data ?? "", "retrieval"))) {
    yield [name, readCatalogFile(lines(readFileSync(join(data ?? "", "retrieval", name, "catalog.jsonl"), "utf8"))).tools];
  }
  for (const name of ["toucan", "botocore"]) {
    yield [
      name,
      readCatalogFile(lines(gunzipSync(readFileSync(join(data ?? "", "scale", `${name}.jsonl.gz`))).toString("utf8"))).tools,
    ];
  }
}

describe.skipIf(data === undefined)("public catalogs", () => {
  it("have at most one tool in two hundred that the scan would hold", () => {
    let [all, grave] = [0, 0];
    for (const [name, tools] of sets()) {
      const found = tools.map((tool) => scanTool(tool));
      const hold = found.filter((findings) => findings.some(isGrave)).length;
      const note = found.filter((findings) => findings.length > 0).length - hold;
      process.stdout.write(`${name.padEnd(26)} ${String(tools.length).padStart(6)} tools  hold ${hold}  note ${note}\n`);
      all += tools.length;
      grave += hold;
    }
    expect(all).toBeGreaterThan(10_000);
    expect(grave / all).toBeLessThanOrEqual(0.005);
  });

  it("change their texts all the time and have no tool held for a text alone", () => {
    let changed = 0;
    const held: string[] = [];
    for (const name of seriesNames(data ?? "")) {
      let holds: Holds = { format: holdsFormat.id, held: {}, approved: {}, review: {} };
      const known = new Map<string, Tool>();
      for (const version of readVersions(data ?? "", name)) {
        const moved = [...version.tools.values()].map((after) => ({ key: after.key, before: known.get(after.key), after }));
        changed += moved.filter((one) => one.before !== undefined && one.before.digests.text !== one.after.digests.text).length;
        holds = nextHolds(holds, moved, "2031-01-01T00:00:00.000Z", { holdOnTextChange: false });
        for (const one of moved) known.set(one.key, one.after);
        held.push(
          ...Object.entries(holds.held).flatMap(([key, hold]) =>
            hold.reasons.filter((reason) => reason.rule !== "A1").map(() => key),
          ),
        );
      }
    }
    expect(changed).toBeGreaterThan(300);
    expect(held).toEqual([]);
  });
});
