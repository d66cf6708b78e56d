/** One link of the lineage for people: what took over, why it is thought so, and whose word stands. */
import type { JsonObject } from "../../model/json.js";
import type { Shown } from "../../host/print.js";
import { CliFault, EXIT } from "./access.js";
import { listOf, objectOf, textOf, textsOf } from "./fields.js";
import type { Verbs } from "./verb.js";

/** `catalog lineage show <link>`. */
export async function showLink(verbs: Verbs, asked: string | undefined): Promise<void> {
  if (asked === undefined) throw new CliFault("Use `catalog lineage show <link>`; `catalog lineage` lists them.", EXIT.usage);
  const { print } = verbs.ports;
  await verbs.withAccess({ upstreams: false }, async (access) => {
    const link = objectOf(await access.ask("GET", `/v1/catalog/lineage/${encodeURIComponent(asked)}`));
    if (verbs.json()) return print.json(link);
    print.line({ text: `${textOf(link["from"])} → ${textsOf(link["to"]).join(" + ")}`, colour: "bold" }, " · ", levelOf(link));
    print.line(
      `  link ${textOf(link["id"])} · ${textOf(link["kind"])} at catalog version ${textOf(link["atVersion"])} · found ${textOf(link["level"])} · score ${textOf(link["score"])}`,
    );
    const word = whoseWord(link);
    if (word !== undefined) print.line(`  ${word}`);
    const proposed = link["proposedParams"];
    for (const [old, next] of Object.entries(objectOf(link["params"]))) print.line(`  ${old} → ${textOf(next)}`);
    if (proposed !== undefined) print.line({ text: `  proposed were: ${pairs(objectOf(proposed))}`, colour: "dim" });
    for (const [name, value] of Object.entries(objectOf(link["fixedArguments"])))
      print.line(`  ${name} = ${JSON.stringify(value)}`);
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

/** Tools whose hold began or ended by a word on a takeover. */
export function printWeighed(verbs: Verbs, judged: JsonObject): void {
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
  if (link["confirmed"] !== undefined) return { text: `confirmed${byMachine(link["confirmed"])}`, colour: "green" };
  return textOf(link["level"]);
}

function byMachine(word: JsonObject[string] | undefined): string {
  const how = textOf(objectOf(word)["how"]);
  return how === "manager" || how === "replay" ? ` (${how})` : "";
}
