/** maintain: after a catalog update, mend what is certain and say what is left. */
import type { JsonObject } from "../../model/json.js";
import { EDIT_OUTCOMES, MAINTENANCE_MODES } from "../../model/maintenance.js";
import { CliFault, EXIT } from "./access.js";
import { countOf, listOf, objectOf, textOf, textsOf } from "./fields.js";
import { VERDICTS } from "./lineage.js";
import { compareModes, followed } from "./maintenance-modes.js";
import { printWay } from "./standing.js";
import type { Verbs } from "./verb.js";

const MODES: readonly string[] = MAINTENANCE_MODES;
/** Enough of a signature to tell proposals apart. */
const SHOWN_SIGNATURE = 12;

interface Flags {
  readonly mode?: string;
  readonly dryRun?: boolean;
  readonly compare?: boolean;
  readonly accept?: readonly string[];
}

export function addMaintenanceVerbs(verbs: Verbs): void {
  const { print } = verbs.ports;
  verbs.program
    .command("maintain")
    .description("take the library to the present catalog")
    .option(
      "--mode <mode>",
      "incremental (what drifted), rebuild (everything, from the evidence anew) or frozen (nothing, only told)",
    )
    .option("--dry-run", "show what would be done")
    .option("--compare", "what each of the three modes would do now, side by side; nothing is applied")
    .option(
      "--accept <skills...>",
      "apply what is proposed for these skills too (`all` for every one; `skill@signature`: only if it is what was shown)",
    )
    .action((options: Flags) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        if (options.compare === true) return compareModes(verbs, access, options);
        const mode = options.mode ?? "incremental";
        if (!MODES.includes(mode)) throw new CliFault(`--mode is ${MODES.join(", ")}; not ${mode}.`, EXIT.usage);
        if (mode === "frozen" && options.accept !== undefined)
          throw new CliFault("A frozen run changes nothing: --accept goes with --mode incremental or rebuild.", EXIT.usage);
        const body = {
          mode,
          dryRun: options.dryRun === true,
          accept: (options.accept ?? []).map((skill) => (skill === "all" ? "*" : skill)),
        };
        const report = objectOf(await followed(verbs, access, "/v1/maintenance", body));
        if (verbs.json()) print.json(report);
        else printReport(verbs, report);
        return listOf(report["stillInactive"]).length > 0
          ? EXIT.inactive
          : listOf(report["proposed"]).length > 0
            ? EXIT.review
            : EXIT.fine;
      }),
    );
  verbs.program
    .command("reports")
    .description("maintenance runs, newest first")
    .action(() =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const rows = listOf(await access.ask("GET", "/v1/maintenance"));
        if (verbs.json()) return print.json(rows);
        print.table(
          [
            { title: "run" },
            { title: "at" },
            { title: "mode" },
            { title: "catalog", align: "right" },
            { title: "library", align: "right" },
            { title: "applied", align: "right" },
            { title: "skipped", align: "right" },
            { title: "proposed", align: "right" },
            { title: "refused", align: "right" },
          ],
          rows.map((row) => [
            textOf(row["id"]),
            textOf(row["at"]),
            `${textOf(row["mode"])}${row["dryRun"] === true ? " (dry)" : ""}`,
            textOf(objectOf(row["basis"])["catalog"]),
            textOf(row["library"]),
            ...EDIT_OUTCOMES.map((list) => String(listOf(row[list]).length)),
          ]),
        );
      }),
    );
}

