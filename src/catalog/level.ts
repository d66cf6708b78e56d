/**
 * Levels: what a change means for one skill, given how it uses the tool.
 *
 * Owns: the table (rule, verdict, usage) → level, and "usage before schema".
 * Speaks: ToolChange and Usage in, Level and reasons out.
 * Never: standings (the world joins levels of all that a skill needs), lineage, time.
 */
import { LEVELS, worseLevel, type Level, type RuleId, type ToolChange, type Usage } from "../model/drift.js";
import type { JsonObject, JsonValue } from "../model/json.js";
import { isJsonObject } from "../model/json.js";
import type { Tool } from "../model/tool.js";
import { diffTool, DRIFT_RULES, type DriftRules } from "./drift.js";
import { bearingOf, parentOf, segmentsOf, validates, validatorOf, valuesAt, type Bearing } from "./usage.js";

type Judgement = (change: ToolChange, usage: Usage) => Level;

/** The level of one change for one skill. */
export function levelOf(change: ToolChange, usage: Usage): Level {
  return LEVEL_OF_RULE[change.rule](change, usage);
}

const always =
  (level: Level): Judgement =>
  () =>
    level;

/** A change that loosens, or that another branch makes up for, touches nobody. */
const unlessHarmless =
  (judge: Judgement): Judgement =>
  (change, usage) =>
    change.verdict === "compatible" || change.verdict === "cosmetic" ? "compatible" : judge(change, usage);

const LEVEL_OF_RULE: Readonly<Record<RuleId, Judgement>> = {
  N1: always("compatible"),
  T1: always("breaking"),
  T2: always("unknown"),
  T3: always("breaking"),
  T4: always("compatible"),
  I1: unlessHarmless(unlessSet),
  I2: unlessHarmless(unlessSet),
  I3: always("compatible"),
  I4: unlessHarmless(unlessSet),
  I5: always("compatible"),
  I6: unlessHarmless(whenUsed),
  I7: unlessHarmless(whenUsed),
  I8: unlessHarmless(whenUsed),
  I9: always("compatible"),
  I10: unlessHarmless(whenUsed),
  I11: unlessHarmless(whenHit),
  I12: always("compatible"),
  I13: unlessHarmless(whenHit),
  I14: always("compatible"),
  I15: unlessHarmless((change, usage) => (bearing(change, usage) === "no" ? "compatible" : "dangerous")),
  I16: unlessHarmless(whenOmitted),
  I17: unlessHarmless(whenUndeclaredSent),
  O1: always("compatible"),
  O2: unlessHarmless((_change, usage) => (usage.reads.length > 0 ? "dangerous" : "compatible")),
  O3: unlessHarmless(whenRead("breaking")),
  O4: always("compatible"),
  O5: unlessHarmless((change, usage) =>
    isIdentifier(change.field) && change.verdict === "breaking"
      ? whenRead("breaking")(change, usage)
      : whenRead("dangerous")(change, usage),
  ),
  O6: unlessHarmless(whenRead("dangerous")),
  O7: unlessHarmless(whenRead("dangerous")),
  D1: always("review"),
  D2: always("review"),
  D3: always("compatible"),
  A1: always("safety"),
  A2: always("review"),
  A3: always("review"),
  A4: always("compatible"),
  X1: always("dangerous"),
  X2: whenUndecided,
};

/* ── parameters ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** How far the skill's parameters, declared or seen in its recorded calls, bear on the change. */
function bearing(change: ToolChange, usage: Usage): Bearing {
  if (change.field === undefined) return "whole";
  const declared = bearingOf(usage.params, change.field);
  if (declared === "whole" || usage.recorded.length === 0) return declared;
  if (valuesAt(usage.recorded, change.field).length > 0) return "whole";
  // The recorded calls show what a parameter that is set as a whole consists of.
  return declared === "around" && valuesAt(usage.recorded, parentOf(change.field)).length > 0 ? "no" : declared;
}

/** Breaking for a skill that does not set the parameter; one inside an object concerns only who sets that object. */
function unlessSet(change: ToolChange, usage: Usage): Level {
  const field = change.field;
  if (field === undefined) return "breaking";
  if (bearingOf(usage.params, field) === "whole") return "compatible";
  const parent = parentOf(field);
  const holders = parent === undefined ? usage.recorded : valuesAt(usage.recorded, parent);
  if (holders.length > 0) return holders.every((holder) => hasMember(holder, field)) ? "compatible" : "breaking";
  if (parent === undefined) return "breaking";
  return bearingOf(usage.params, parent) === "no" ? "compatible" : "breaking";
}

