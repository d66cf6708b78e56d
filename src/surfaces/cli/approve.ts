/** `catalog approve`: what is approved stands on the screen before it is. */
import type { Command } from "commander";
import { escapeText } from "../../catalog/clean.js";
import type { JsonObject } from "../../model/json.js";
import { CliFault, EXIT } from "./access.js";
import { listOf, objectOf, textOf, textsOf } from "./fields.js";
import type { Verbs } from "./verb.js";

interface ApproveFlags {
  readonly contract?: string;
  readonly text?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const PATH = "/v1/catalog/tools/approve";

export function addApprove(catalog: Command, verbs: Verbs): void {
  const { print } = verbs.ports;
  catalog
    .command("approve <tool>")
    .description("approve a held tool, for the definition that is shown; on a terminal you are asked first")
    .option("--contract <digest>", "only if its contract digest is this")
    .option("--text <digest>", "only if its text digest is this")
    .option("--dry-run", "show what would be approved")
    .option("-y, --yes", "approve without asking")
    .action((tool: string, flags: ApproveFlags) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const shown = objectOf(await access.ask("POST", PATH, { tool, dryRun: true }));
        const difference = objectOf(shown["difference"]);
        const { contract, text, document } = objectOf(difference["digests"]);
        const isJson = verbs.json();
        if (!isJson) printDifference(verbs, textOf(shown["tool"]), difference);
        if (flags.dryRun === true) {
          if (isJson) return print.json(shown);
          print.line("Nothing was approved. What is shown here and nothing else is approved by");
          const command = `steward catalog approve ${textOf(shown["tool"])}`;
          return print.line(`  ${command} --contract ${textOf(contract)} --text ${textOf(text)}`);
        }
        if (
          flags.yes !== true &&
          !isJson &&
          (await verbs.ports.confirm(`Approve ${textOf(shown["tool"])} as it is shown?`)) === false
        )
          throw new CliFault("Nothing was approved.", EXIT.failed);
        const digests = {
          contract: wholeDigest("--contract", flags.contract, textOf(contract)),
          text: wholeDigest("--text", flags.text, textOf(text)),
          document: textOf(document),
        };
        const answer = objectOf(await access.ask("POST", PATH, { tool, ...digests }));
        if (isJson) return print.json(answer);
        print.line({ text: `${textOf(answer["tool"])} is approved.`, colour: "green" });
        for (const line of textsOf(answer["standing"])) print.line(`  ${line}`);
      }),
    );
}

/** A digest that was cut says too little: another definition with the same beginning can be made. */
function wholeDigest(flag: string, given: string | undefined, present: string): string {
  if (given === undefined) return present;
  if (/^[0-9a-f]{64}$/.test(given)) return given;
  throw new CliFault(`${flag} ${given} is not a whole digest: all 64 digits, as \`--dry-run\` prints them.`, EXIT.usage);
}

function printDifference(verbs: Verbs, tool: string, difference: JsonObject): void {
  const { print } = verbs.ports;
  const { contract, text } = objectOf(difference["digests"]);
  print.line({ text: tool, colour: "bold" }, ` · contract ${textOf(contract).slice(0, 12)} · text ${textOf(text).slice(0, 12)}`);
  if (difference["held"] !== true) print.line({ text: "  It is not held.", colour: "dim" });
  for (const reason of listOf(difference["reasons"]))
    print.line({ text: `  ${textOf(reason["rule"]).padEnd(3)} ${textOf(reason["text"])}`, colour: "red" });
  for (const change of listOf(difference["changes"]))
    print.line(`  ${textOf(change["rule"]).padEnd(3)} ${textOf(change["verdict"]).padEnd(10)} ${textOf(change["text"])}`);
  if (difference["known"] !== true && difference["held"] === true)
    print.line({ text: "  What was accepted before is not kept; these are all of its texts.", colour: "dim" });
  for (const row of listOf(difference["texts"])) {
    print.line(`  ${textOf(row["where"])}`);
    for (const line of linesOf(row["before"])) print.line({ text: `  - ${line}`, colour: "red" });
    for (const line of linesOf(row["after"])) print.line({ text: `  + ${line}`, colour: "green" });
  }
  for (const finding of listOf(difference["findings"]))
    print.line({ text: `  scan: ${textOf(finding["text"])}`, colour: finding["severity"] === "hold" ? "red" : "yellow" });
}

/** Nothing hides: what is not shown is spelt. */
function linesOf(text: JsonObject[string] | undefined): string[] {
  const said = textOf(text);
  return said === "" ? [] : said.split(/\r?\n/).map((line) => escapeText(line));
}
