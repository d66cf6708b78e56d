/** retrieve, explore, provision, call, describe: what agents ask, on the command line. */
import type { JsonObject, JsonValue } from "../../model/json.js";
import type { Print } from "../../host/print.js";
import { CliFault, EXIT } from "./access.js";
import { countOf, listOf, objectOf, textOf, textsOf } from "./fields.js";
import type { Verbs } from "./verb.js";

export function addFacadeVerbs(verbs: Verbs): void {
  const { program } = verbs;
  program
    .command("retrieve <query...>")
    .description("find tools for one need")
    .option("--limit <n>", "at most this many (5)", toCount)
    .option("--full", "whole definitions")
    .option("--episode <id>", "count it in this episode")
    .option("--at <version>", "as a catalog version would have answered, by words; nothing is recorded", toCount)
    .action(async (words: string[], options: { limit?: number; full?: boolean; episode?: string; at?: number }) => {
      const query = words.join(" ");
      if (options.at !== undefined) {
        if (options.full === true || options.episode !== undefined)
          throw new CliFault(
            "With --at nothing is recorded and signatures are given: --full and --episode do not go with it.",
            EXIT.usage,
          );
        return await searchAt(verbs, query, options.at, options.limit);
      }
      await answerView(verbs, "/v1/retrieve_tools", {
        query,
        ...(options.limit === undefined ? {} : { limit: options.limit }),
        ...(options.full === true ? { detail: "full" } : {}),
        ...episodeOf(options),
      });
    });
  program
    .command("explore <need...>")
    .description("what the ecosystem can do for a need: skills and tools")
    .option("--episode <id>", "count it in this episode")
    .action((words: string[], options: { episode?: string }) =>
      answerView(verbs, "/v1/explore_capabilities", { need: words.join(" "), ...episodeOf(options) }),
    );
  program
    .command("provision <task...>")
    .description("the view an agent would start a task with")
    .option("--budget <tokens>", "token budget of the view (4000)", toCount)
    .option("--hint <text...>", "names that matter")
    .option("--episode <id>", "the next turn of this episode")
    .action((words: string[], options: { budget?: number; hint?: string[]; episode?: string }) =>
      answerView(verbs, "/v1/start_task", {
        task: words.join(" "),
        ...(options.budget === undefined ? {} : { budget_tokens: options.budget }),
        ...(options.hint === undefined ? {} : { hints: options.hint }),
        ...episodeOf(options),
      }),
    );
  program
    .command("describe <tools...>")
    .description("whole definitions of tools")
    .action((tools: string[]) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        return describe(verbs.ports.print, await access.ask("POST", "/v1/describe_tools", { tools }));
      }),
    );
  program
    .command("call <tool> [arguments]")
    .description("call a tool; arguments as a JSON object")
    .option("--episode <id>", "count it in this episode")
    .action((tool: string, text: string | undefined, options: { episode?: string }) =>
      verbs.withAccess({ upstreams: true }, async (access) => {
        const body = { tool, ...(text === undefined ? {} : { arguments: text }), ...episodeOf(options) };
        const answer = objectOf(await access.ask("POST", "/v1/call_tool", body));
        const result = answer["result"] === undefined ? answer : objectOf(answer["result"]);
        if (verbs.json()) verbs.ports.print.json(answer);
        else printResult(verbs.ports.print, result);
        return result["isError"] === true ? EXIT.failed : EXIT.fine;
      }),
    );
}

/** Definitions on stdout; what was asked for and is not there as remarks, and then with the exit code of wrong use. */
export function describe(print: Print, answer: JsonValue): number {
  print.json(answer);
  const missing = listOf(objectOf(answer)["missing"]);
  for (const row of missing) {
    const instead = textsOf(row["instead"]);
    print.note({
      text: `${textOf(row["asked"])}: ${textOf(row["why"])}${instead.length === 0 ? "" : ` Instead: ${instead.join(", ")}.`}`,
      colour: "red",
    });
  }
  return missing.length === 0 ? EXIT.fine : EXIT.usage;
}

