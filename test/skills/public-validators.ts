import { parse } from "yaml";

/**
 * The rules that the two public validators of the Agent Skills format check, written anew from their documentation:
 * only the six fields; name 1–64 of lower-case letters, digits and single hyphens, equal to the folder; description
 * 1–1,024 without angle brackets; compatibility ≤ 500; metadata flat strings.
 */
export function publicValidatorProblems(folder: string, text: string): string[] {
  const problems: string[] = [];
  const match = /^---\n([\s\S]*?)\n---\n/.exec(text);
  if (match === null) return ["no front matter at the start"];
  let fields: unknown;
  try {
    fields = parse(match[1] ?? "");
  } catch (error) {
    return [`not YAML: ${String(error)}`];
  }
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return ["front matter is not a map"];
  const { name, description, compatibility, metadata, ...rest } = fields as Record<string, unknown>;
  for (const field of Object.keys(rest))
    if (!["license", "allowed-tools"].includes(field)) problems.push(`unexpected field ${field}`);
  if (typeof name !== "string" || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > 64)
    problems.push("name breaks the rules");
  if (name !== folder) problems.push("name is not the folder");
  if (typeof description !== "string" || description.trim() === "") problems.push("no description");
  else if (description.length > 1024 || /[<>]/.test(description)) problems.push("description breaks the rules");
  if (compatibility !== undefined && (typeof compatibility !== "string" || compatibility.length > 500))
    problems.push("compatibility breaks the rules");
  if (metadata !== undefined) {
    if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) problems.push("metadata is not a map");
    else if (Object.values(metadata).some((value) => typeof value !== "string")) problems.push("metadata is not flat strings");
  }
  return problems;
}
