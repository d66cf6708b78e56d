/** catalog and graph verbs: versions, drift, lineage, approvals. */
import type { Command } from "commander";
import type { JsonObject } from "../../model/json.js";
import { didYouMean } from "../../retrieve/near-names.js";
import { addApprove } from "./approve.js";
import { addLineage, levelOf } from "./lineage.js";
import { CliFault, EXIT, type Comparison } from "./access.js";
import { printChanges } from "./changes.js";
import { compareDrift, isVersion, needsReview, type CompareOptions } from "./compare.js";
import { describe, toCount } from "./facade.js";
import { listOf, objectOf, textOf, textsOf } from "./fields.js";
import { pathPart } from "./path.js";
import { printReason, standingShown } from "./standing.js";
import type { Verbs } from "./verb.js";

export function addCatalogVerbs(verbs: Verbs): void {
  const { program, ports } = verbs;
  const { print } = ports;
  const catalog = program.command("catalog").description("the versioned catalog of tools");

  catalog
    .command("sync [upstream]")
    .description("list upstreams now")
    .action((upstream: string | undefined) =>
      verbs.withAccess({ upstreams: true }, async (access) => {
        const answer = objectOf(await access.ask("POST", "/v1/catalog/sync", upstream === undefined ? {} : { upstream }));
        const results = listOf(answer["results"]);
        if (verbs.json()) print.json(answer);
        else {
          print.line(`catalog version ${textOf(answer["version"])}`);
          for (const row of results)
            print.line(`  ${textOf(row["label"])}: ${row["ok"] === true ? "listed" : `not listed (${textOf(row["reason"])})`}`);
        }
        return results.every((row) => row["ok"] === true) ? EXIT.fine : EXIT.failed;
      }),
    );

  catalog
    .command("log")
    .description("catalog versions, newest first")
    .action(() =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const versions = listOf(await access.ask("GET", "/v1/catalog/versions")).reverse();
        if (verbs.json()) return print.json(versions);
        print.table(
          [
            { title: "version", align: "right" },
            { title: "time" },
            { title: "tools", align: "right" },
            { title: "+", align: "right" },
            { title: "-", align: "right" },
            { title: "~", align: "right" },
            { title: "cause" },
          ],
          versions.map((row) =>
            row["damaged"] === undefined
              ? ["version", "time", "tools", "added", "removed", "changed", "cause"].map((field) => textOf(row[field]))
              : [textOf(row["version"]), "", "", "", "", "", `damaged (${textOf(row["damaged"])}); \`steward doctor\` says more`],
          ),
        );
        if (versions.length === 0) print.line("Nothing was listed yet: the first listing of an upstream makes version 1.");
      }),
    );

  catalog
    .command("show [tool]")
    .description("the catalog, or one tool whole")
    .option("--at <version>", "as it was at a catalog version", toCount)
    .action((tool: string | undefined, options: { at?: number }) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const isWhole = tool !== undefined && options.at === undefined;
        const describeOne = async (key: string): Promise<number> =>
          describe(print, await access.ask("POST", "/v1/describe_tools", { tools: [key] }));
        // A key names one tool by itself; any other name is looked up among all.
        if (isWhole && tool.includes("/")) return await describeOne(tool);
        const answer = objectOf(await access.ask("GET", `/v1/catalog${options.at === undefined ? "" : `?at=${options.at}`}`));
        const key = tool === undefined ? undefined : keyNamed(tool, listOf(answer["tools"]));
        // What is not there is told with what became of it.
        if (isWhole) return await describeOne(key ?? tool);
        const tools = listOf(answer["tools"]).filter((row) => tool === undefined || row["tool"] === key);
        if (tool !== undefined && key === undefined) throw notInVersion(tool, answer);
        if (verbs.json()) return print.json(tool === undefined ? answer : (tools[0] ?? null));
        print.line(
          { text: `catalog version ${textOf(answer["version"])}`, colour: "bold" },
          ` · ${tools.length} tools · ${textOf(answer["digest"]).slice(0, 12)}`,
        );
        for (const row of tools) {
          const marks = textsOf(row["marks"]);
          print.line(`  ${textOf(row["signature"])}`, {
            text: marks.length > 0 ? `  [${marks.join(", ")}]` : "",
            colour: "yellow",
          });
        }
        for (const problem of listOf(answer["problems"]))
          print.note({ text: `${textOf(problem["where"])}: ${textOf(problem["text"])}`, colour: "yellow" });
      }),
    );

  catalog
    .command("drift [from] [to]")
    .description("what changed between two sides, each a version or a catalog file (default: the last two versions)")
    .option("--label <label>", "the upstream whose tools a catalog file has, where the file does not say")
    .action(async (from: string | undefined, to: string | undefined, options: CompareOptions) => {
      if ([from, to].some((side) => side !== undefined && !isVersion(side))) return await compareDrift(verbs, from, to, options);
      await verbs.withAccess({ upstreams: false }, async (access) => {
        const query = [from === undefined ? "" : `from=${toCount(from)}`, to === undefined ? "" : `to=${toCount(to)}`]
          .filter((part) => part !== "")
          .join("&");
        const drift = objectOf(await access.ask("GET", `/v1/catalog/drift${query === "" ? "" : `?${query}`}`));
        if (verbs.json()) print.json(drift);
        else printDrift(verbs, drift);
        return driftExit(drift);
      });
    });

  addLineage(catalog, verbs);

  addApprove(catalog, verbs);
  addPin(catalog, verbs);

  const graph = program.command("graph").description("what depends on what");
  graph
    .command("why <skill>")
    .description("why a skill stands as it does")
    .option("--at <version>", "as of a catalog version", toCount)
    .action((skill: string, options: { at?: number }) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const at = options.at === undefined ? "" : `?at=${options.at}`;
        const why = objectOf(await access.ask("GET", `/v1/graph/why/${pathPart(skill, "a skill")}${at}`));
        if (verbs.json()) return print.json(why);
        const standing = objectOf(why["standing"]);
        print.line({ text: skill, colour: "bold" }, " is ", standingShown(standing));
        for (const reason of listOf(standing["reasons"]))
          printReason(verbs, reason, `${textOf(reason["rule"])} ${textOf(reason["level"])}: ${textOf(reason["text"])}`);
        for (const path of listOf(why["paths"]))
          print.line({
            text: `  ${textsOf(path["path"]).join(" → ")}: ${textOf(path["text"])}`,
            colour: path["level"] === "compatible" ? "dim" : "yellow",
          });
      }),
    );
  graph
    .command("export")
    .description("the dependency graph (graphology's JSON, or --gexf)")
    .option("--gexf", "GEXF for graph viewers")
    .action((options: { gexf?: boolean }) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        if (options.gexf === true) print.block(await access.askText("/v1/graph?format=gexf"));
        else print.json(await access.ask("GET", "/v1/graph"));
      }),
    );
}

