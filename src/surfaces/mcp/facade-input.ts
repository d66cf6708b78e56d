/**
 * Bodies of the six facade operations, read from what a client sent (MCP arguments and REST bodies are the same).
 *
 * Owns: the check against the schemas of model/facade.ts, path-precise messages.
 * Speaks: unknown JSON in, typed inputs out; throws Fault `input-invalid` before anything is called.
 * Never: the tool's own input schema (that is checked where the tool is known).
 */
import type { z } from "zod";
import { callToolInput } from "../../model/facade.js";
import type { CallToolInput } from "../../model/facade.js";
import { Fault } from "../../model/fault.js";
import { isJsonObject, kindInWords } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import { readArguments } from "../../operations/arguments.js";

/** Reads a body by its schema. `null` and absent count as an empty object. */
export function readInput<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(raw ?? {});
  if (parsed.success) return parsed.data;
  throw inputFault(parsed.error);
}

/** One sentence that names each wrong field, and the issues as data. */
export function inputFault(error: z.ZodError): Fault {
  const issues = error.issues
    .slice(0, 20)
    .map((issue) => ({ path: issue.path.map(String).join("."), problem: problemOf(issue) }));
  const sentence = issues.map((issue) => (issue.path === "" ? issue.problem : `${issue.path}: ${issue.problem}`)).join("; ");
  return new Fault("input-invalid", sentence, { issues });
}

function problemOf(issue: z.core.$ZodIssue): string {
  if (/expected array, received string$/.test(issue.message)) return 'must be a list, also for one: ["…"].';
  return /, received undefined$/.test(issue.message) ? `is missing (${issue.message})` : issue.message;
}

/** `arguments` apart from the rest: they are the tool's own, checked by its schema and never walked here. */
const callHead = callToolInput.omit({ arguments: true });

/**
 * Body of call_tool. `arguments` may be an object, the JSON text of an object, null or absent; the result always has an
 * object. Anything else is refused loudly, before any upstream hears of it.
 */
export function readCallInput(raw: unknown): CallToolInput & { readonly arguments: JsonObject } {
  if (!isJsonObject(raw))
    throw new Fault("input-invalid", `call_tool takes an object with \`tool\` and \`arguments\`; ${kindInWords(raw)} came.`);
  const { arguments: given, ...head } = raw;
  const parsed = callHead.safeParse(head);
  if (!parsed.success) throw inputFault(parsed.error);
  return { ...parsed.data, arguments: readArguments(given) };
}
