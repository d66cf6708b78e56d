/**
 * Answers of a model: from text to JSON, and from JSON to a shape that can be relied on.
 *
 * Owns: finding the one JSON object in what a model wrote; the schema that says what is wanted.
 * Speaks: text and unknown values in, checked values out.
 * Never: throws for what a model wrote, or guesses what a cut answer would have said.
 */
import { z } from "zod";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";

/**
 * The object in an answer: the whole text, or the inside of a code fence, or the last object that stands among other words (models
 * that think aloud say the answer last). Undefined where there is none.
 */
export function objectIn(text: string): JsonObject | undefined {
  const said = text.replace(/<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/gi, "").trim();
  const whole = parsed(said);
  if (whole !== undefined) return whole;
  const fenced = [...said.matchAll(/```[a-z]*\s*\n([\s\S]*?)```/gi)].map((match) => parsed(match[1] ?? "")).filter(isJsonObject);
  return fenced.at(-1) ?? objectsAmong(said).at(-1);
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Objects at the top of a text, by counting braces outside strings. Linear: every character is looked at once. */
function objectsAmong(text: string): JsonObject[] {
  const found: JsonObject[] = [];
  let start = -1;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = depth > 0;
    else if (character === "{") {
      if (depth === 0) start = at;
      depth += 1;
    } else if (character === "}" && depth > 0) {
      depth -= 1;
      const value = depth === 0 ? parsed(text.slice(start, at + 1)) : undefined;
      if (value !== undefined) found.push(value);
    }
  }
  return found;
}

/** The JSON Schema of an answer as endpoints take it in strict mode: closed objects, every member required, no defaults. */
export function answerSchema(shape: z.ZodType): JsonObject {
  const schema = z.toJSONSchema(shape, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
    },
  }) as JsonObject;
  delete schema["$schema"];
  return schema;
}