/** The key of the tool that is called so: by its key, its exposed name, or its bare name where no other has it. */
function keyNamed(asked: string, rows: readonly JsonObject[]): string | undefined {
  const exact = rows.find((row) => row["tool"] === asked || row["name"] === asked);
  if (exact !== undefined) return textOf(exact["tool"]);
  const keys = rows.map((row) => textOf(row["tool"])).filter((key) => key.slice(key.indexOf("/") + 1) === asked);
  if (keys.length > 1)
    throw new CliFault(`Several tools are called ${asked}: ${keys.join(", ")}. Name one by its key.`, EXIT.usage);
  return keys[0];
}

function notInVersion(asked: string, answer: JsonObject): CliFault {
  const keys = listOf(answer["tools"]).map((row) => textOf(row["tool"]));
  return new CliFault(`${asked} is not in catalog version ${textOf(answer["version"])}.${didYouMean(asked, keys)}`, EXIT.usage);
}

function addPin(catalog: Command, verbs: Verbs): void {
  const { print } = verbs.ports;
  catalog
    .command("pin [version]")
    .description(
      "let a token or session stay with what still exists of a catalog version (`none` ends it); without one: what is pinned",
    )
    .option("--token <name>", "the token, `mcp` or `local` for callers without one (default: your own)")
    .option("--session <id>", "one MCP session, until it ends")
    .action((version: string | undefined, options: { token?: string; session?: string }) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        if (version === undefined) {
          const pins = listOf(await access.ask("GET", "/v1/catalog/pins"));
          if (verbs.json()) return print.json(pins);
          if (pins.length === 0) print.line("Nobody is pinned.");
          for (const pin of pins) printPin(verbs, pin);
          return;
        }
        const body = { version: version === "none" ? null : toCount(version), ...options };
        const answer = objectOf(await access.ask("POST", "/v1/catalog/pin", body));
        if (verbs.json()) return print.json(answer);
        if (answer["pinned"] === null) print.line("Follows the catalog again.");
        else printPin(verbs, objectOf(answer["pinned"]));
      }),
    );
}

