/**
 * Scripted skills on real histories: `npm run eval -- skills --data <dir>`.
 *
 * One skill per tool of the first version, played through every later version in a world as the daemon has it. Printed per version:
 * how many rest, came to rest, revived, need a look, are safe by usage, and for how many of the resting ones lineage knows who took
 * over. Four laws are held against what ajv and plain comparison say; the exit code is 1 where one is broken:
 *
 *  - no skill rests for a change that touched nothing it uses;
 *  - none is in use whose recorded call the present schema refuses;
 *  - a tool that is as it was when the skill was written has its skill in use;
 *  - a standing is that of the way straight from the first version, whatever lay between: revival is exact.
 *
 * A held tool is one that was safer in an earlier version than it is now; it waits for a person, whatever its schema says, so it is
 * compared with all versions that it was seen in. Where a series describes results only later, a second set of skills is scripted for
 * the first version that does, so that reads are played too.
 */
import { successors } from "../../src/catalog/lineage.js";
import type { Catalog } from "../../src/model/catalog.js";
import type { Tool } from "../../src/model/tool.js";
import type { Standing } from "../../src/model/standing.js";
import type { World } from "../../src/world/world.js";
import { ajvAccepts, isTouched, scriptSkills } from "./drift-skills.js";
import { count, dataFolder, print, printTable, readHistories, words, type CatalogHistory } from "./history.js";
import { moveWorld, nameSkills, startWorld, type NamedSkill } from "./skills-world.js";

interface VersionFigures {
  readonly version: string;
  resting: number;
  rested: number;
  revived: number;
  review: number;
  safe: number;
  /** Of the resting ones: lineage knows a certain, a proposed successor. */
  certain: number;
  proposed: number;
  readonly because: Map<string, number>;
}

/** What broke a law, said in one line each. */
interface Broken {
  readonly restedForNothing: string[];
  readonly activeThoughInvalid: string[];
  readonly notRevived: string[];
  readonly dependsOnTheWay: string[];
}

export function evalSkills(args: string[]): Promise<void> {
  const broken: Broken = { restedForNothing: [], activeThoughInvalid: [], notRevived: [], dependsOnTheWay: [] };
  const totals = { skills: 0, reading: 0, versions: 0, standings: 0, revived: 0, safe: 0 };
  for (const whole of readHistories(dataFolder(args))) {
    for (const history of [whole, fromFirstResult(whole)]) {
      const [first] = history?.catalogs ?? [];
      if (history === undefined || first === undefined) continue;
      const { skills: scripted, withoutCall } = scriptSkills(first);
      const skills = nameSkills(scripted);
      const reading = count(skills, (skill) => skill.usage.reads.length);
      const figures = playHistory(history, first, skills, broken);
      print(
        `\n${history.series}: ${skills.length} skills for ${history.names[0] ?? ""}, ${reading} read a field, ${withoutCall} without a recorded call`,
      );
      printFigures(figures);
      totals.skills += skills.length;
      totals.reading += reading;
      totals.versions += figures.length;
      totals.standings += skills.length * figures.length;
      totals.revived += count(figures, (one) => one.revived);
      totals.safe += count(figures, (one) => one.safe);
    }
  }
  print(
    `\n${totals.skills} skills (${totals.reading} read a field) through ${totals.versions} versions: ${totals.standings} standings, ` +
      `${totals.revived} revivals, ${totals.safe} times safe by usage`,
  );
  const laws: [string, readonly string[]][] = [
    ["rested by a change that touched nothing they use", broken.restedForNothing],
    ["in use although the recorded call is refused", broken.activeThoughInvalid],
    ["not revived by the contract they were written for", broken.notRevived],
    ["standing depends on the way there", broken.dependsOnTheWay],
  ];
  for (const [law, found] of laws) {
    print(`  ${String(found.length).padStart(4)}  ${law}`);
    for (const line of found) print(`        ${line}`);
  }
  if (laws.some(([, found]) => found.length > 0)) process.exitCode = 1;
  return Promise.resolve();
}

/** The rest of a history from the first version that describes a result, where that is a later one and not the last. */
function fromFirstResult({ series, catalogs, names }: CatalogHistory): CatalogHistory | undefined {
  const at = catalogs.findIndex((catalog) => [...catalog.tools.values()].some((tool) => tool.outputSchema !== undefined));
  if (at < 1 || at >= catalogs.length - 1) return undefined;
  return { series, catalogs: catalogs.slice(at), names: names.slice(at) };
}

