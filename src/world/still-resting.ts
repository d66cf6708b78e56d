/**
 * Skills that rest after a run: why, what the run tried, and what a person can do.
 *
 * No skill that maintenance looked at is passed over in silence: where no edit is shown, the reason why there is none is.
 */
import { mendByRules } from "../maintain/propose.js";
import type { SkillName } from "../model/ids.js";
import type { MaintenanceOutcomes, MaintenanceReport } from "../model/maintenance.js";
import type { DueSkill, MaintenanceInput } from "../model/ports.js";
import type { EditRecord } from "../model/skill.js";
import type { Standing } from "../model/standing.js";
import type { Known } from "./world.js";

type Row = MaintenanceReport["stillInactive"][number];

type Outcomes = MaintenanceOutcomes & Pick<MaintenanceReport, "dryRun">;

/** `input`: what the run looked at, as it is after it. */
export function stillResting(known: Known, input: MaintenanceInput, outcomes: Outcomes): Row[] {
  const due = new Map(input.due.map((one) => [one.skill.name, one]));
  return [...known.standings]
    .filter(([, { standing }]) => standing === "inactive")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, standing]) => {
      const first = standing.reasons[0];
      const found = triedOn(name, standing, { known, input, outcomes, due: due.get(name) });
      const way = found.way ?? first?.way;
      return {
        skill: name,
        reason: first?.text ?? standing.because ?? "",
        tried: found.tried,
        ...(way === undefined ? {} : { way }),
      };
    });
}

interface Looked {
  readonly known: Known;
  readonly input: MaintenanceInput;
  readonly outcomes: Outcomes;
  readonly due: DueSkill | undefined;
}

function triedOn(name: SkillName, standing: Standing, looked: Looked): { tried: string; way?: string } {
  const { outcomes, due } = looked;
  const of = <Edit extends EditRecord>(edits: readonly Edit[]): Edit | undefined => edits.find((edit) => edit.skill === name);
  const proposed = of(outcomes.proposed);
  if (proposed !== undefined)
    return {
      tried: `An edit is proposed, for a person to look at: ${proposed.cause}.`,
      way: `\`steward maintain --accept ${name}\` takes it`,
    };
  const applied = of(outcomes.applied);
  if (applied !== undefined && outcomes.dryRun)
    return { tried: `This run would mend it: ${applied.cause}.`, way: "`steward maintain`" };
  const refused = of(outcomes.refused);
  if (refused !== undefined) return { tried: `An edit was refused: ${refused.findings.join(" ")}` };
  if (applied !== undefined) return { tried: `It was edited (${applied.cause}), and rests for what no edit mends.` };
  return {
    tried: due === undefined ? (WAITS[standing.because ?? ""] ?? WAITS_ON) : triedOnDue(due, of(outcomes.skipped), looked),
  };
}

function triedOnDue(due: DueSkill, skipped: EditRecord | undefined, { known, input }: Looked): string {
  const { edit, why } = mendByRules(due, input);
  // A skip for another way that runs went says nothing of the skill's own tools.
  const judged = skipped === undefined || skipped.by !== "llm" ? undefined : `It was judged not worth an edit: ${skipped.cause}.`;
  if (why !== undefined) return [why, judged].filter((text) => text !== undefined).join(" ");
  const before = edit === undefined ? undefined : known.rejected.get(edit.signature);
  if (before !== undefined)
    return `The edit that would mend it was refused at ${before.at}: ${before.why} \`steward maintain --accept ${due.skill.name}\` has it judged again.`;
  return judged ?? "An edit is known and was not proposed in this run; it is due again.";
}

/** What a skill waits for of which none of its own tools moved. */
const WAITS: Readonly<Record<string, string>> = {
  held: "Nothing: a person's approval wakes it.",
  dependency: "Nothing of its own: it wakes with the skill that it builds on.",
  unreachable: "Nothing: it wakes when its upstream is back.",
  missing: "Nothing: it wakes when its tool is listed.",
  unserved: "Nothing: it wakes when its upstream serves it again.",
};
const WAITS_ON = "Nothing: none of its own tools moved.";