function hasMember(holder: JsonValue, field: string): boolean {
  const name = field.slice(field.lastIndexOf(".") + 1);
  return !isJsonObject(holder) || Object.hasOwn(holder, name);
}

function whenUsed(change: ToolChange, usage: Usage): Level {
  switch (bearing(change, usage)) {
    case "no":
      return "compatible";
    case "around":
      return "dangerous";
    case "whole":
      return change.verdict === "edge" && !isHit(change, usage) ? "dangerous" : "breaking";
  }
}

function whenHit(change: ToolChange, usage: Usage): Level {
  if (bearing(change, usage) === "no") return "compatible";
  return isHit(change, usage) ? "breaking" : "dangerous";
}

/** Does a recorded value fail what is now asked at this field? Values that had failed before prove nothing. */
function isHit(change: ToolChange, usage: Usage): boolean {
  const test = validatorOfFragment(change.after, usage);
  if (test === undefined) return false;
  const before = validatorOfFragment(change.before, usage);
  return valuesAt(usage.recorded, change.field).some((value) => test(value) === false && before?.(value) !== false);
}

function validatorOfFragment(
  fragment: JsonValue | undefined,
  usage: Usage,
): ((value: JsonValue) => boolean | "undecided") | undefined {
  return isJsonObject(fragment) || typeof fragment === "boolean" ? validatorOf(fragment, usage.matches) : undefined;
}

/** A default speaks only where the parameter is left out, by a skill that could have set it. */
function whenOmitted(change: ToolChange, usage: Usage): Level {
  const field = change.field;
  if (field === undefined || bearingOf(usage.params, field) === "whole") return "compatible";
  const parent = parentOf(field);
  const holders = parent === undefined ? usage.recorded : valuesAt(usage.recorded, parent);
  if (holders.length > 0) return holders.every((holder) => hasMember(holder, field)) ? "compatible" : "dangerous";
  return parent === undefined || bearingOf(usage.params, parent) !== "no" ? "dangerous" : "compatible";
}

/** The field is that of the object that was closed. */
function whenUndeclaredSent(change: ToolChange, usage: Usage): Level {
  const { field, after } = change;
  const test = validatorOfFragment(after, usage);
  const holders = valuesAt(usage.recorded, field).filter(isJsonObject);
  if (test !== undefined && holders.some((holder) => test(holder) === false)) return "breaking";
  const declared = new Set(isJsonObject(after) && isJsonObject(after["properties"]) ? Object.keys(after["properties"]) : []);
  const depth = field === undefined ? 0 : segmentsOf(field).length;
  const inside = usage.params.filter((param) => field === undefined || bearingOf([param], field) === "whole").map(segmentsOf);
  if (inside.some((path) => path.length > depth && !declared.has(path[depth] ?? ""))) return "breaking";
  // What a map is set to is not known where no call shows it.
  const isSetUnseen = change.verdict === "breaking" && holders.length === 0 && inside.some((path) => path.length === depth);
  return isSetUnseen ? "dangerous" : "compatible";
}

/* ── results ───────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** A skill that reads the whole of what the field is part of may or may not look at the field. */
function whenRead(level: Level): Judgement {
  return (change, usage) => {
    switch (change.field === undefined ? (usage.reads.length > 0 ? "whole" : "no") : bearingOf(usage.reads, change.field)) {
      case "no":
        return "compatible";
      case "around":
        return "dangerous";
      case "whole":
        return level;
    }
  };
}

/** Ids are read to be passed on: of another type they fit nowhere. */
function isIdentifier(field: string | undefined): boolean {
  return (
    field !== undefined &&
    /(^|[._])(id|ids|key|uuid|guid|slug|number|sha)(\[\])*$|[a-z](Id|Ids|Key|Uuid|Number)(\[\])*$/.test(field)
  );
}

function whenUndecided(change: ToolChange, usage: Usage): Level {
  const output = change.path.startsWith("/outputSchema");
  const bears = output ? whenRead("unknown")(change, usage) !== "compatible" : bearing(change, usage) !== "no";
  if (!bears) return "compatible";
  return change.verdict === "undecided" ? "unknown" : "dangerous";
}

/* ── usage before schema ───────────────────────────────────────────────────────────────────────────────────────────────── */

export interface Judgment {
  readonly level: Level;
  /** What is above compatible, the worst first. */
  readonly reasons: readonly { readonly rule: RuleId; readonly level: Level; readonly text: string }[];
  /** Recorded calls fit the new schema, and that alone keeps the skill as it is. */
  readonly safeByUsage: boolean;
  /** What would have been above compatible by the schema alone, and was shown harmless by recorded calls. */
  readonly overruled: readonly { readonly rule: RuleId; readonly text: string }[];
}

