/** What a person's word took back (a revert, a rejected takeover), for people: what rests for it, and that it stays so. */
import type { JsonObject } from "../../model/json.js";
import { listOf, textOf } from "./fields.js";
import type { Verbs } from "./verb.js";

export function printResting(verbs: Verbs, answer: JsonObject): void {
  const resting = listOf(answer["resting"]);
  if (resting.length === 0) return;
  const { print } = verbs.ports;
  print.line({ text: "Resting now; nothing changes these texts until you do", colour: "bold" });
  for (const row of resting) print.line(`  ${textOf(row["skill"])}: ${textOf(row["reason"])}`);
}
