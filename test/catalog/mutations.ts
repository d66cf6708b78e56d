import { normaliseSchema } from "../../src/catalog/normalise.js";
import type { Level, RuleId, Usage } from "../../src/model/drift.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import type { ListedTool } from "../../src/model/tool.js";

/** What one kind of change does to a real tool, and what that must mean for a skill that uses the tool so. */
export interface Mutated {
  /** The tool before, where the kind needs it prepared (closed, say). */
  readonly before?: ListedTool;
  readonly after: ListedTool;
  /** Usages with the level each must get. */
  readonly levels: readonly (readonly [Usage, Level])[];
}

export interface MutationKind {
  readonly name: string;
  /** Rules that must be among the changes; none: only cosmetic ones may be. */
  readonly rules: readonly RuleId[];
  /** undefined: the tool has nothing of the kind to change. */
  readonly apply: (tool: ListedTool) => Mutated | undefined;
}

const using = (...params: string[]): Usage => ({ params, reads: [], recorded: [] });
const reading = (...reads: string[]): Usage => ({ params: [], reads, recorded: [] });

function schemaOf(tool: ListedTool): JsonObject {
  return isJsonObject(tool["inputSchema"]) ? tool["inputSchema"] : { type: "object" };
}
function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema["properties"]) ? schema["properties"] : {};
}
function requiredOf(schema: JsonObject): string[] {
  return Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
}
function withSchema(tool: ListedTool, schema: JsonObject): ListedTool {
  return { ...tool, inputSchema: schema };
}
function withMember(tool: ListedTool, name: string, member: JsonValue): ListedTool {
  const schema = schemaOf(tool);
  return withSchema(tool, { ...schema, properties: { ...propertiesOf(schema), [name]: member } });
}
function without(members: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));
}
function withRequired(tool: ListedTool, required: string[]): ListedTool {
  const { required: _before, ...schema } = schemaOf(tool);
  return withSchema(tool, required.length > 0 ? { ...schema, required } : schema);
}
function closed(tool: ListedTool): ListedTool {
  return withSchema(tool, { ...schemaOf(tool), additionalProperties: false });
}
function opened(tool: ListedTool): ListedTool {
  const { additionalProperties: _closed, ...schema } = schemaOf(tool);
  return withSchema(tool, schema);
}

/** The first parameter that fits, with its schema. */
function pick(tool: ListedTool, fits: (member: JsonObject, name: string) => boolean): [string, JsonObject] | undefined {
  for (const [name, member] of Object.entries(propertiesOf(schemaOf(tool))))
    if (isJsonObject(member) && member["$ref"] === undefined && fits(member, name)) return [name, member];
  return undefined;
}

/** Its description and default, where it has them. */
function kept(one: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(one).filter(([key]) => key === "description" || key === "default"));
}

const isOptional =
  (tool: ListedTool) =>
  (_member: JsonObject, name: string): boolean =>
    !requiredOf(schemaOf(tool)).includes(name);
const isText = (member: JsonObject): boolean =>
  member["type"] === "string" && member["enum"] === undefined && member["const"] === undefined;
const isFreeText = (member: JsonObject): boolean =>
  isText(member) && ["minLength", "maxLength", "pattern"].every((keyword) => member[keyword] === undefined);
const isNumber = (member: JsonObject): boolean => member["type"] === "number" || member["type"] === "integer";
const isListed = (member: JsonObject): boolean => Array.isArray(member["enum"]) && member["enum"].length >= 2;
/** All required ones are set, so that only the change at hand counts. */
const usingAll = (tool: ListedTool, ...more: string[]): Usage => using(...new Set([...requiredOf(schemaOf(tool)), ...more]));
const usingAllBut = (tool: ListedTool, name: string): Usage => using(...requiredOf(schemaOf(tool)).filter((one) => one !== name));