function playHistory(
  { catalogs, names }: CatalogHistory,
  first: Catalog,
  skills: readonly NamedSkill[],
  broken: Broken,
): VersionFigures[] {
  const labels = [...new Set(catalogs.flatMap((catalog) => [...catalog.tools.values()].map((tool) => tool.label)))].sort();
  let world = startWorld(labels, first, skills);
  const wasResting = new Set<string>();
  return catalogs.slice(1).map((catalog, index) => {
    const version = names[index + 1] ?? "";
    world = moveWorld(world, labels, catalog);
    const straight = moveWorld(startWorld(labels, first, skills), labels, catalog);
    const figures = emptyFigures(version);
    for (const skill of skills) {
      tally(world, skill, figures, wasResting);
      holdAgainst({ world, straight, skill, version, seen: catalogs.slice(0, index + 2) }, broken);
    }
    return figures;
  });
}

function emptyFigures(version: string): VersionFigures {
  return { version, resting: 0, rested: 0, revived: 0, review: 0, safe: 0, certain: 0, proposed: 0, because: new Map() };
}

function tally(world: World, skill: NamedSkill, figures: VersionFigures, wasResting: Set<string>): void {
  const standing = standingOf(world, skill);
  const rests = standing.standing === "inactive";
  if (rests && !wasResting.has(skill.name)) figures.rested += 1;
  if (!rests && wasResting.delete(skill.name)) figures.revived += 1;
  if (standing.safeByUsage === true) figures.safe += 1;
  if (!rests && standing.needsReview) figures.review += 1;
  if (!rests) return;
  wasResting.add(skill.name);
  figures.resting += 1;
  const rule = standing.reasons[0]?.rule ?? "";
  figures.because.set(rule, (figures.because.get(rule) ?? 0) + 1);
  const left = world.catalog.departed.get(skill.tool.key);
  if (left === undefined) return;
  const next = successors(skill.tool.key, left.lastVersion, [...world.lineage.values()], (key) => world.catalog.tools.has(key));
  if (next !== undefined) figures[next.level] += 1;
}

function standingOf(world: World, skill: NamedSkill): Standing {
  const standing = world.standings.get(skill.name);
  if (standing === undefined) throw new Error(`${skill.name} has no standing`);
  return standing;
}

interface Held {
  readonly world: World;
  /** The world that went from the first version straight to this one. */
  readonly straight: World;
  readonly skill: NamedSkill;
  readonly version: string;
  /** Every version up to this one. */
  readonly seen: readonly Catalog[];
}

function holdAgainst({ world, straight, skill, version, seen }: Held, broken: Broken): void {
  const standing = standingOf(world, skill);
  const rests = standing.standing === "inactive";
  const reason = standing.reasons[0];
  const said = `${version} ${skill.tool.key}: ${rests ? `rests, ${reason?.rule ?? ""} ${reason?.text ?? ""}` : "in use"}`;
  const now = world.catalog.tools.get(skill.tool.key);
  if (now !== undefined && standing.because === "held") {
    if (!wasSafer(seen, now)) broken.restedForNothing.push(said);
    return;
  }
  const direct = standingOf(straight, skill);
  if (direct.standing !== standing.standing || direct.because !== standing.because)
    broken.dependsOnTheWay.push(`${said}; straight from the first version: ${direct.standing} ${direct.because ?? ""}`);
  if (now === undefined) return;
  if (rests && !isTouched(skill.tool, now, skill.usage)) broken.restedForNothing.push(said);
  if (rests && now.digests.contract === skill.tool.digests.contract) broken.notRevived.push(said);
  if (!rests && skill.usage.recorded.some((args) => ajvAccepts(now.inputSchema, args) === false))
    broken.activeThoughInvalid.push(said);
}

/** Did a version that was seen say that the tool only reads, or destroys nothing, where it says so no more? */
function wasSafer(seen: readonly Catalog[], now: Tool): boolean {
  return seen.some((catalog) => {
    const was = catalog.tools.get(now.key)?.annotations;
    if (was === undefined) return false;
    return (was.readOnly && !now.annotations.readOnly) || (!was.destructive && now.annotations.destructive);
  });
}

function printFigures(figures: readonly VersionFigures[]): void {
  printTable(
    ["version", "resting", "rested", "revived", "look", "safe", "successor certain", "proposed", "because"],
    figures.map((one) => [
      one.version,
      one.resting,
      one.rested,
      one.revived,
      one.review,
      one.safe,
      one.certain,
      one.proposed,
      words(one.because, "rules"),
    ]),
  );
}
