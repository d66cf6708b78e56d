/** episodes and replay verbs. */
import { Option } from "commander";
import { EPISODE_STATES } from "../../model/episode.js";
import { CliFault, EXIT } from "./access.js";
import { toCount } from "./facade.js";
import { addImportVerbs } from "./episodes-import.js";
import { listOf, objectOf, textOf, textsOf } from "./fields.js";
import { pathPart } from "./path.js";
import type { Verbs } from "./verb.js";

/** Episodes listed unless more are asked for. */
const LISTED = 50;

export function addEpisodeVerbs(verbs: Verbs): void {
  const { program, ports } = verbs;
  const { print } = ports;
  const episodes = program.command("episodes").description("tasks of agents, their calls and outcomes");
  episodes
    .command("list")
    .description("episodes, newest first; those with nothing but searches in them only where they are asked for")
    .addOption(
      new Option("--state <state>", "which of them (some = all that are not empty)").choices(EPISODE_STATES).default("some"),
    )
    .option("--limit <n>", "at most this many, the newest", toCount, LISTED)
    .action(({ state, limit }: { state: string; limit: number }) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        // One more than is shown tells whether there are more.
        const found = listOf(await access.ask("GET", `/v1/episodes?state=${state}&limit=${limit + 1}`));
        const rows = found.slice(0, limit);
        if (found.length > limit) print.note(`The newest ${limit} are listed; --limit <n> lists more.`);
        if (verbs.json()) return print.json(rows);
        print.table(
          [
            { title: "episode" },
            { title: "opened" },
            { title: "turns", align: "right" },
            { title: "calls", align: "right" },
            { title: "outcome" },
            { title: "task" },
          ],
          rows.map((row) => {
            const outcome = objectOf(row["outcome"]);
            const said = row["outcome"] === undefined ? "running" : `${textOf(outcome["outcome"])} (${textOf(outcome["trust"])})`;
            return [
              textOf(row["episode"]),
              textOf(row["opened"]),
              textOf(row["turn"]),
              textOf(row["calls"]),
              said,
              textOf(row["task"]).slice(0, 80),
            ];
          }),
        );
      }),
    );
  episodes
    .command("show <episode>")
    .description("an episode with its calls")
    .action((id: string) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const answer = objectOf(await access.ask("GET", `/v1/episodes/${pathPart(id, "an episode")}`));
        if (verbs.json()) return print.json(answer);
        const episode = objectOf(answer["episode"]);
        print.line({ text: id, colour: "bold" }, ` ${textOf(episode["task"])}`);
        for (const call of listOf(answer["calls"])) {
          print.line(
            `  ${textOf(call["seq"])}. ${textOf(call["tool"])} ${JSON.stringify(call["args"])} → ${call["isError"] === true ? "error" : "ok"} (${textOf(call["ms"])} ms)`,
          );
          for (const flow of listOf(call["flows"]))
            print.line({
              text: `       ${textOf(flow["to"])} from call ${textOf(objectOf(flow["from"])["seq"])} ${textOf(objectOf(flow["from"])["path"])}`,
              colour: "dim",
            });
        }
      }),
    );
  episodes
    .command("verify <episode> <outcome>")
    .description("say what became of it: success, failure or abandoned")
    .option("--trust <kind>", "human, state or replay", "human")
    .option("--note <text>", "why")
    .action((id: string, outcome: string, options: { trust: string; note?: string }) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        if (!["success", "failure", "abandoned"].includes(outcome))
          throw new CliFault("The outcome is success, failure or abandoned.", EXIT.usage);
        const body = { outcome, trust: options.trust, ...(options.note === undefined ? {} : { note: options.note }) };
        const answer = await access.ask("POST", `/v1/episodes/${pathPart(id, "an episode")}/verify`, body);
        if (verbs.json()) print.json(answer);
        else print.line(`${id} is recorded as ${outcome} (${options.trust}).`);
      }),
    );
  addImportVerbs(verbs, episodes);
  program
    .command("replay <view>")
    .description("assemble a recorded view again and compare")
    .action((view: string) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const answer = objectOf(await access.ask("POST", `/v1/views/${pathPart(view, "a view")}/replay`, {}));
        if (verbs.json()) print.json(answer);
        else if (answer["same"] === true) print.line(`${view} replays byte for byte.`);
        else for (const difference of textsOf(answer["differences"])) print.line(difference);
        return answer["same"] === true ? EXIT.fine : EXIT.failed;
      }),
    );
}