/** A change to one parameter, with the level for a skill that sets it and for one that does not. */
function member(
  fits: (tool: ListedTool) => (member: JsonObject, name: string) => boolean,
  change: (member: JsonObject) => JsonObject,
  used: Level,
  unused: Level,
): MutationKind["apply"] {
  return (tool) => {
    const found = pick(tool, fits(tool));
    if (found === undefined) return undefined;
    const [name, before] = found;
    return {
      after: withMember(tool, name, change(before)),
      levels: [
        [usingAll(tool, name), used],
        [usingAllBut(tool, name), unused],
      ],
    };
  };
}

function everywhere(tool: ListedTool, change: (schema: JsonObject) => JsonObject): Mutated {
  return { after: withSchema(tool, change(schemaOf(tool))), levels: [[usingAll(tool), "compatible"]] };
}

function turned(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(turned);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, turned(inner)]),
  );
}

export const MUTATIONS: readonly MutationKind[] = [
  {
    name: "cosmetic: members in another order",
    rules: [],
    apply: (tool) => ({ after: turned(tool) as ListedTool, levels: [[usingAll(tool), "compatible"]] }),
  },
  {
    name: "cosmetic: titles, comments, examples, a dialect",
    rules: [],
    apply: (tool) =>
      everywhere(tool, (schema) => ({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $comment: "c",
        title: "T",
        examples: [{}],
        ...schema,
      })),
  },
  {
    name: "cosmetic: parameters behind references",
    rules: [],
    apply: (tool) =>
      everywhere(tool, (schema) => ({
        ...schema,
        properties: Object.fromEntries(
          Object.keys(propertiesOf(schema)).map((name, index) => [name, { $ref: `#/$defs/Moved${index}` }]),
        ),
        $defs: {
          ...(isJsonObject(schema["$defs"]) ? schema["$defs"] : {}),
          ...Object.fromEntries(Object.values(propertiesOf(schema)).map((one, index) => [`Moved${index}`, one])),
        },
      })),
  },
  {
    name: "cosmetic: written in normal form",
    rules: [],
    apply: (tool) => {
      const texts = JSON.stringify(schemaOf(tool)).includes('"description"');
      return texts
        ? undefined
        : { after: withSchema(tool, normaliseSchema(schemaOf(tool)) as JsonObject), levels: [[usingAll(tool), "compatible"]] };
    },
  },
  {
    name: "cosmetic: allOf around each parameter",
    rules: [],
    apply: (tool) =>
      everywhere(tool, (schema) => ({
        ...schema,
        properties: Object.fromEntries(Object.entries(propertiesOf(schema)).map(([name, one]) => [name, { allOf: [one] }])),
      })),
  },
  {
    name: "icons and _meta",
    rules: ["D3"],
    apply: (tool) => ({
      after: { ...tool, icons: [{ src: "x" }], _meta: { "example/x": 1 } },
      levels: [[usingAll(tool), "compatible"]],
    }),
  },
  {
    name: "the tool's description",
    rules: ["D1"],
    apply: (tool) => ({
      after: { ...tool, description: `${String(tool["description"] ?? "")} Now better.` },
      levels: [[usingAll(tool), "review"]],
    }),
  },
  {
    name: "a parameter's description",
    rules: ["D2"],
    apply: member(
      () => () => true,
      (one) => ({ ...one, description: "Said differently." }),
      "review",
      "review",
    ),
  },
  {
    name: "an optional parameter more",
    rules: ["I3"],
    apply: (tool) => ({ after: withMember(tool, "zz_new", { type: "string" }), levels: [[usingAll(tool), "compatible"]] }),
  },
  {
    name: "a required parameter more",
    rules: ["I1"],
    apply: (tool) => ({
      after: withRequired(withMember(tool, "zz_new", { type: "string" }), [...requiredOf(schemaOf(tool)), "zz_new"]),
      levels: [
        [usingAll(tool), "breaking"],
        [usingAll(tool, "zz_new"), "compatible"],
      ],
    }),
  },
  {
    name: "a required parameter with a default more",
    rules: ["I2"],
    apply: (tool) => ({
      after: withRequired(withMember(tool, "zz_new", { type: "string", default: "x" }), [
        ...requiredOf(schemaOf(tool)),
        "zz_new",
      ]),
      levels: [[usingAll(tool), "breaking"]],
    }),
  },
  {
    name: "optional became required",
    rules: ["I4"],
    apply: (tool) => {
      const found = pick(tool, isOptional(tool));
      if (found === undefined) return undefined;
      return {
        after: withRequired(tool, [...requiredOf(schemaOf(tool)), found[0]]),
        levels: [
          [usingAll(tool), "breaking"],
          [usingAll(tool, found[0]), "compatible"],
        ],
      };
    },
  },
  {
    name: "required became optional",
    rules: ["I5"],
    apply: (tool) => {
      const required = requiredOf(schemaOf(tool)).filter((name) => propertiesOf(schemaOf(tool))[name] !== undefined);
      return required.length === 0
        ? undefined
        : { after: withRequired(tool, required.slice(1)), levels: [[usingAll(tool), "compatible"]] };
    },
  },
  {
    name: "a parameter gone from a closed object",
    rules: ["I6"],
    apply: (tool) => removed(tool, closed, "breaking"),
  },
  {
    name: "a parameter gone from an open object",
    rules: ["I7"],
    apply: (tool) => removed(tool, opened, "breaking"),
  },
  {
    name: "a parameter under another name",
    rules: ["I8"],
    apply: (tool) => {
      const found = pick(tool, (_one, name) => /[a-z]/i.test(name));
      if (found === undefined) return undefined;
      const [name, one] = found;
      const to = name.includes("_") ? name.replace(/_/g, "-") : `_${name}`;
      if (propertiesOf(schemaOf(tool))[to] !== undefined) return undefined;
      const schema = schemaOf(tool);
      const required = requiredOf(schema).map((other) => (other === name ? to : other));
      const after = withRequired(
        withSchema(tool, { ...schema, properties: { ...without(propertiesOf(schema), name), [to]: one } }),
        required,
      );
      return { after, levels: [[usingAll(tool, name), "breaking"]] };
    },
  },
  {
    name: "another type",
    rules: ["I10"],
    apply: member(
      () => isText,
      (one) => ({ ...kept(one), type: "object" }),
      "breaking",
      "compatible",
    ),
  },
  {
    name: "numbers became whole numbers",
    rules: ["I10"],
    apply: member(
      () => (one) => one["type"] === "number" && one["enum"] === undefined,
      (one) => ({ ...one, type: "integer" }),
      "dangerous",
      "compatible",
    ),
  },
  {
    name: "null is taken too",
    rules: ["I9"],
    apply: member(
      () => isText,
      (one) => ({ anyOf: [one, { type: "null" }], ...kept(one) }),
      "compatible",
      "compatible",
    ),
  },
  {
    name: "a listed value gone",
    rules: ["I11"],
    apply: member(
      () => isListed,
      (one) => ({ ...one, enum: (one["enum"] as JsonValue[]).slice(1) }),
      "dangerous",
      "compatible",
    ),
  },
  {
    name: "a listed value gone that calls sent",
    rules: ["I11"],
    apply: (tool) => {
      const found = pick(tool, isListed);
      if (found === undefined || requiredOf(schemaOf(tool)).some((name) => name !== found[0])) return undefined;
      const [name, one] = found;
      const [first, second] = one["enum"] as JsonValue[];
      return {
        after: withMember(tool, name, { ...one, enum: (one["enum"] as JsonValue[]).slice(1) }),
        levels: [
          [{ ...using(name), recorded: [{ [name]: first ?? null }] }, "breaking"],
          [{ ...using(name), recorded: [{ [name]: second ?? null }] }, "compatible"],
        ],
      };
    },
  },
  {
    name: "values listed now",
    rules: ["I11"],
    apply: member(
      () => isFreeText,
      (one) => ({ ...one, enum: ["a", "b"] }),
      "dangerous",
      "compatible",
    ),
  },
  {
    name: "a listed value more",
    rules: ["I12"],
    apply: member(
      () => isListed,
      (one) => ({
        ...one,
        enum: [...(one["enum"] as JsonValue[]), typeof (one["enum"] as JsonValue[])[0] === "number" ? 987654 : "zz new"],
      }),
      "compatible",
      "compatible",
    ),
  },
  {
    name: "values not listed any more",
    rules: ["I12"],
    apply: member(
      () => (one) => isListed(one) && one["type"] === "string",
      (one) => without(one, "enum"),
      "compatible",
      "compatible",
    ),
  },
  {
    name: "a text must be shorter",
    rules: ["I13"],
    apply: member(
      () => (one) => isText(one) && one["maxLength"] === undefined,
      (one) => ({ ...one, maxLength: 50 }),
      "dangerous",
      "compatible",
    ),
  },
  {
    name: "a number must be smaller",
    rules: ["I13"],
    apply: member(
      () => (one) =>
        isNumber(one) && one["enum"] === undefined && one["maximum"] === undefined && one["exclusiveMaximum"] === undefined,
      (one) => ({ ...one, maximum: 1_000_000 }),
      "dangerous",
      "compatible",
    ),
  },
  {
    name: "a bound lifted",
    rules: ["I14"],
    apply: member(
      () => (one) => isNumber(one) && one["enum"] === undefined && typeof one["minimum"] === "number",
      (one) => without(one, "minimum"),
      "compatible",
      "compatible",
    ),
  },
  {
    name: "a format came",
    rules: ["I15"],
    apply: member(
      () => (one) => isText(one) && one["format"] === undefined,
      (one) => ({ ...one, format: "uuid" }),
      "dangerous",
      "compatible",
    ),
  },
  {
    name: "another default",
    rules: ["I16"],
    apply: (tool) =>
      member(
        () => (one, name) => one["default"] !== undefined && one["default"] !== null && isOptional(tool)(one, name),
        (one) => ({ ...one, default: "zz other" }),
        "compatible",
        "dangerous",
      )(tool),
  },
  {
    name: "undeclared keys refused",
    rules: ["I17"],
    apply: (tool) => ({
      before: opened(tool),
      after: closed(tool),
      levels: [
        [usingAll(tool), "compatible"],
        [usingAll(tool, "zz_undeclared"), "breaking"],
      ],
    }),
  },
  {
    name: "undeclared keys taken",
    rules: ["I14"],
    apply: (tool) => ({ before: closed(tool), after: opened(tool), levels: [[usingAll(tool), "compatible"]] }),
  },
  {
    name: "a condition nobody can decide",
    rules: ["X2"],
    apply: (tool) => ({
      after: withSchema(tool, { ...schemaOf(tool), not: { required: ["zz"] } }),
      levels: [[usingAll(tool, "x"), "unknown"]],
    }),
  },
  {
    name: "read-only became writing",
    rules: ["A1"],
    apply: (tool) => ({
      before: { ...tool, annotations: { readOnlyHint: true } },
      after: { ...tool, annotations: { readOnlyHint: false } },
      levels: [[usingAll(tool), "safety"]],
    }),
  },
  {
    name: "not idempotent any more",
    rules: ["A2"],
    apply: (tool) => ({
      before: { ...tool, annotations: { idempotentHint: true } },
      after: { ...tool, annotations: {} },
      levels: [[usingAll(tool), "review"]],
    }),
  },
  {
    name: "only as a task",
    rules: ["X1"],
    apply: (tool) => ({ after: { ...tool, execution: { taskSupport: "required" } }, levels: [[usingAll(tool), "dangerous"]] }),
  },
  {
    name: "a result described, a field of it gone",
    rules: ["O3"],
    apply: (tool) => {
      const fields = propertiesOf(schemaOf(tool));
      const [name] = Object.keys(fields);
      if (name === undefined) return undefined;
      const described = (properties: JsonObject): ListedTool => ({ ...tool, outputSchema: { type: "object", properties } });
      return {
        before: described(fields),
        after: described(without(fields, name)),
        levels: [
          [reading(name), "breaking"],
          [reading("zz_other"), "compatible"],
        ],
      };
    },
  },
  described("a further field of a result", ["O4"], {}, { zz: { type: "string" } }, [[reading("zz_id"), "compatible"]]),
  described("another type of a field that is read", ["O5"], { zz_total: { type: "string" } }, { zz_total: { type: "number" } }, [
    [reading("zz_total"), "dangerous"],
    [reading("zz_other"), "compatible"],
  ]),
  described("another type of an id that is passed on", ["O5"], { zz_id: { type: "string" } }, { zz_id: { type: "number" } }, [
    [reading("zz_id"), "breaking"],
  ]),
  described("further values of a field", ["O6"], { zz: { enum: ["a"] } }, { zz: { enum: ["a", "b"] } }, [
    [reading("zz"), "dangerous"],
    [reading("zz_other"), "compatible"],
  ]),
  described("fewer values of a field", ["O7"], { zz: { enum: ["a", "b"] } }, { zz: { enum: ["a"] } }, [
    [reading("zz"), "compatible"],
  ]),
  {
    name: "a result described for the first time",
    rules: ["O1"],
    apply: (tool) => ({
      before: bare(tool),
      after: { ...bare(tool), outputSchema: { type: "object", properties: { zz: { type: "string" } } } },
      levels: [[reading("zz"), "compatible"]],
    }),
  },
  {
    name: "a result not described any more",
    rules: ["O2"],
    apply: (tool) => ({
      before: { ...bare(tool), outputSchema: { type: "object", properties: { zz: { type: "string" } } } },
      after: bare(tool),
      levels: [
        [reading("zz"), "dangerous"],
        [usingAll(tool), "compatible"],
      ],
    }),
  },
  {
    name: "an open world",
    rules: ["A3"],
    apply: (tool) => ({
      before: { ...tool, annotations: { openWorldHint: false } },
      after: { ...tool, annotations: {} },
      levels: [[usingAll(tool), "review"]],
    }),
  },
  {
    name: "safer than before",
    rules: ["A4"],
    apply: (tool) => ({
      before: { ...tool, annotations: {} },
      after: { ...tool, annotations: { readOnlyHint: true } },
      levels: [[usingAll(tool), "compatible"]],
    }),
  },
  {
    name: "nothing said of the parameters any more",
    rules: ["X2"],
    apply: (tool) => ({ after: withSchema(tool, {}), levels: [[usingAll(tool), "dangerous"]] }),
  },
];

function bare(tool: ListedTool): ListedTool {
  const { outputSchema: _described, ...rest } = tool;
  return rest as ListedTool;
}

/** A change of what a result is said to be. */
function described(
  name: string,
  rules: readonly RuleId[],
  before: JsonObject,
  after: JsonObject,
  levels: Mutated["levels"],
): MutationKind {
  const saying = (tool: ListedTool, properties: JsonObject): ListedTool => ({
    ...tool,
    outputSchema: { type: "object", properties },
  });
  return { name, rules, apply: (tool) => ({ before: saying(tool, before), after: saying(tool, after), levels }) };
}

function removed(tool: ListedTool, prepare: (tool: ListedTool) => ListedTool, used: Level): Mutated | undefined {
  const found = pick(tool, () => true);
  if (found === undefined) return undefined;
  const [name] = found;
  const before = prepare(tool);
  const schema = schemaOf(before);
  const after = withRequired(
    withSchema(before, { ...schema, properties: without(propertiesOf(schema), name) }),
    requiredOf(schema).filter((one) => one !== name),
  );
  return {
    before,
    after,
    levels: [
      [usingAll(tool, name), used],
      [usingAllBut(tool, name), "compatible"],
    ],
  };
}
