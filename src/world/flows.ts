/**
 * Data flow between calls: where an argument's value was seen before.
 *
 * Values are compared by keyed hashes, so that the memory of an episode holds no result values. A number and its text are one value
 * (`42` and `"42"`), and so are a text and itself with blanks around it. Sources are traced to the earliest call that showed them.
 */
import { sha256 } from "../catalog/canonical.js";
import { dataOfText } from "../evidence/fields.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";

/** Leaves looked at per result, and paths kept per shape: enough for tables, bounded for dumps. */
const LEAVES_MOST = 5_000;
const SHAPE_MOST = 200;
/** Longest path of a leaf, in characters: keys that are themselves documents are no fields. */
const PATH_MOST = 1_000;
/** Longer texts are not looked into and are no value of an argument: requests are not that large (`policy.requestBytes`). */
const TEXT_MOST = 4 * 1024 * 1024;
/** Shorter texts and one-digit numbers meet by accident. */
const LENGTH_LEAST = 2;

export interface Leaf {
  /** JSON pointer. */
  readonly path: string;
  readonly value: string | number | boolean | null;
}

/** Values remembered per episode; beyond it the oldest are forgotten. */
const VALUES_MOST = 20_000;

/** hash of a value → first place it was seen in this episode, oldest first */
export type FlowMemory = Map<string, { readonly seq: number; readonly path: string; readonly tool: string }>;

/** What of a tool result is data: structured content, else text that parses as JSON, else the text. */
export function dataOf(result: JsonObject): JsonValue {
  if (result["structuredContent"] !== undefined) return result["structuredContent"];
  const content = Array.isArray(result["content"]) ? result["content"] : [];
  const texts = content.flatMap((block) =>
    isJsonObject(block) && block["type"] === "text" && typeof block["text"] === "string" ? [block["text"]] : [],
  );
  const values = texts.map((text) => (text.length > TEXT_MOST ? text : dataOfText(text)));
  return values.length === 1 ? (values[0] ?? null) : values;
}

export function leavesOf(value: JsonValue): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (node: JsonValue, path: string): void => {
    if (path.length > PATH_MOST) return;
    if (typeof node !== "object" || node === null) {
      leaves.push({ path, value: node });
      return;
    }
    const list = Array.isArray(node);
    for (const key in node) {
      if (leaves.length >= LEAVES_MOST) return;
      walk((node as JsonObject)[key] ?? null, `${path}/${list ? key : key.replace(/~/g, "~0").replace(/\//g, "~1")}`);
    }
  };
  walk(value, "");
  return leaves;
}

/** Result paths with types; array positions become `*`, so that a list of any length has one shape. */
export function shapeOf(value: JsonValue): { path: string; type: string }[] {
  const shape = new Map<string, string>();
  for (const leaf of leavesOf(value)) {
    const path = leaf.path.replace(/\/\d+(?=\/|$)/g, "/*");
    if (!shape.has(path) && shape.size < SHAPE_MOST) shape.set(path, leaf.value === null ? "null" : typeof leaf.value);
  }
  return [...shape].map(([path, type]) => ({ path, type }));
}

/** Arguments whose values were seen in earlier results of the episode. */
export function flowsInto(
  args: JsonValue,
  memory: FlowMemory,
  key: string,
): { to: string; from: { seq: number; path: string; tool: string } }[] {
  return leavesOf(args).flatMap((leaf) => {
    const hash = hashOf(leaf.value, key);
    const from = hash === undefined ? undefined : memory.get(hash);
    return from === undefined ? [] : [{ to: `/args${leaf.path}`, from: { ...from } }];
  });
}

/** Adds a result's values to the memory; what was seen earlier stays where it was seen. Costs as much as the result is large. */
export function remember(
  memory: FlowMemory,
  call: { readonly seq: number; readonly tool: string },
  result: JsonValue,
  key: string,
): void {
  for (const leaf of leavesOf(result)) {
    const hash = hashOf(leaf.value, key);
    if (hash !== undefined && !memory.has(hash)) memory.set(hash, { seq: call.seq, path: leaf.path, tool: call.tool });
  }
  for (const oldest of memory.keys()) {
    if (memory.size <= VALUES_MOST) break;
    memory.delete(oldest);
  }
}

function hashOf(value: Leaf["value"], key: string): string | undefined {
  if (value === null || typeof value === "boolean" || (typeof value === "string" && value.length > TEXT_MOST)) return undefined;
  const text = String(value).trim();
  return text.length < LENGTH_LEAST ? undefined : sha256(`${key}\n${text}`);
}
