/** check: which skills a change of the catalog would break, before it is in force. For people, programs and CI. */
import type { ForeseenSkill, Outcome } from "../../model/foresight.js";
import type { JsonObject } from "../../model/json.js";
import { CliFault, EXIT, type CheckAnswer } from "./access.js";
import { checkMarkdown, printCheck } from "./check-text.js";
import { renderSarif } from "./sarif/translate.js";
import type { Verbs } from "./verb.js";

const FORMATS = ["text", "json", "markdown", "sarif"] as const;
type Format = (typeof FORMATS)[number];

interface CheckOptions {
  readonly against: string;
  readonly label?: string;
  readonly keepOthers?: boolean;
  readonly format?: string;
  readonly sarif?: string;
}

export function addCheckVerb(verbs: Verbs): void {
  const { print, version } = verbs.ports;
  verbs.program
    .command("check")
    .description("what skills of this home would rest, need a look or be held under another catalog; nothing is changed")
    .requiredOption(
      "--against <what>",
      "an mcpServers file (its servers are started and listed), a catalog file, or the number of a catalog version",
    )
    .option("--label <label>", "the upstream whose tools a catalog file has, where the file does not say")
    .option("--keep-others", "upstreams that are not named there stay as they are")
    .option("--format <format>", `${FORMATS.join(", ")} (text)`)
    .option("--sarif <file>", "write SARIF to this file as well")
    .action(async (options: CheckOptions) => {
      const format = formatOf(options.format ?? (verbs.json() ? "json" : "text"));
      const home = verbs.home();
      const answer = await verbs.ports.check({
        ...(home === undefined ? {} : { home }),
        against: options.against,
        ...(options.label === undefined ? {} : { label: options.label }),
        keepOthers: options.keepOthers === true,
      });
      for (const { where, text } of answer.problems) print.note({ text: `${where}: ${text}`, colour: "yellow" });
      for (const { label, reason } of answer.unlisted)
        print.note({ text: `${label} was not listed (${reason}); its tools count as they are.`, colour: "yellow" });
      const sarif = (): JsonObject => renderSarif(answer, { version, cwd: verbs.ports.cwd });
      if (format === "json") print.json(answer);
      else if (format === "sarif") print.json(sarif());
      else if (format === "markdown") print.block(checkMarkdown(answer));
      else printCheck(print, answer);
      // What was found out is told, also where the file cannot be written.
      if (options.sarif !== undefined) await verbs.ports.writeText(options.sarif, `${JSON.stringify(sarif(), null, 2)}\n`);
      verbs.exit(checkExit(answer));
    });
}

function formatOf(text: string): Format {
  const format = FORMATS.find((one) => one === text);
  if (format === undefined) throw new CliFault(`--format is one of ${FORMATS.join(", ")}.`, EXIT.usage);
  return format;
}

const EXIT_OF: Readonly<Record<Outcome, number>> = {
  held: EXIT.safety,
  rests: EXIT.inactive,
  review: EXIT.review,
  safe: EXIT.fine,
  wakes: EXIT.fine,
  stays: EXIT.fine,
};

/** 0 fine · 1 a server could not be listed · 10 skills need a look · 11 skills would rest · 12 safety; the highest wins. */
export function checkExit(
  answer: Pick<CheckAnswer, "unlisted" | "held"> & { skills: readonly Pick<ForeseenSkill, "outcome">[] },
): number {
  const codes = answer.skills.map(({ outcome }) => EXIT_OF[outcome]);
  return Math.max(EXIT.fine, ...codes, answer.held.length > 0 ? EXIT.safety : 0, answer.unlisted.length > 0 ? EXIT.failed : 0);
}
