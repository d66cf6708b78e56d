/** How a skill stands, for people. */
import type { Shown } from "../../host/print.js";
import type { JsonObject } from "../../model/json.js";
import { textOf } from "./fields.js";
import type { Verbs } from "./verb.js";

export function standingShown(standing: JsonObject): Shown {
  const word = textOf(standing["standing"]);
  if (word === "active")
    return standing["needsReview"] === true
      ? { text: "active, needs review", colour: "yellow" }
      : { text: "active", colour: "green" };
  const because = textOf(standing["because"]);
  return { text: because === "" ? word : `${word} (${because})`, colour: "red" };
}

/** A reason, and beneath it what a person can do about it. */
export function printReason(verbs: Verbs, reason: JsonObject, text: string): void {
  const { print } = verbs.ports;
  print.line(`  ${text}`);
  printWay(verbs, reason, "    ");
}

/** What a person can do, where there is something. */
export function printWay(verbs: Verbs, row: JsonObject, indent: string): void {
  const way = textOf(row["way"]);
  if (way !== "") verbs.ports.print.line({ text: `${indent}→ ${way}`, colour: "yellow" });
}
