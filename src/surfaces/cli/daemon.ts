/** serve, stdio, init, doctor, upstreams, demo: the daemon and its surroundings. */
import { Option } from "commander";
import type { Print } from "../../host/print.js";
import { CliFault, EXIT, type Evolved } from "./access.js";
import { toCount } from "./facade.js";
import { listOf, objectOf, textOf } from "./fields.js";
import type { Verbs } from "./verb.js";

export function addDaemonVerbs(verbs: Verbs): void {
  const { program, ports } = verbs;
  const { print } = ports;
  program
    .command("init")
    .description("prepare a home: the starter home, or the servers your clients are configured with")
    .option("--from <clients...>", "import from these clients (claude-desktop, claude-code, cursor, vscode, codex, all)")
    .option("--dry-run", "show what would be taken")
    .action(async (options: { from?: string[]; dryRun?: boolean }) => {
      const home = verbs.home();
      const lines = await ports.init({
        ...(home === undefined ? {} : { home }),
        ...(options.from === undefined ? {} : { from: options.from }),
        dryRun: options.dryRun === true,
      });
      if (verbs.json()) print.json(lines);
      else for (const line of lines) print.line(line);
    });

  program
    .command("serve")
    .description("run the daemon")
    .option("--port <port>", "HTTP port (7717; 0 = any free one)", toPort)
    .option("--host <address>", "address to listen on (127.0.0.1)")
    .option("--starter", "on a home that is new, lay out the starter home first")
    // For the bridge, behind which nobody sees a refusal: its agents find the daemon wherever it listens.
    .addOption(new Option("--any-port", "where the port is taken, listen on another one").hideHelp())
    .addOption(new Option("--log <level>", "how much is told on stderr").choices(["debug", "info", "warn", "error", "silent"]))
    .action(async (options: { port?: number; host?: string; starter?: boolean; anyPort?: boolean; log?: string }) => {
      const home = verbs.home();
      verbs.exit(
        await ports.serve({
          ...(home === undefined ? {} : { home }),
          ...(options.port === undefined ? {} : { port: options.port }),
          ...(options.host === undefined ? {} : { host: options.host }),
          ...(options.log === undefined ? {} : { logLevel: options.log }),
          starter: options.starter === true,
          anyPort: options.anyPort === true,
        }),
      );
    });

  program
    .command("stdio")
    .description("the proxy for clients that spawn it: a bridge to the home's daemon, which it starts if there is none")
    .option("--own", "be the daemon itself")
    .option("--direct", "every tool under its exposed name instead of the six")
    .action(async (options: { own?: boolean; direct?: boolean }) => {
      const home = verbs.home();
      verbs.exit(
        await ports.stdio({
          ...(home === undefined ? {} : { home }),
          own: options.own === true,
          direct: options.direct === true,
        }),
      );
    });

  program
    .command("doctor")
    .description("look for what is wrong with the home, its configuration and its upstreams")
    .action(async () => {
      const home = verbs.home();
      const lines = await ports.doctor(home === undefined ? {} : { home });
      if (verbs.json()) print.json(lines);
      else
        for (const line of lines)
          print.line(
            {
              text: line.ok === true ? "ok  " : line.ok === "warn" ? "look" : "bad ",
              colour: line.ok === true ? "green" : line.ok === "warn" ? "yellow" : "red",
            },
            ` ${line.what}: ${line.text}`,
          );
      verbs.exit(lines.some((line) => line.ok === false) ? EXIT.failed : EXIT.fine);
    });

  program
    .command("upstreams")
    .description("configured MCP servers and how they are")
    .action(() =>
      verbs.withAccess({ upstreams: true }, async (access) => {
        const rows = listOf(await access.ask("GET", "/v1/upstreams"));
        if (verbs.json()) return print.json(rows);
        print.table(
          [
            { title: "upstream" },
            { title: "presence" },
            { title: "transport" },
            { title: "era" },
            { title: "server" },
            { title: "calls", align: "right" },
            { title: "failed", align: "right" },
            { title: "reason" },
          ],
          rows.map((row) => {
            const presence = objectOf(row["presence"]);
            const server = objectOf(row["server"]);
            const word = textOf(presence["state"]);
            return [
              textOf(row["label"]),
              {
                text: word,
                colour: word === "up" || word === "idle" ? "green" : word === "connecting" ? "yellow" : "red",
              } as const,
              textOf(row["transport"]),
              textOf(row["era"]),
              `${textOf(server["name"])} ${textOf(server["version"])}`.trim(),
              textOf(row["calls"]),
              textOf(row["failures"]),
              textOf(presence["reason"]),
            ];
          }),
        );
      }),
    );

  const demo = program.command("demo").description("the sample ecosystem");
  demo
    .command("evolve [version]")
    .description("move the sample shop's catalog to the next version (or the one named)")
    .action(async (version: string | undefined) => {
      const home = verbs.home();
      const moved = await ports.evolve({
        ...(home === undefined ? {} : { home }),
        ...(version === undefined ? {} : { to: toCount(version) }),
      });
      if (moved.after > moved.last || moved.after < 1)
        throw new CliFault(`The shop has versions 1 to ${moved.last}.`, EXIT.usage);
      if (verbs.json()) print.json(moved);
      else if (moved.before === moved.after)
        print.line(
          `The shop stays at version ${moved.after}${moved.after === moved.last && version === undefined ? " (its last; `steward demo evolve 1` goes back)" : ""}.`,
        );
      else tellMove(print, moved);
      verbs.exit(moved.catalog?.results.every((row) => row.ok) === false ? EXIT.failed : EXIT.fine);
    });
}

/** What moved, and where to look: one move of the shop is as many catalog versions as servers that changed with it. */
function tellMove(print: Print, { before, after, catalog }: Evolved): void {
  print.line(`The shop moves from version ${before} to ${after}.`);
  if (catalog === undefined)
    return print.line("No daemon runs on this home: the catalog has the move when the shop is listed next, by `steward serve`.");
  if (catalog.results.length === 0)
    return print.line(
      "No server of this home's configuration follows the move; `steward init` on a new home has the sample shop.",
    );
  for (const { label, ok, reason } of catalog.results)
    print.line(`  ${label}: ${ok ? "listed" : `not listed (${reason ?? "no reason is known"})`}`);
  if (catalog.from === catalog.to) print.line(`The catalog stays at version ${catalog.to}.`);
  else
    print.line(
      `The catalog moves from version ${catalog.from} to ${catalog.to}. See \`steward catalog drift ${catalog.from} ${catalog.to}\`, \`steward catalog log\`, \`steward skills list\`.`,
    );
}

const PORT_MOST = 65_535;

function toPort(text: string): number {
  const port = toCount(text);
  if (port > PORT_MOST) throw new CliFault(`${text} is no port: 0 to ${PORT_MOST}.`, EXIT.usage);
  return port;
}
