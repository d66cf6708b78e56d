/**
 * Foreign files: JSON that people have at hand where a catalog file is wanted, and that is none.
 *
 * Owns: what each is called, and the way from it to a catalog file.
 * Speaks: parsed JSON in, a sentence or two out.
 * Never: takes one for a catalog; what it says itself is shown as data.
 */
import { isJsonObject, kindInWords, type JsonObject } from "../model/json.js";
import { escapeText } from "./clean.js";

const EXPECTED =
  "This is no catalog file: expected a tools/list result, an object with `tools`, an array of tools, or a catalog manifest";

/** What it is instead; where nobody is known to have such files, what was expected and what came. */
export function foreignFile(json: unknown): string {
  const kind = isJsonObject(json) ? objectKind(json) : undefined;
  return kind ?? `${EXPECTED}; it is ${came(json)}.`;
}

/** What a list of members is that are all no tools: undefined where one might be. */
export function foreignMembers(members: readonly unknown[]): string | undefined {
  const objects = members.filter((member) => isJsonObject(member));
  if (objects.length === 0) return undefined;
  return MEMBERS.find(([fits]) => objects.every((member) => member["inputSchema"] === undefined && fits(member)))?.[1];
}

const MODEL_API = "A catalog file has MCP tools, as a server lists them: `name`, `description`, `inputSchema`";

const MEMBERS: readonly (readonly [(member: JsonObject) => boolean, string])[] = [
  [
    (member) => member["jsonrpc"] !== undefined,
    "These are JSON-RPC messages: keep the `result` of tools/list alone (of all its pages, the tools brought into one `tools` array).",
  ],
  [
    (member) => isJsonObject(member["function"]),
    `These are functions as the API of a model takes them (\`function\`). ${MODEL_API}.`,
  ],
  [
    (member) => isJsonObject(member["input_schema"]) || isJsonObject(member["parameters"]),
    `These are tools as the API of a model takes them (\`input_schema\` or \`parameters\`). ${MODEL_API}.`,
  ],
  [
    (member) => typeof member["signature"] === "string" && typeof member["tool"] === "string",
    "These are signatures, as `steward catalog show --json` prints them, without schemas: give the number of the version, or its manifest in catalog/versions of the home.",
  ],
  [
    (member) => isJsonObject(member["definition"]),
    "These are answers of describe_tools: a catalog file has the `definition` of each, with `server` beside its `name`.",
  ],
  [
    (member) => typeof member["version"] === "number" && typeof member["cause"] === "string",
    "This is a list of catalog versions, as `steward catalog log --json` prints it: give the number of one.",
  ],
];

function objectKind(json: JsonObject): string | undefined {
  const said = errorOf(json);
  if (said !== undefined)
    return `This is an error, not a listing: ${said}. Ask the server for tools/list again, and save an answer that has \`tools\`.`;
  if (typeof json["method"] === "string" && json["result"] === undefined)
    return `This is a JSON-RPC request (${shown(json["method"])}), not its answer: save what the server answers to tools/list.`;
  return KINDS.find(([fits]) => fits(json))?.[1];
}

const has = (json: JsonObject, ...names: string[]): boolean => names.some((name) => json[name] !== undefined);

const KINDS: readonly (readonly [(json: JsonObject) => boolean, string])[] = [
  [
    (json) => isJsonObject(json["mcpServers"]) || isJsonObject(json["servers"]),
    "This is an mcpServers file: it names servers and has no tools. `steward check --against` starts and lists them; what is compared here are listings.",
  ],
  [
    (json) => has(json, "openapi", "swagger"),
    "This is an OpenAPI document: it describes endpoints, not the tools of an MCP server. Give the tools/list result of the server in front of it.",
  ],
  [
    (json) => has(json, "protocolVersion", "serverInfo"),
    "This is the answer to initialize, not to tools/list: ask for that next, and save its answer.",
  ],
  [(json) => Array.isArray(json["content"]), "This is the result of a tool call, not a listing: save the answer to tools/list."],
  [
    (json) => ["resources", "prompts", "resourceTemplates"].some((name) => Array.isArray(json[name])),
    "This lists resources or prompts, and no tools: save the answer to tools/list.",
  ],
];

/** What a server or a gateway answers where it does not list: JSON-RPC, OAuth, problem documents, plain messages. */
function errorOf(json: JsonObject): string | undefined {
  const { error, title, detail, message, status } = json;
  if (isJsonObject(error)) {
    const code = error["code"] === undefined ? "" : ` (code ${shown(error["code"])})`;
    return `the server said "${shown(error["message"] ?? JSON.stringify(error))}"${code}`;
  }
  if (typeof error === "string")
    return `the server said "${[error, json["error_description"], message]
      .filter((part) => typeof part === "string")
      .map(shown)
      .join(": ")}"`;
  if (typeof title === "string" && (typeof status === "number" || typeof detail === "string"))
    return `the server said "${[title, detail]
      .filter((part) => part !== undefined)
      .map(shown)
      .join(" ")}"${status === undefined ? "" : ` (status ${shown(status)})`}`;
  return typeof message === "string" ? `it says "${shown(message)}"` : undefined;
}

/** Characters of a foreign text that are shown. */
const SHOWN_MOST = 300;

function shown(value: unknown): string {
  const text = escapeText(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > SHOWN_MOST ? `${text.slice(0, SHOWN_MOST)}…` : text;
}

/** Names of an object that are told. */
const NAMED_MOST = 5;

function came(json: unknown): string {
  if (!isJsonObject(json)) return kindInWords(json);
  const names = Object.keys(json);
  const more = names.length > NAMED_MOST ? ", …" : "";
  const told = names.slice(0, NAMED_MOST).map((name) => `\`${shown(name)}\``);
  return names.length === 0 ? "an empty object" : `an object with ${told.join(", ")}${more}`;
}
