/** skills verbs: what stands, why, and what people do to the library. */
import { Option } from "commander";
import type { JsonObject } from "../../model/json.js";
import { SKILL_LIMITS } from "../../model/policy.js";
import { CliFault, EXIT } from "./access.js";
import { pathPart } from "./path.js";
import { printReason, standingShown } from "./standing.js";
import { toCount } from "./facade.js";
import { listOf, objectOf, textOf, textsOf } from "./fields.js";
import { printResting } from "./taken-back.js";
import type { Verbs } from "./verb.js";

export function addSkillVerbs(verbs: Verbs): void {
  const { program, ports } = verbs;
  const { print } = ports;
  const skills = program.command("skills").description("the skill library");

  skills
    .command("list")
    .description("skills with their standing")
    .addOption(new Option("--tier <tier>", "only of this tier").choices(["planning", "atomic", "tool"]))
    .addOption(new Option("--standing <standing>", "only of this standing").choices(["active", "inactive"]))
    .option("--at <version>", "as the library stood while that catalog version was in force", toCount)
    .action((options: { tier?: string; standing?: string; at?: number }) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const query = new URLSearchParams(
          Object.entries({ tier: options.tier, standing: options.standing, at: options.at?.toString() }).filter(
            (entry): entry is [string, string] => entry[1] !== undefined,
          ),
        );
        const rows = listOf(await access.ask("GET", `/v1/skills${query.size > 0 ? `?${query.toString()}` : ""}`));
        if (verbs.json()) return print.json(rows);
        print.table(
          [
            { title: "skill" },
            { title: "tier" },
            { title: "standing" },
            { title: "rev", align: "right" },
            { title: "by" },
            { title: "reason" },
          ],
          rows.map((row) => {
            const standing = objectOf(row["standing"]);
            return [
              textOf(row["name"]),
              textOf(row["tier"]),
              standingShown(standing),
              textOf(row["revision"]),
              `${broughtBy(row)}${row["pinned"] === true ? ", pinned" : ""}`,
              row["unread"] === undefined ? firstReason(standing) : `edit not taken up: ${textOf(row["unread"])}`,
            ];
          }),
        );
      }),
    );

  skills
    .command("show <skill>")
    .description("a skill's text, contract and standing")
    .action((name: string) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const skill = objectOf(await access.ask("GET", `/v1/skills/${pathPart(name, "a skill")}`));
        if (verbs.json()) return print.json(skill);
        const standing = objectOf(skill["standing"]);
        print.line({ text: textOf(skill["name"]), colour: "bold" }, ` (${textOf(skill["tier"])}) is `, standingShown(standing));
        for (const reason of listOf(standing["reasons"])) printReason(verbs, reason, textOf(reason["text"]));
        if (skill["unread"] !== undefined) print.line(`  edit not taken up: ${textOf(skill["unread"])}`);
        const origin = objectOf(skill["origin"]);
        if (origin["upstream"] !== undefined) print.line(`  taken from ${textOf(origin["upstream"])} (${textOf(origin["uri"])})`);
        for (const line of contractShown(objectOf(skill["contract"]))) print.line(`  ${line}`);
        print.line("");
        print.block(textOf(skill["text"]));
      }),
    );

  skills
    .command("history <skill>")
    .description("revisions that wrote a skill")
    .action((name: string) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const rows = listOf(await access.ask("GET", `/v1/skills/${pathPart(name, "a skill")}/history`));
        if (verbs.json()) return print.json(rows);
        print.table(
          [{ title: "revision", align: "right" }, { title: "time" }, { title: "by" }, { title: "cause" }],
          rows.map((row) => [
            textOf(row["revision"]),
            textOf(row["time"]),
            textOf(objectOf(row["edit"])["by"]),
            textOf(objectOf(row["edit"])["cause"]) || textOf(row["cause"]),
          ]),
        );
      }),
    );

  skills
    .command("lint")
    .description("what is wrong with skills, all at once")
    .action(() =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const problems = listOf(await access.ask("GET", "/v1/library/lint"));
        if (verbs.json()) print.json(problems);
        else if (problems.length === 0) print.line("Every skill keeps the rules.");
        else
          for (const problem of problems)
            print.line(`${textOf(problem["where"])}: ${textOf(problem["code"])}: ${textOf(problem["text"])}`);
        return problems.length === 0 ? EXIT.fine : EXIT.failed;
      }),
    );

  skills
    .command("import [sources...]")
    .description(
      "take in skills of others: folders with a SKILL.md at or below them, or git repositories (default: .claude/skills and .agents/skills of this folder and yours)",
    )
    .option("--ref <ref>", "branch, tag or commit of the git repositories (their default branch)")
    .action((sources: string[], options: { ref?: string }) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const found = await ports.findSkills({ sources, ...options });
        const where = found.looked.join(", ") || ".claude/skills and .agents/skills of this folder and yours";
        if (found.folders.length === 0) throw new CliFault(`No SKILL.md was found in ${where}.`, EXIT.usage);
        const most = SKILL_LIMITS.foldersAtOnce;
        if (found.folders.length > most)
          throw new CliFault(
            `${where} has ${found.folders.length} skills; at most ${most} are taken at once. Give folders of it one by one.`,
          );
        const folders = found.folders.map(({ folder, origin, files }) => ({ folder, origin, files: { ...files } }));
        const answer = objectOf(await access.ask("POST", "/v1/library/import", { folders }));
        const problems = [...found.problems.map((problem) => ({ ...problem })), ...listOf(answer["problems"])];
        const imported = textsOf(answer["imported"]);
        if (verbs.json()) print.json({ ...answer, problems });
        else {
          print.line(`Imported: ${imported.join(", ") || "none"} (library revision ${textOf(answer["revision"])}).`);
          for (const problem of problems) print.note(`${textOf(problem["where"])}: ${textOf(problem["text"])}`);
        }
        // What is in the library already is no failure: an import may be done again.
        const known = problems.filter((problem) => problem["code"] === "skill-known").length;
        return imported.length + known > 0 ? EXIT.fine : EXIT.failed;
      }),
    );

  skills
    .command("export <dir>")
    .description(
      "bring a client's skill folder to the active skills; what is not from here stays untouched, what rests is taken out",
    )
    .action((dir: string) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const active: Record<string, Record<string, string>> = {};
        for (const row of listOf(await access.ask("GET", "/v1/skills?standing=active"))) {
          const name = textOf(row["name"]);
          const skill = objectOf(await access.ask("GET", `/v1/skills/${pathPart(name, "a skill")}`));
          active[name] = objectOf(skill["files"]) as Record<string, string>;
        }
        const { written, removed, problems } = await ports.handOut(dir, active, verbs.home());
        for (const { where, text } of problems) print.note({ text: `${where}: ${text}`, colour: "yellow" });
        if (verbs.json()) print.json({ exported: written, removed, problems, to: dir });
        else {
          print.line(`${written.length} active skills are in ${dir}.`);
          if (removed.length > 0) print.line(`Taken out, since they are not active any more: ${removed.join(", ")}.`);
        }
        return problems.length === 0 ? EXIT.fine : EXIT.failed;
      }),
    );

  for (const [verb, what] of [
    ["approve", "the skill was looked at and fits its tools as they are now"],
    ["pin", "never edited until unpinned"],
    ["unpin", "may be edited again"],
    ["remove", "take the skill out of the library (its history is kept)"],
  ] as const) {
    skills
      .command(`${verb} <skill>`)
      .description(what)
      .action((name: string) =>
        verbs.withAccess({ upstreams: false }, async (access) => {
          const answer = objectOf(await access.ask("POST", `/v1/skills/${pathPart(name, "a skill")}/${verb}`, {}));
          if (verbs.json()) return print.json(answer);
          if (verb === "remove") print.line(`${name} was removed in library revision ${textOf(answer["revision"])}.`);
          else {
            const standing = objectOf(answer["standing"]);
            print.line(`${name} is `, standingShown(standing), answer["pinned"] === true ? ", pinned." : ".");
            if (standing["standing"] !== "active") print.line(`  ${firstReason(standing)}`);
          }
        }),
      );
  }

  skills
    .command("revert <revision> [skill]")
    .description("back to what stood at a library revision (the whole library, or one skill), as a new revision")
    .action((revision: string, skill: string | undefined) =>
      verbs.withAccess({ upstreams: false }, async (access) => {
        const answer = objectOf(
          await access.ask("POST", "/v1/library/revert", { to: toCount(revision), ...(skill === undefined ? {} : { skill }) }),
        );
        if (verbs.json()) return print.json(answer);
        const changed = textsOf(answer["changed"]);
        const pinned = textsOf(answer["keptPinned"]);
        print.line(
          changed.length === 0
            ? textOf(answer["unchanged"])
            : `Library revision ${textOf(answer["revision"])}: ${changed.join(", ")}.`,
        );
        const since = textsOf(answer["keptSince"]);
        if (pinned.length > 0)
          print.line(`Pinned, and so left as they are (\`steward skills unpin\` first): ${pinned.join(", ")}.`);
        if (since.length > 0) print.line(`Added since and kept: ${since.join(", ")}.`);
        printResting(verbs, answer);
      }),
    );
}

/** What a skill needs of tools and of other skills, a line each. */
function contractShown(contract: JsonObject): string[] {
  const needs = listOf(contract["requires"]).map((need) => {
    const params = textsOf(need["params"]);
    const marks = ["optional", "inferred"].filter((mark) => need[mark] === true);
    return `needs ${textOf(need["tool"])}${params.length > 0 ? `, sets ${params.join(", ")}` : ""}${marks.length > 0 ? ` (${marks.join(", ")})` : ""}`;
  });
  return [...needs, ...textsOf(contract["uses"]).map((skill) => `builds on ${skill}`)];
}

/** Who brought it: the upstream that serves it, else how it came in. */
function broughtBy(row: JsonObject): string {
  const origin = objectOf(row["origin"]);
  return origin["upstream"] === undefined ? textOf(row["provenance"]) : `upstream:${textOf(origin["upstream"])}`;
}

/** The one that somebody can do something about comes first, with what that is. */
function firstReason(standing: JsonObject): string {
  const [first] = listOf(standing["reasons"]);
  const way = textOf(first?.["way"]);
  return `${textOf(first?.["text"])}${way === "" ? "" : ` → ${way}`}`;
}
