/** episodes import and export: evidence from the logs of other programs, and to other homes. */
import { LOG_FORMATS, readLog, type Reading } from "../../evidence/read.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { episodeExportFormat, type RecordedEpisode } from "../../model/recorded.js";
import { CliFault, EXIT, type Access } from "./access.js";
import { countOf, listOf, objectOf, textOf, textsOf } from "./fields.js";
import { pathPart } from "./path.js";
import type { Verbs } from "./verb.js";
import type { Command } from "commander";

interface ImportFlags {
  readonly server?: string;
  readonly map?: string[];
  readonly format?: string;
  readonly labels?: string;
  readonly outcome?: string;
  readonly trust: string;
  readonly dryRun?: boolean;
}

export function addImportVerbs(verbs: Verbs, episodes: Command): void {
  const { ports } = verbs;
  const { print } = ports;
  episodes
    .command("import <files...>")
    .description("take in what logs of other programs say happened")
    .option("--server <label>", "upstream of names that are not told apart otherwise")
    .option("--map <name=tool...>", "whose call a name is (`name=` leaves it out knowingly)")
    .option("--format <format>", `${LOG_FORMATS.map(({ name }) => name).join(", ")} (else it is found out)`)
    .option("--labels <file>", "what people said of the tasks: JSON, task id → success or failure")
    .option("--outcome <outcome>", "success or failure: what became of tasks whose log does not say")
    .option("--trust <kind>", "who says so: human, state, replay or claim", "human")
    .option("--dry-run", "show what would be taken")
    .action((files: string[], flags: ImportFlags) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        requireOutcome(flags);
        const verdicts = flags.labels === undefined ? undefined : readVerdicts(flags.labels, await ports.readText(flags.labels));
        const rows: ImportRow[] = [];
        for (const file of files) {
          const reading = readLog(await ports.readText(file), { where: file, format: flags.format, verdicts });
          rows.push(await importFile(access, file, reading, flags));
        }
        if (verbs.json()) print.json(rows as unknown as JsonValue);
        else for (const row of rows) printRow(verbs, row, flags.dryRun === true);
        return rows.every((row) => row.format !== undefined) ? EXIT.fine : EXIT.failed;
      }),
    );
  episodes
    .command("export [episodes...]")
    .description("write episodes with their calls, one a line, for another home (all of them where none is named)")
    .option("--out <file>", "write to this file instead of stdout")
    .action((ids: string[], flags: { out?: string }) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const wanted =
          ids.length > 0 ? ids : listOf(await access.ask("GET", "/v1/episodes?state=all")).map((row) => textOf(row["episode"]));
        const lines: string[] = [];
        for (const id of wanted) {
          const { episode, calls } = objectOf(await access.ask("GET", `/v1/episodes/${pathPart(id, "an episode")}`));
          lines.push(JSON.stringify({ format: episodeExportFormat.id, episode, calls }));
        }
        if (flags.out === undefined) for (const line of lines) print.line(line);
        else {
          await ports.writeText(flags.out, lines.map((line) => `${line}\n`).join(""));
          print.note(`${lines.length} episodes are in ${flags.out}.`);
        }
      }),
    );
}

interface ImportRow {
  readonly file: string;
  readonly format: string | undefined;
  readonly lines: Reading["lines"];
  readonly imported: string[];
  known: number;
  readonly verdicts: { readonly taken: string[]; readonly left: JsonObject[] };
  verified: number;
  readonly calls: { taken: number; left: number };
  readonly skipped: JsonObject[];
  readonly problems: JsonObject[];
}

/** Bytes of one request: well below what the daemon takes (requestBytes, 4 MiB by default). */
const REQUEST_BYTES = 1_000_000;

async function importFile(access: Access, file: string, reading: Reading, flags: ImportFlags): Promise<ImportRow> {
  const row: ImportRow = {
    file,
    format: reading.format,
    lines: reading.lines,
    imported: [],
    known: 0,
    verdicts: { taken: [], left: [] },
    verified: 0,
    calls: { taken: 0, left: 0 },
    skipped: [],
    problems: reading.problems.map((problem) => ({ ...problem })),
  };
  const unknown = new Map<string, { calls: number; way: string }>();
  for (const episodes of portions(reading.episodes.map((episode) => withGivenOutcome(episode, flags)))) {
    const answer = objectOf(
      await access.ask("POST", "/v1/episodes/import", {
        episodes: episodes as unknown as JsonValue,
        ...(flags.server === undefined ? {} : { server: flags.server }),
        ...(flags.map === undefined ? {} : { map: readMap(flags.map) }),
        ...(flags.dryRun === true ? { dryRun: true } : {}),
      }),
    );
    row.imported.push(...textsOf(answer["imported"]));
    row.known += countOf(answer["known"]);
    row.verdicts.taken.push(...textsOf(objectOf(answer["verdicts"])["taken"]));
    row.verdicts.left.push(...listOf(objectOf(answer["verdicts"])["left"]));
    row.verified += countOf(answer["verified"]);
    row.calls.taken += countOf(objectOf(answer["calls"])["taken"]);
    row.calls.left += countOf(objectOf(answer["calls"])["left"]);
    row.skipped.push(...listOf(answer["skipped"]));
    for (const row of listOf(answer["unknown"])) {
      const name = textOf(row["name"]);
      const before = unknown.get(name);
      unknown.set(name, { calls: countOf(row["calls"]) + (before?.calls ?? 0), way: textOf(row["way"]) });
    }
  }
  for (const [name, { calls, way }] of [...unknown].sort(([, a], [, b]) => b.calls - a.calls)) {
    const counted = calls === 1 ? "1 call" : `${calls} calls`;
    row.problems.push({
      code: "log-tool-unknown",
      where: file,
      text: `${name} (${counted}) belongs to no tool of the catalog: ${way}.`,
    });
  }
  return row;
}

