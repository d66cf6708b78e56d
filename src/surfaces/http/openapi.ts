/**
 * The OpenAPI document of `/v1`, generated from the routes and their schemas.
 *
 * Owns: OpenAPI 3.1 syntax.
 * Speaks: routes in, the document out.
 * Never: written by hand: what is not in a route is not in the document.
 */
import { z } from "zod";
import { FAULTS } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import type { Route } from "./route.js";
import { ROUTES } from "./routes.js";

export function openApi(version: string): JsonObject {
  const paths: JsonObject = {};
  for (const route of ROUTES) {
    const path = `/v1${route.path.replace(/:([a-z]+)/g, "{$1}")}`;
    const operations = isJsonObject(paths[path]) ? paths[path] : {};
    operations[route.method] = operationOf(route);
    paths[path] = operations;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "STEWARD",
      version,
      summary: "Views, tools, skills and their history, for agents and people.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{}, { token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "Needed unless the daemon listens on loopback without tokens." },
      },
      schemas: { Problem: problemSchema() },
    },
  };
}

function operationOf(route: Route): JsonObject {
  const parameters: JsonValue[] = [...route.path.matchAll(/:([a-z]+)/g)].map((match) => ({
    name: match[1] ?? "",
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  for (const [name, schema] of Object.entries(route.query?.shape ?? {})) {
    const { description, ...rest } = schemaOf(schema as z.ZodType, "input");
    const required = !(schema as z.ZodType).safeParse(undefined).success;
    parameters.push({ name, in: "query", required, ...(description === undefined ? {} : { description }), schema: rest });
  }
  const content: JsonObject = { "application/json": { schema: schemaOf(route.answer, "output") } };
  if (route.event !== undefined) content["text/event-stream"] = { schema: { type: "string" } };
  return {
    operationId: `${route.method}${route.path.replace(/[/:_]+([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: route.summary,
    tags: [route.tag],
    ...(route.rights.length === 0 ? {} : { "x-rights": [...route.rights] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route.body) }),
    responses: {
      "200": { description: "The answer.", content },
      default: {
        description: "A problem.",
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  };
}

function bodyOf(body: z.ZodType): JsonObject {
  return {
    required: !body.safeParse(undefined).success,
    content: { "application/json": { schema: schemaOf(body, "input") } },
  };
}

/** A schema without references: the only recursive ones are "any JSON", which is said by an empty schema. */
export function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const json = z.toJSONSchema(schema, { io, reused: "inline", unrepresentable: "any" }) as unknown as JsonObject;
  delete json["$schema"];
  delete json["$defs"];
  return withoutReferences(json) as JsonObject;
}

function withoutReferences(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (!isJsonObject(value)) return value;
  if (typeof value["$ref"] === "string") return {};
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutReferences(inner)]));
}

function problemSchema(): JsonObject {
  return {
    type: "object",
    required: ["type", "title", "status", "code", "blame", "retryable"],
    properties: {
      type: { type: "string" },
      title: { type: "string" },
      status: { type: "integer" },
      detail: { type: "string" },
      code: { type: "string", enum: Object.keys(FAULTS) },
      blame: { type: "string", enum: ["caller", "operator", "upstream", "steward"] },
      retryable: { type: "boolean" },
      data: {},
    },
  };
}