async function searchAt(verbs: Verbs, query: string, at: number, limit: number | undefined): Promise<void> {
  await verbs.withAccess({ upstreams: false }, async (access) => {
    const answer = objectOf(
      await access.ask("POST", "/v1/catalog/search", { query, at, ...(limit === undefined ? {} : { limit }) }),
    );
    const { print } = verbs.ports;
    if (verbs.json()) return print.json(answer);
    print.line({ text: `as of catalog version ${textOf(answer["version"])}`, colour: "bold" });
    for (const row of listOf(answer["tools"]))
      print.line(`  ${textOf(row["signature"])}`, {
        text: row["present"] === true ? "" : "  [gone since]",
        colour: "yellow",
      });
    if (listOf(answer["tools"]).length === 0) print.line("Nothing fits well enough.");
    tellUnmatched(print, answer);
    for (const notice of listOf(answer["notices"])) print.note({ text: textOf(notice["text"]), colour: "yellow" });
  });
}

function episodeOf(options: { episode?: string }): JsonObject {
  return options.episode === undefined ? {} : { episode: options.episode };
}

export function toCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(count)) throw new CliFault(`${JSON.stringify(text)} is not a whole number, 0 or more.`, EXIT.usage);
  return count;
}

async function answerView(verbs: Verbs, path: string, body: JsonObject): Promise<void> {
  await verbs.withAccess({ upstreams: false }, async (access) => {
    const view = objectOf(await access.ask("POST", path, body));
    if (verbs.json()) verbs.ports.print.json(view);
    else printView(verbs.ports.print, view);
  });
}

function printResult(print: Print, result: JsonObject): void {
  const blocks = listOf(result["content"]);
  for (const block of blocks) {
    if (block["type"] === "text") print.block(textOf(block["text"]));
    else print.line({ text: `[${textOf(block["type"])}] ${JSON.stringify(block).slice(0, 200)}`, colour: "dim" });
  }
  if (blocks.length === 0) print.json(result);
}

export function printView(print: Print, view: JsonObject): void {
  const plan = objectOf(view["plan"]);
  if (view["plan"] !== undefined) {
    const from = textsOf(plan["from"]);
    print.line({ text: "Plan", colour: "bold" }, ` (${textOf(plan["source"])}${from.length > 0 ? `: ${from.join(", ")}` : ""})`);
    for (const step of listOf(plan["steps"])) {
      const uses = [...textsOf(step["skills"]), ...textsOf(step["tools"])];
      print.line(`  ${textOf(step["n"])}. ${textOf(step["goal"])}`, {
        text: uses.length > 0 ? `  [${uses.join(", ")}]` : "",
        colour: "dim",
      });
    }
  }
  section(
    print,
    "Skills",
    listOf(view["skills"]),
    (skill) => `${textOf(skill["name"])} (${textOf(skill["tier"])}, ${textOf(skill["form"])})`,
  );
  section(print, "Tools", listOf(view["tools"]), (tool) => {
    const marks = textsOf(tool["marks"]);
    return [`${textOf(tool["signature"])}${marks.length > 0 ? ` [${marks.join(", ")}]` : ""}`, `  ${textOf(tool["reason"])}`];
  });
  section(print, "Substitutions", listOf(view["substitutions"]), (row) => {
    const given = textsOf(row["given"]).join(" and ") || "nothing";
    return `${textOf(row["asked"])} → ${given} (${row["certain"] === true ? "certain" : "proposed"}): ${textOf(row["why"])}`;
  });
  section(
    print,
    "Left out",
    listOf(view["left_out"]),
    (row) => `${textOf(row["kind"])} ${textOf(row["id"])}: ${textOf(row["why"])}`,
  );
  section(print, "Notices", listOf(view["notices"]), (row) => textOf(row["text"]));
  tellUnmatched(print, view);
  if (listOf(view["tools"]).length === 0) print.line("No tool fits.");
  const tokens = objectOf(objectOf(view["budgets"])["tokens"]);
  print.line({
    text: `view ${textOf(view["view"])} · ${countOf(tokens["used"])}/${countOf(tokens["limit"])} tokens · ${basisText(view["basis"])}`,
    colour: "dim",
  });
}

function tellUnmatched(print: Print, answer: JsonObject): void {
  const unmatched = textsOf(answer["unmatched"]);
  if (unmatched.length > 0) print.line(`No tool knows: ${unmatched.join(", ")}`);
}

function basisText(value: JsonValue | undefined): string {
  const basis = objectOf(value);
  return `catalog ${textOf(basis["catalog"])} · library ${textOf(basis["library"])}`;
}

function section(
  print: Print,
  title: string,
  rows: readonly JsonObject[],
  render: (row: JsonObject) => string | readonly string[],
): void {
  if (rows.length === 0) return;
  print.line({ text: title, colour: "bold" });
  for (const line of rows.flatMap(render)) print.line(`  ${line}`);
}