function* portions(episodes: readonly RecordedEpisode[]): Generator<RecordedEpisode[]> {
  let portion: RecordedEpisode[] = [];
  let bytes = 0;
  for (const episode of episodes) {
    const size = Buffer.byteLength(JSON.stringify(episode));
    if (portion.length > 0 && bytes + size > REQUEST_BYTES) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(episode);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}

/** What the log itself says goes before what the person says of the whole file. */
function withGivenOutcome(episode: RecordedEpisode, flags: ImportFlags): RecordedEpisode {
  const { outcome } = flags;
  if (outcome === undefined || episode.outcome !== undefined) return episode;
  return { ...episode, outcome: { outcome: outcome as Outcome, trust: flags.trust as Trust } };
}

type Outcome = NonNullable<RecordedEpisode["outcome"]>["outcome"];
type Trust = NonNullable<RecordedEpisode["outcome"]>["trust"];
const OUTCOMES: readonly Outcome[] = ["success", "failure"];
const TRUSTS: readonly Trust[] = ["human", "state", "replay", "claim"];

/** Said before a file is read, whether a task of it needs the flags or not. */
function requireOutcome({ outcome, trust }: ImportFlags): void {
  if (outcome !== undefined && !OUTCOMES.some((one) => one === outcome))
    throw new CliFault(`--outcome is ${OUTCOMES.join(" or ")}; not ${outcome}.`, EXIT.usage);
  if (!TRUSTS.some((one) => one === trust))
    throw new CliFault(`--trust is ${TRUSTS.slice(0, -1).join(", ")} or ${TRUSTS.at(-1) ?? ""}; not ${trust}.`, EXIT.usage);
}

function readMap(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf("=");
      if (at < 1) throw new CliFault(`--map ${entry}: write name=label/tool.`, EXIT.usage);
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}

function readVerdicts(file: string, text: string): Map<string, "success" | "failure"> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CliFault(`${file} is no JSON: ${error instanceof Error ? error.message : String(error)}`, EXIT.usage);
  }
  if (!isJsonObject(value)) throw new CliFault(`${file} has to be an object: task id → success or failure.`, EXIT.usage);
  return new Map(
    Object.entries(value).map(([id, verdict]) => {
      if (verdict !== "success" && verdict !== "failure")
        throw new CliFault(`${file}: ${id} is ${JSON.stringify(verdict)}; it has to be success or failure.`, EXIT.usage);
      return [id, verdict];
    }),
  );
}

/** Episodes that are named one by one. */
const TOLD_MOST = 10;

function firstOf(ids: readonly string[]): string {
  return `${ids.slice(0, TOLD_MOST).join(", ")}${ids.length > TOLD_MOST ? ", …" : ""}`;
}

function printRow(verbs: Verbs, row: ImportRow, dryRun: boolean): void {
  const { print } = verbs.ports;
  print.line(
    { text: row.file, colour: "bold" },
    ` ${row.format ?? "unknown"}: ${dryRun ? "would take" : "took"} ${row.imported.length} episodes (${row.verified} verified) with ${row.calls.taken} calls; ${row.known} were here already, ${row.skipped.length} had no call of a known tool, ${row.calls.left} calls left out`,
  );
  const { taken, left } = row.verdicts;
  if (taken.length > 0)
    print.line(`  ${taken.length} that were here already ${dryRun ? "would be" : "are"} judged now: ${firstOf(taken)}.`);
  for (const one of left.slice(0, TOLD_MOST))
    print.note({ text: `  ${textOf(one["episode"])} was not judged: ${textOf(one["why"])}.`, colour: "yellow" });
  if (left.length > TOLD_MOST)
    print.note({ text: `  ${left.length - TOLD_MOST} more were not judged (\`--json\` names all).`, colour: "yellow" });
  for (const problem of row.problems) print.note({ text: `  ${textOf(problem["text"])}`, colour: "yellow" });
}