function printReport(verbs: Verbs, report: JsonObject): void {
  const { print } = verbs.ports;
  const basis = objectOf(report["basis"]);
  const looked = objectOf(report["looked"]);
  print.line(
    {
      text: `${textOf(report["id"])}${report["mode"] === "frozen" ? " (frozen: nothing is changed)" : report["dryRun"] === true ? " (dry run)" : ""}`,
      colour: "bold",
    },
    ` · catalog ${textOf(basis["catalog"])} · library ${textOf(basis["library"])} → ${textOf(report["library"])} · looked at ${countOf(looked["due"])} of ${countOf(looked["all"])} skills${tokensShown(report)}`,
  );
  const edits = (title: string, rows: readonly JsonObject[]): void => {
    if (rows.length === 0) return;
    print.line({ text: title, colour: "bold" });
    for (const row of rows) {
      print.line(`  ${textOf(row["kind"])} ${textOf(row["skill"])}: ${textOf(row["cause"])}`);
      for (const line of [...textsOf(row["evidence"]), ...textsOf(row["findings"])])
        print.line({ text: `      ${line}`, colour: "dim" });
      for (const line of textOf(row["difference"])
        .split("\n")
        .filter((text) => text.trim() !== ""))
        print.line({ text: `      ${line}`, colour: line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : "dim" });
    }
  };
  edits(report["dryRun"] === true ? "Would apply" : "Applied", listOf(report["applied"]));
  edits("Looked at, left", listOf(report["skipped"]));
  const proposed = listOf(report["proposed"]);
  edits("Proposed, for a person to look at", proposed);
  const exact = proposed.map((row) => `${textOf(row["skill"])}@${textOf(row["signature"]).slice(0, SHOWN_SIGNATURE)}`);
  if (exact.length > 0)
    print.line({ text: `  these, as they are shown: steward maintain --accept ${exact.join(" ")}`, colour: "dim" });
  edits("Refused by the gate", listOf(report["refused"]));
  const looks = listOf(report["lineage"]);
  if (looks.length > 0) print.line({ text: "Proposed takeovers looked at", colour: "bold" });
  for (const look of looks) printLook(verbs, look);
  for (const note of textsOf(report["notes"])) print.line({ text: note, colour: "dim" });
  const revived = textsOf(report["revived"]);
  if (revived.length > 0) print.line(`Active again: ${revived.join(", ")}.`);
  const safe = textsOf(report["safeByUsage"]);
  if (safe.length > 0) print.line(`Safe by usage, their tools changed and recorded calls fit: ${safe.join(", ")}.`);
  const resting = listOf(report["stillInactive"]);
  if (resting.length > 0) print.line({ text: "Still resting", colour: "bold" });
  for (const row of resting) {
    print.line(`  ${textOf(row["skill"])}: ${textOf(row["reason"])}`);
    if (textOf(row["tried"]) !== "") print.line({ text: `      ${textOf(row["tried"])}`, colour: "dim" });
    printWay(verbs, row, "      ");
  }
  const counts = EDIT_OUTCOMES.map((list) => listOf(report[list]).length);
  if (counts.some((count) => count > 0)) print.line(`${EDIT_OUTCOMES.map((list, n) => `${counts[n] ?? 0} ${list}`).join(", ")}.`);
  else if (resting.length === 0) print.line("Nothing is due.");
}

function printLook(verbs: Verbs, look: JsonObject): void {
  const { print } = verbs.ports;
  const verdict = textOf(look["verdict"]);
  const force =
    verdict === "leave" || verdict === "failed" ? "" : look["counts"] === true ? ", in force" : ", for a person to judge";
  const tokens = look["tokens"] === undefined ? "" : ` · ${textOf(look["tokens"])} tokens`;
  print.line(
    `  ${textOf(look["from"])} → ${textsOf(look["to"]).join(" + ")} (${textOf(look["link"])}) by ${textOf(look["how"])}: ${VERDICTS[verdict] ?? verdict}${force}${tokens}`,
  );
  for (const line of [textOf(look["why"]), ...textsOf(look["evidence"])]) print.line({ text: `      ${line}`, colour: "dim" });
}

function tokensShown(report: JsonObject): string {
  const tokens = objectOf(report["tokens"]);
  if (countOf(tokens["used"]) === 0) return "";
  return ` · ${countOf(tokens["used"])} tokens (a rebuild: about ${countOf(tokens["rebuildEstimate"])})`;
}