/** Decides whether arguments fit an input schema. */
export type ValidateArguments = (schema: JsonObject, args: JsonValue, given: readonly string[]) => boolean | "undecided";

/** What became of a tool means for a skill that uses it so. `after` undefined: the tool left. */
export function judge(
  before: Tool,
  after: Tool | undefined,
  usage: Usage,
  validate: ValidateArguments = (schema, args, given) => validates(schema, args, given, usage.matches),
  rules: DriftRules = DRIFT_RULES,
): Judgment {
  if (after === undefined) return concluded([{ rule: "T1", level: "breaking", text: "the tool was removed" }]);
  if (before.digests.document === after.digests.document) return concluded([]);
  const found = diffTool(before, after, rules).changes.map((change) => ({ change, level: levelOf(change, usage) }));
  const replay = replayRecorded(before, after, usage, validate);
  if (replay === "refused") {
    const worst = found.filter(({ change }) => isInputRule(change.rule)).sort((a, b) => rank(b.level) - rank(a.level))[0];
    const text = `a recorded call does not fit the new parameters${worst === undefined ? "" : `: ${worst.change.text}`}`;
    const reasons = found.map(asReason);
    if (worst?.level !== "breaking") reasons.push({ rule: worst?.change.rule ?? "X2", level: "breaking", text });
    return concluded(reasons);
  }
  const mayOverrule =
    replay !== "none" &&
    !found.some(({ change, level }) => level !== "compatible" && /^[OAX]/.test(change.rule) && change.rule !== "X2");
  const isOverruled = (entry: (typeof found)[number]): boolean =>
    mayOverrule && entry.level !== "compatible" && isShownHarmless(entry.change, usage, replay);
  return concluded(
    found.filter((entry) => !isOverruled(entry)).map(asReason),
    found.filter(isOverruled).map(({ change }) => ({ rule: change.rule, text: change.text })),
  );
}

function asReason({ change, level }: { change: ToolChange; level: Level }): { rule: RuleId; level: Level; text: string } {
  return { rule: change.rule, level, text: change.text };
}

function rank(level: Level): number {
  return LEVELS.indexOf(level);
}

function concluded(
  all: readonly { rule: RuleId; level: Level; text: string }[],
  overruled: Judgment["overruled"] = [],
): Judgment {
  const reasons = all.filter((reason) => reason.level !== "compatible").sort((a, b) => rank(b.level) - rank(a.level));
  const level = reasons.reduce<Level>((worst, reason) => worseLevel(worst, reason.level), "compatible");
  return { level, reasons, safeByUsage: overruled.length > 0, overruled };
}

/** `fits`: every recorded call fits for certain. `undecided`: none fails. `none`: there is nothing to go by. */
type Replay = "none" | "fits" | "undecided" | "refused";

/** Recorded calls that did not even fit the old schema prove nothing either way. */
function replayRecorded(before: Tool, after: Tool, usage: Usage, validate: ValidateArguments): Replay {
  if (usage.recorded.length === 0 || before.digests.contract === after.digests.contract) return "none";
  let replay = "none" as Replay;
  for (const args of usage.recorded) {
    const answer = validate(after.inputSchema, args, usage.params);
    if (answer === false) {
      if (validate(before.inputSchema, args, usage.params) !== false) return "refused";
      continue;
    }
    replay = answer === "undecided" || replay === "undecided" ? "undecided" : "fits";
  }
  return replay;
}

/** Rules whose harm a recorded call would show. A default, a format, and a key that is silently ignored are not seen that way. */
const SHOWN_BY_CALLS: ReadonlySet<RuleId> = new Set<RuleId>(["I1", "I2", "I4", "I6", "I10", "I11", "I13", "I17", "X2"]);

function isShownHarmless(change: ToolChange, usage: Usage, replay: Replay): boolean {
  if (change.path.startsWith("/outputSchema")) return false;
  if (change.rule === "I7" || change.rule === "I8")
    return bearingOf(usage.params, change.field) === "no" && valuesAt(usage.recorded, change.field).length === 0;
  if (!SHOWN_BY_CALLS.has(change.rule)) return false;
  if (replay === "fits") return true;
  const test = validatorOfFragment(change.after, usage);
  return (
    change.rule !== "X2" && test !== undefined && valuesAt(usage.recorded, change.field).every((value) => test(value) === true)
  );
}

function isInputRule(rule: RuleId): boolean {
  return rule.startsWith("I") || rule === "X2";
}
