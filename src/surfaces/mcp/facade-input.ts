/**
 * Bodies of the six facade operations, read from what a client sent (MCP arguments and REST bodies are the same).
 *
 * Owns: the check against the schemas of model/facade.ts, path-precise messages, the forms `arguments` may take.
 * Speaks: unknown JSON in, typed inputs out; throws Fault `input-invalid` before anything is called.
 * Never: the tool's own input schema (that is checked where the tool is known).
 */
import type { z } from "zod";
import { callToolInput } from "../../model/facade.js";
import type { CallToolInput } from "../../model/facade.js";
import { Fault } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject, JsonValue } from "../../model/json.js";

/** Reads a body by its schema. `null` and absent count as an empty object. */
export function readInput<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(raw ?? {});
  if (parsed.success) return parsed.data;
  throw inputFault(parsed.error);
}

/** One sentence that names each wrong field, and the issues as data. */
export function inputFault(error: z.ZodError): Fault {
  const issues = error.issues.slice(0, 20).map((issue) => ({ path: issue.path.map(String).join("."), problem: issue.message }));
  const sentence = issues.map((issue) => (issue.path === "" ? issue.problem : `${issue.path}: ${issue.problem}`)).join("; ");
  return new Fault("input-invalid", sentence, { issues });
}

/** `arguments` apart from the rest: they are the tool's own, checked by its schema and never walked here. */
const callHead = callToolInput.omit({ arguments: true });

/**
 * Body of call_tool. `arguments` may be an object, the JSON text of an object, null or absent; the result always has an
 * object. Anything else is refused loudly, before any upstream hears of it.
 */
export function readCallInput(raw: unknown): CallToolInput & { readonly arguments: JsonObject } {
  if (!isJsonObject(raw)) throw new Fault("input-invalid", "call_tool takes an object with `tool` and `arguments`.");
  const { arguments: given, ...head } = raw;
  const parsed = callHead.safeParse(head);
  if (!parsed.success) throw inputFault(parsed.error);
  return { ...parsed.data, arguments: readArguments(given) };
}

/** The arguments of a tool as an object: see readCallInput. */
export function readArguments(given: JsonValue | undefined): JsonObject {
  if (given === undefined || given === null) return {};
  if (isJsonObject(given)) return given;
  if (typeof given !== "string") {
    throw argumentsFault(`arguments is ${Array.isArray(given) ? "an array" : `a ${typeof given}`}`);
  }
  if (given.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    throw argumentsFault("arguments is a text that is not JSON");
  }
  if (value === null) return {};
  if (!isJsonObject(value)) throw argumentsFault("arguments is the JSON text of something that is not an object");
  return value;
}

function argumentsFault(what: string): Fault {
  return new Fault("input-invalid", `${what}; give an object, e.g. {"order_id": "O-1001"}. Nothing was called.`, {
    issues: [{ path: "arguments", problem: what }],
  });
}
