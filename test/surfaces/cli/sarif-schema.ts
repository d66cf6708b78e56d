/**
 * The part of SARIF 2.1.0 that a check uses: which members its objects may have, which they must, and of what kind. Like the
 * standard's own schema it closes every object but property bags.
 */
const text = { type: "string", minLength: 1 };
const closed = (properties: object, required: string[]): object => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const message = closed({ text }, ["text"]);
const level = { enum: ["none", "note", "warning", "error"] };
const physicalLocation = closed(
  {
    artifactLocation: closed({ uri: { type: "string", format: "uri-reference" }, uriBaseId: text }, ["uri"]),
    region: closed({ startLine: { type: "integer", minimum: 1 } }, ["startLine"]),
  },
  ["artifactLocation"],
);

export const SARIF_SCHEMA = closed(
  {
    $schema: { type: "string", format: "uri" },
    version: { const: "2.1.0" },
    runs: {
      type: "array",
      items: closed(
        {
          tool: closed(
            {
              driver: closed(
                {
                  name: text,
                  version: text,
                  rules: {
                    type: "array",
                    uniqueItems: true,
                    items: closed({ id: text, shortDescription: message }, ["id"]),
                  },
                },
                ["name"],
              ),
            },
            ["driver"],
          ),
          columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
          invocations: {
            type: "array",
            items: closed(
              {
                executionSuccessful: { type: "boolean" },
                toolExecutionNotifications: { type: "array", items: closed({ level, message }, ["message"]) },
              },
              ["executionSuccessful"],
            ),
          },
          results: {
            type: "array",
            items: closed(
              {
                ruleId: text,
                ruleIndex: { type: "integer", minimum: 0 },
                level,
                message,
                // Code scanning shows what has a place, and only that.
                locations: { type: "array", minItems: 1, items: closed({ physicalLocation }, ["physicalLocation"]) },
                relatedLocations: {
                  type: "array",
                  items: closed({ id: { type: "integer", minimum: 0 }, physicalLocation }, ["physicalLocation"]),
                },
                partialFingerprints: { type: "object", additionalProperties: text },
                properties: { type: "object" },
              },
              ["message"],
            ),
          },
        },
        ["tool"],
      ),
    },
  },
  ["version", "runs"],
);
