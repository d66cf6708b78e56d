/** maintain --compare, and how far a run is while it is under way. */
import type { JsonObject, JsonValue } from "../../model/json.js";
import { CliFault, EXIT, type Access } from "./access.js";
import { countOf, listOf, objectOf, textOf } from "./fields.js";
import type { Verbs } from "./verb.js";

/** Asks for long work and shows on stderr how far it is; with --json nothing is said but the answer. */
export async function followed(verbs: Verbs, access: Access, path: string, body: JsonObject): Promise<JsonValue> {
  const { print } = verbs.ports;
  if (verbs.json()) return access.follow("POST", path, body, () => undefined);
  try {
    return await access.follow("POST", path, body, (said) => {
      const progress = objectOf(said);
      const [mode, phase] = [textOf(progress["mode"]), textOf(progress["phase"])];
      print.progress(sentence(progress), `${mode} ${phase}`);
    });
  } finally {
    print.progress("", "");
  }
}

const PHASES: Readonly<Record<string, string>> = {
  evidence: "reading evidence",
  lineage: "looking at proposed takeovers",
  edits: "looking at skills that are due",
  trial: "trying edits on verified tasks",
  library: "judging and writing",
};

function sentence(progress: JsonObject): string {
  const [done, of] = [countOf(progress["done"]), countOf(progress["of"])];
  const skill = progress["skill"] === undefined ? "" : `: ${textOf(progress["skill"])}`;
  const phase = PHASES[textOf(progress["phase"])] ?? textOf(progress["phase"]);
  return `${textOf(progress["mode"])}: ${phase}${Number(of) > 1 ? ` ${done} of ${of}` : ""}${skill}`;
}

/** The three modes beside each other; exit code 0, since nothing is applied and nothing is asked of anybody. */
export async function compareModes(
  verbs: Verbs,
  access: Access,
  flags: { readonly mode?: string; readonly accept?: readonly string[] },
): Promise<number> {
  if (flags.mode !== undefined || flags.accept !== undefined)
    throw new CliFault("--compare shows all modes and applies nothing: leave --mode and --accept out.", EXIT.usage);
  const answer = objectOf(await followed(verbs, access, "/v1/maintenance/compare", {}));
  const { print } = verbs.ports;
  if (verbs.json()) {
    print.json(answer);
    return EXIT.fine;
  }
  const basis = objectOf(answer["basis"]);
  const modes = listOf(answer["modes"]);
  print.line(`On catalog ${textOf(basis["catalog"])} and library ${textOf(basis["library"])}; nothing was applied.`);
  print.table(
    [{ title: "mode" }, ...NUMBERS.map(({ title }) => ({ title, align: "right" as const }))],
    modes.map((mode) => [textOf(mode["mode"]), ...NUMBERS.map(({ of }) => of(mode))]),
  );
  printEdits(verbs, modes);
  return EXIT.fine;
}

const effectOf = (mode: JsonObject): JsonObject => objectOf(mode["effect"]);
const tasksOf = (mode: JsonObject): JsonObject => objectOf(effectOf(mode)["tasks"]);
const NUMBERS: readonly { readonly title: string; readonly of: (mode: JsonObject) => string }[] = [
  { title: "edits", of: (mode) => String(listOf(mode["edits"]).length) },
  { title: "skipped", of: (mode) => textOf(mode["skipped"]) },
  { title: "proposed", of: (mode) => textOf(mode["proposed"]) },
  { title: "refused", of: (mode) => textOf(mode["refused"]) },
  { title: "tokens", of: (mode) => textOf(objectOf(mode["tokens"])["used"]) },
  { title: "ms", of: (mode) => textOf(mode["ms"]) },
  { title: "active", of: (mode) => textOf(effectOf(mode)["active"]) },
  { title: "to review", of: (mode) => textOf(effectOf(mode)["needsReview"]) },
  { title: "resting", of: (mode) => textOf(effectOf(mode)["resting"]) },
  { title: "tasks served", of: (mode) => `${textOf(tasksOf(mode)["whole"])}/${textOf(tasksOf(mode)["asked"])}` },
  { title: "tools shown", of: (mode) => `${textOf(tasksOf(mode)["shown"])}/${textOf(tasksOf(mode)["tools"])}` },
];

/** Each edit once, with the modes that would make it. */
function printEdits(verbs: Verbs, modes: readonly JsonObject[]): void {
  const rows = new Map<string, { readonly text: string; readonly by: string[] }>();
  for (const mode of modes) {
    for (const edit of listOf(mode["edits"])) {
      const text = `${textOf(edit["kind"])} ${textOf(edit["skill"])}: ${textOf(edit["cause"])}`;
      const row = rows.get(text) ?? { text, by: [] };
      row.by.push(textOf(mode["mode"]));
      rows.set(text, row);
    }
  }
  for (const { text, by } of rows.values()) verbs.ports.print.line(`  ${text} `, { text: `(${by.join(", ")})`, colour: "dim" });
}
