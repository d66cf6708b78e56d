/** Lineage for people: what took over from what, why it is thought so, whose word stands, and the words that people say. */
import type { Command } from "commander";
import type { JsonObject, JsonValue } from "../../model/json.js";
import type { Shown } from "../../host/print.js";
import { CliFault, EXIT } from "./access.js";
import { compareLineage, type CompareOptions } from "./compare.js";
import { listOf, objectOf, textOf, textsOf } from "./fields.js";
import { pathPart } from "./path.js";
import { printResting } from "./taken-back.js";
import type { Verbs } from "./verb.js";

interface LineageFlags extends CompareOptions {
  readonly map: readonly string[];
  readonly fix: readonly string[];
  readonly also: readonly string[];
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

/** `catalog lineage`: the list, one link, what people say of them, and comparisons. */
export function addLineage(catalog: Command, verbs: Verbs): void {
  catalog
    .command("lineage [from] [to] [more...]")
    .description(
      "which tools took over from which: all known links, or between two sides (versions or catalog files); `show <link>` tells its evidence and who confirmed it, `confirm <link>` and `reject <link>` judge it, `add <tool> <successors...>` states one that was not found or corrects what it maps",
    )
    .option("--label <label>", "the upstream whose tools a catalog file has, where the file does not say")
    .option("--map <old=new>", "with `add`: a parameter and what it is called now, `old=` for none (repeatable)", collect, [])
    .option(
      "--fix <name=json>",
      "with `add`: an argument that is always set so (repeatable; `none` takes known ones away)",
      collect,
      [],
    )
    .option("--also <tool>", "with `add`: another tool that left, where one took over from several (repeatable)", collect, [])
    .action(async (what: string | undefined, one: string | undefined, more: string[], flags: LineageFlags) => {
      if (what === "add") return await stateTakeover(verbs, one, more, flags);
      if (flags.map.length + flags.fix.length + flags.also.length > 0)
        throw new CliFault("--map, --fix and --also go with `catalog lineage add <tool> <successors...>`.", EXIT.usage);
      if (more.length > 0)
        throw new CliFault(`Two sides are compared, or one link judged; ${more.join(" ")} is too much.`, EXIT.usage);
      if (what === "show") return await showLink(verbs, one);
      if (what === "confirm" || what === "reject") return await judgeLink(verbs, what, one);
      if (what !== undefined) return await compareLineage(verbs, what, one, flags);
      await listLinks(verbs);
    });
}

async function stateTakeover(verbs: Verbs, tool: string | undefined, to: string[], flags: LineageFlags): Promise<void> {
  if (tool === undefined || to.length === 0)
    throw new CliFault("Use `catalog lineage add <tool that left> <successors...>`.", EXIT.usage);
  const { map, fix } = flags;
  const params = Object.fromEntries(map.map((entry) => readPair("--map", entry, (text) => (text === "" ? null : text))));
  const fixed = Object.fromEntries(fix.flatMap((entry) => (entry === "none" ? [] : [readPair("--fix", entry, readValue)])));
  const body: JsonObject = {
    from: [tool, ...flags.also],
    to,
    ...(map.length === 0 ? {} : { params }),
    ...(fix.length === 0 ? {} : { fixed }),
  };
  const { print } = verbs.ports;
  await verbs.withAccess({ upstreams: false }, async (access) => {
    const answer = objectOf(await access.ask("POST", "/v1/catalog/lineage/add", body));
    if (verbs.json()) return print.json(answer);
    for (const link of listOf(answer["links"])) {
      print.line(
        { text: `${textOf(link["from"])} → ${textsOf(link["to"]).join(" + ")}`, colour: "bold" },
        ` · link ${textOf(link["id"])} · ${textOf(link["kind"])} at catalog version ${textOf(link["atVersion"])}`,
      );
      printMapping(verbs, link);
    }
    for (const remark of textsOf(answer["remarks"])) print.line({ text: remark, colour: "yellow" });
    printRemapped(verbs, objectOf(answer["skills"]));
    printWeighed(verbs, answer);
  });
}

/** Skills that the former mapping bound. */
function printRemapped({ ports: { print } }: Verbs, skills: JsonObject): void {
  const [back, marked] = [textsOf(skills["changed"]), textsOf(skills["marked"])];
  if (back.length > 0)
    print.line(
      { text: `Bound by the former mapping, and resting until they are bound anew: ${back.join(", ")}. `, colour: "yellow" },
      "`steward maintain` binds them.",
    );
  if (marked.length > 0)
    print.line(
      {
        text: `May set arguments as they were mapped before, and are yours to look at: ${marked.join(", ")}. `,
        colour: "yellow",
      },
      "`steward graph why <skill>` says what can be done.",
    );
}

function readPair<Value>(flag: string, entry: string, read: (text: string, entry: string) => Value): [string, Value] {
  const at = entry.indexOf("=");
  if (at < 1) throw new CliFault(`${flag} ${entry}: write ${flag === "--map" ? "old=new" : "name=json"}.`, EXIT.usage);
  return [entry.slice(0, at), read(entry.slice(at + 1), entry)];
}

/** JSON, or a text as it stands where it is none: `mode=close` is what people write. */
function readValue(text: string, entry: string): JsonValue {
  if (text === "") throw new CliFault(`--fix ${entry}: what is it fixed to? \`""\` is an empty text.`, EXIT.usage);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    if (/^[[{"]/.test(text)) throw new CliFault(`--fix ${entry}: ${text} is not JSON.`, EXIT.usage);
    return text;
  }
}

async function judgeLink(verbs: Verbs, verdict: "confirm" | "reject", link: string | undefined): Promise<void> {
  if (link === undefined) throw new CliFault(`Use \`catalog lineage ${verdict} <link>\`.`, EXIT.usage);
  const { print } = verbs.ports;
  await verbs.withAccess({ upstreams: false }, async (access) => {
    const judged = objectOf(await access.ask("POST", `/v1/catalog/lineage/${verdict}`, { link }));
    if (verbs.json()) return print.json(judged);
    print.line(`${textOf(judged["id"])} is ${verdict === "confirm" ? "confirmed" : "rejected"}.`);
    printWeighed(verbs, judged);
    const skills = objectOf(judged["skills"]);
    const back = textsOf(skills["changed"]);
    if (back.length > 0) print.line(`Back to the tool that left: ${back.join(", ")}.`);
    printResting(verbs, skills);
  });
}

async function listLinks(verbs: Verbs): Promise<void> {
  const { print } = verbs.ports;
  await verbs.withAccess({ upstreams: false }, async (access) => {
    const links = listOf(await access.ask("GET", "/v1/catalog/lineage"));
    if (verbs.json()) return print.json(links);
    print.table(
      [
        { title: "link" },
        { title: "at", align: "right" },
        { title: "kind" },
        { title: "from" },
        { title: "to" },
        { title: "level" },
        { title: "now" },
      ],
      links.map((row) => [
        textOf(row["id"]),
        textOf(row["atVersion"]),
        textOf(row["kind"]),
        textOf(row["from"]),
        textsOf(row["to"]).join(" + "),
        levelOf(row),
        NOW[textOf(row["now"])] ?? "",
      ]),
    );
  });
}

/** What is of a link that is not followed as it is. A word against it is told by its level. */
const NOW: Readonly<Record<string, string>> = {
  "followed-on": "followed on to what took over later",
  "passed-over": "another takeover of the tool goes before it",
  returned: "the tool is back",
  earlier: "the tool came back and left again",
  ended: "nothing of it is there any more",
};

/** `catalog lineage show <link>`. */
async function showLink(verbs: Verbs, asked: string | undefined): Promise<void> {
  if (asked === undefined) throw new CliFault("Use `catalog lineage show <link>`; `catalog lineage` lists them.", EXIT.usage);
  const { print } = verbs.ports;
  await verbs.withAccess({ upstreams: false }, async (access) => {
    const link = objectOf(await access.ask("GET", `/v1/catalog/lineage/${pathPart(asked, "a link")}`));
    if (verbs.json()) return print.json(link);
    print.line({ text: `${textOf(link["from"])} → ${textsOf(link["to"]).join(" + ")}`, colour: "bold" }, " · ", levelOf(link));
    print.line(
      `  link ${textOf(link["id"])} · ${textOf(link["kind"])} at catalog version ${textOf(link["atVersion"])} · found ${textOf(link["level"])} · score ${textOf(link["score"])}`,
    );
    const now = NOW[textOf(link["now"])];
    if (now !== undefined) print.line({ text: `  now: ${now}`, colour: "yellow" });
    const word = whoseWord(link);
    if (word !== undefined) print.line(`  ${word}`);
    const stated = objectOf(link["stated"]);
    if (link["stated"] !== undefined) print.line(`  stated by a person: ${textOf(stated["by"])}, ${textOf(stated["at"])}`);
    printMapping(verbs, link);
    for (const line of textsOf(link["evidence"])) print.line({ text: `  ${line}`, colour: "dim" });
    for (const opinion of listOf(link["opinions"])) showOpinion(verbs, opinion);
  });
}

function showOpinion(verbs: Verbs, opinion: JsonObject): void {
  const { print } = verbs.ports;
  const verdict = textOf(opinion["verdict"]);
  const tokens = opinion["tokens"] === undefined ? "" : ` · ${textOf(opinion["tokens"])} tokens`;
  print.line(
    `  ${textOf(opinion["how"])} (${textOf(opinion["by"])}, ${textOf(opinion["at"])}${tokens}): `,
    { text: VERDICTS[verdict] ?? verdict, colour: verdict === "confirm" ? "green" : verdict === "reject" ? "red" : "yellow" },
    `: ${textOf(opinion["why"])}`,
  );
  for (const line of textsOf(opinion["evidence"])) print.line({ text: `      ${line}`, colour: "dim" });
}

function printMapping(verbs: Verbs, link: JsonObject): void {
  const { print } = verbs.ports;
  const proposed = link["proposedParams"];
  for (const [old, next] of Object.entries(objectOf(link["params"]))) print.line(`  ${old} → ${textOf(next)}`);
  if (proposed !== undefined) print.line({ text: `  proposed were: ${pairs(objectOf(proposed))}`, colour: "dim" });
  for (const [name, value] of Object.entries(objectOf(link["fixedArguments"])))
    print.line(`  ${name} = ${JSON.stringify(value)}`);
}

/** Tools whose hold began or ended by a word on a takeover. */
function printWeighed(verbs: Verbs, judged: JsonObject): void {
  const { print } = verbs.ports;
  for (const tool of textsOf(judged["released"])) print.line(`${tool} is held no longer: it is judged by itself.`);
  for (const tool of textsOf(judged["held"]))
    print.line(
      { text: `${tool} is held: it may do more than the tool it took over from. `, colour: "yellow" },
      `\`steward catalog approve ${tool}\` shows what and approves it.`,
    );
}

/** What a look came to, for people. */
export const VERDICTS: Readonly<Record<string, string>> = {
  confirm: "it took over",
  reject: "it did not take over",
  leave: "undecided",
  failed: "not judged",
};

function whoseWord(link: JsonObject): string | undefined {
  for (const what of ["confirmed", "rejected"] as const) {
    if (link[what] === undefined) continue;
    const word = objectOf(link[what]);
    const how = textOf(word["how"]) === "" ? "person" : textOf(word["how"]);
    return `${what} by a ${how}: ${textOf(word["by"])}, ${textOf(word["at"])}`;
  }
  return undefined;
}

function pairs(params: JsonObject): string {
  return (
    Object.entries(params)
      .map(([old, next]) => `${old} → ${textOf(next)}`)
      .join(", ") || "none"
  );
}

/** Level and word in one: what a list shows of a link. */
export function levelOf(link: JsonObject): Shown {
  if (link["rejected"] !== undefined) return { text: `rejected${byMachine(link["rejected"])}`, colour: "red" };
  if (link["confirmed"] !== undefined && link["stated"] !== undefined) return { text: "stated", colour: "green" };
  if (link["confirmed"] !== undefined) return { text: `confirmed${byMachine(link["confirmed"])}`, colour: "green" };
  return textOf(link["level"]);
}

function byMachine(word: JsonObject[string] | undefined): string {
  const how = textOf(objectOf(word)["how"]);
  return how === "manager" || how === "replay" ? ` (${how})` : "";
}