function printPin(verbs: Verbs, pin: JsonObject): void {
  const { print } = verbs.ports;
  const who = pin["token"] === undefined ? `session ${textOf(pin["session"])}` : `token ${textOf(pin["token"])}`;
  const gone = listOf(pin["gone"]);
  const there = Number(pin["tools"]) - gone.length;
  print.line(
    { text: who, colour: "bold" },
    ` · catalog version ${textOf(pin["version"])} · ${there} of ${textOf(pin["tools"])} tools are there`,
  );
  for (const row of gone) {
    const to = textsOf(row["to"]);
    print.line({ text: `  gone: ${textOf(row["tool"])}${to.length === 0 ? "" : `, now ${to.join(" + ")}`}`, colour: "yellow" });
  }
  if (pin["waits"] !== undefined) print.line({ text: `  ${textOf(pin["waits"])}`, colour: "yellow" });
  for (const tool of textsOf(pin["changed"])) print.line({ text: `  changed: ${tool}`, colour: "dim" });
}

/** What became of a hold since. */
const HELD_NOW: Readonly<Record<string, string>> = {
  held: "held until a person approves it",
  approved: "approved since",
  rejected: "free since the takeover was rejected",
  released: "free since: it does no more than what was accepted",
  gone: "gone since",
};

function printDrift(verbs: Verbs, drift: JsonObject): void {
  const { print } = verbs.ports;
  printChanges(print, {
    title: `catalog ${textOf(drift["from"])} → ${textOf(drift["to"])}`,
    added: textsOf(drift["added"]).length,
    removed: textsOf(drift["removed"]).length,
    changed: textsOf(drift["changed"]).length,
    changes: listOf(drift["changes"]).map((change) => ({
      rule: textOf(change["rule"]),
      verdict: textOf(change["verdict"]),
      tool: textOf(change["tool"]),
      text: textOf(change["text"]),
    })),
  });
  const links = listOf(drift["lineage"]);
  if (links.length > 0) print.line({ text: "Lineage", colour: "bold" });
  for (const link of links)
    print.line(`  ${textOf(link["from"])} → ${textsOf(link["to"]).join(" + ")} (${textOf(link["kind"])}, `, levelOf(link), ")");
  const held = listOf(drift["held"]);
  if (held.length > 0) print.line({ text: "Held by this change", colour: "red" });
  for (const row of held) {
    const now = HELD_NOW[textOf(row["now"])] ?? textOf(row["now"]);
    print.line(`  ${textOf(row["tool"])}: `, { text: now, colour: row["now"] === "held" ? "red" : "dim" });
    for (const reason of listOf(row["reasons"])) print.line(`    ${textOf(reason["rule"]).padEnd(3)} ${textOf(reason["text"])}`);
  }
  const skills = listOf(drift["skills"]).filter(
    (row) => objectOf(row["standing"])["standing"] !== "active" || objectOf(row["standing"])["needsReview"] === true,
  );
  if (skills.length > 0) print.line({ text: "Skills reached, as they stand now", colour: "bold" });
  for (const row of skills) print.line(`  ${textOf(row["skill"])}: `, standingShown(objectOf(row["standing"])));
}

/** 0 compatible · 10 needs review · 11 skills would rest · 12 safety; the highest wins. */
function driftExit(drift: JsonObject): number {
  const changes = listOf(drift["changes"]);
  if (listOf(drift["held"]).some((row) => row["now"] === "held") || changes.some((change) => change["rule"] === "A1"))
    return EXIT.safety;
  if (listOf(drift["skills"]).some((row) => objectOf(row["standing"])["standing"] === "inactive")) return EXIT.inactive;
  return needsReview(drift as unknown as Comparison["drift"]) ? EXIT.review : EXIT.fine;
}
