// Writes what is generated from the formats: FORMATS.md and config/steward.schema.json. `--check` only says whether they are current.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import prettier from "prettier";
import { z } from "zod";
import { CONFIG_FORMAT, writtenConfig } from "../src/config/written.js";
import { declaredFormats } from "../src/model/format.js";

const root = resolve(import.meta.dirname, "..");

type Schema = z.core.JSONSchema.BaseSchema;

/** Path below the root → text that should stand there. */
export async function generatedFiles(): Promise<Record<string, string>> {
  await importDeclarations(join(root, "src"));
  const options = { ...(await prettier.resolveConfig(join(root, "package.json"))), parser: "json" };
  return {
    "FORMATS.md": formatsPage(),
    "config/steward.schema.json": await prettier.format(JSON.stringify(configSchema()), options),
  };
}

/** Every module that declares a format has to be loaded before the registry is asked. */
async function importDeclarations(folder: string): Promise<void> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await importDeclarations(path);
    else if (entry.name.endsWith(".ts") && /\bdefineFormat\(\{/.test(readFileSync(path, "utf8")))
      await import(pathToFileURL(path).href);
  }
}

function configSchema(): Schema {
  const schema = z.toJSONSchema(writtenConfig, { target: "draft-7" });
  return { ...schema, title: "STEWARD configuration (config/steward.json)" };
}

function formatsPage(): string {
  const parts = declaredFormats().map((format) => {
    const shape = outline(z.toJSONSchema(format.schema, { unrepresentable: "any" }), 0);
    return `## \`${format.id}\`\n\n${format.purpose}\n\nPlace: \`${format.place}\`\n\n\`\`\`ts\n${shape}\n\`\`\`\n`;
  });
  return `${HEAD}\n${parts.join("\n")}\n${configPart()}`;
}

const HEAD = `# Stored formats

Generated from the schemas in \`src/\` by \`npm run formats\`; do not edit.

Every document of a home carries \`"format": "<kind>/<n>"\`. A reader takes documents of its own number, brings older ones forward
and keeps their old copy as \`<file>.v<n>\`, and refuses newer ones by name. Members that a schema does not know survive.
Paths are relative to the home. \`NNNNNN\` is a number of at least six digits.

Files without a \`format\`: tool definitions (\`catalog/tools/<sha256>.json\`, the listed tool as the upstream gave it, named by the
sha256 of its canonical JSON), skill files (\`skills/<name>/…\`, and \`state/library/objects/<sha256>\`, named by the sha256 of their bytes),
and \`state/operator.token\`. Everything below \`state/cache\` is derived and may be deleted.

Lines in \`state/calls\` and \`state/episodes\` carry two more members at their end: \`batch: [number, left]\`, the decision they belong to and how many of its
lines follow, and \`sum\`, the CRC-32 of the line before it in eight hexadecimal digits.
`;

function configPart(): string {
  const shape = outline(z.toJSONSchema(writtenConfig, { target: "draft-7" }), 0);
  return `## \`${CONFIG_FORMAT}\`

The configuration, written by people: \`mcpServers\` as every client has it, and a \`steward\` section, whose \`format\` may be left out.
JSON with comments and trailing commas. Its JSON Schema is \`config/steward.schema.json\`.

Place: \`config/steward.json\`

\`\`\`ts
${shape}
\`\`\`
`;
}

/** A JSON Schema as a person would sketch it. */
function outline(schema: Schema | boolean, depth: number): string {
  if (typeof schema === "boolean") return "any";
  if (schema.$ref !== undefined) return "JSON";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return [...new Set(options.map((option) => outline(option, depth)))].join(" | ");
  if (schema.type === "array") return listOf(outline((schema.items as Schema | undefined) ?? {}, depth));
  if (schema.type === "object") return objectOutline(schema, depth);
  return typeof schema.type === "string" ? schema.type : "any";
}

function listOf(item: string): string {
  return item.includes(" | ") && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
}

function objectOutline(schema: Schema, depth: number): string {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) {
    const values = schema.additionalProperties;
    return `{ [name]: ${typeof values === "object" ? outline(values, depth) : "any"} }`;
  }
  const pad = "  ".repeat(depth + 1);
  const lines = properties.map(([name, value]) => {
    const isRequired = schema.required?.includes(name) === true;
    const note = typeof value === "object" && value.description !== undefined ? ` // ${value.description}` : "";
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${pad}${key}${isRequired ? "" : "?"}: ${outline(value, depth + 1)};${note}`;
  });
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}

async function main(check: boolean): Promise<void> {
  const stale: string[] = [];
  for (const [path, text] of Object.entries(await generatedFiles())) {
    const present = readFileOrEmpty(join(root, path));
    if (present === text) continue;
    stale.push(path);
    if (!check) writeFileSync(join(root, path), text);
  }
  console.log(stale.length === 0 ? "current" : `${check ? "not current" : "written"}: ${stale.join(", ")}`);
  if (check && stale.length > 0) process.exitCode = 1;
}

function readFileOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv.includes("--check"));
