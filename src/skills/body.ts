/**
 * Bodies: the sections of a skill we write, in their order.
 *
 * Owns: headings and list marks.
 * Speaks: structured parts in, Markdown out.
 * Never: a section that has nothing to say.
 */
export interface SkillSections {
  readonly whenToUse: string;
  readonly notFor?: string | undefined;
  /** Each `name: where it comes from`. */
  readonly inputs?: readonly string[] | undefined;
  /** One sentence each; numbers are added. */
  readonly steps?: readonly string[] | undefined;
  readonly checks?: readonly string[] | undefined;
  readonly gotchas?: readonly string[] | undefined;
  readonly substitutions?: readonly string[] | undefined;
}

export function renderBody(parts: SkillSections): string {
  const text = (heading: string, content: string | undefined): string[] =>
    content === undefined ? [] : [`## ${heading}\n${content}`];
  const list = (heading: string, items: readonly string[] | undefined): string[] =>
    items === undefined || items.length === 0 ? [] : [`## ${heading}\n${items.map((item) => `- ${item}`).join("\n")}`];
  const steps = (parts.steps ?? []).map((step, n) => `${n + 1}. ${step}`);
  return [
    ...text("When to use", parts.whenToUse),
    ...text("Not for", parts.notFor),
    ...list("Inputs", parts.inputs),
    ...(steps.length === 0 ? [] : [`## Steps\n${steps.join("\n")}`]),
    ...list("Checks", parts.checks),
    ...list("Gotchas", parts.gotchas),
    ...list("Substitutions", parts.substitutions),
  ].join("\n\n");
}
