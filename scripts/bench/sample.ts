/** Catalogs and libraries of any size for benchmarks: real tools where the public data sets are there, made ones otherwise. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { renderBody } from "../../src/skills/body.js";
import { renderSkill } from "../../src/skills/text.js";
import type { JsonObject } from "../../src/model/json.js";
import type { WrittenSkill } from "../../src/model/skill.js";
import type { Tool } from "../../src/model/tool.js";

const data = process.env["STEWARD_DATA"] ?? resolve(import.meta.dirname, "../../../shared/data");

/** `count` listed tools with distinct names, all of one upstream. */
export function listedTools(count: number): { tools: JsonObject[]; source: string } {
  const real = realTools(count);
  if (real.length === count) return { tools: real, source: "real tools (public data)" };
  const verbs = ["get", "list", "create", "update", "delete", "search", "export", "cancel", "approve", "sync"];
  const nouns = ["order", "invoice", "ticket", "customer", "shipment", "branch", "document", "payment", "metric", "policy"];
  const tools = Array.from({ length: count }, (_, n): JsonObject => {
    const verb = verbs[n % verbs.length] ?? "get";
    const noun = nouns[Math.floor(n / 10) % nouns.length] ?? "order";
    return {
      name: `${verb}_${noun}_${n}`,
      description: `${verb} one ${noun} of area ${n % 97}. Takes the number of the ${noun} and says what became of it.`,
      inputSchema: {
        type: "object",
        properties: {
          [`${noun}_id`]: { type: "string", description: `Number of the ${noun}.` },
          note: { type: "string", description: "Free text." },
          limit: { type: "integer", minimum: 1, maximum: 100 },
        },
        required: [`${noun}_id`],
      },
      annotations: { readOnlyHint: verb === "get" || verb === "list" },
    };
  });
  return { tools, source: "made tools" };
}

function realTools(count: number): JsonObject[] {
  const tools: JsonObject[] = [];
  for (const file of ["toucan", "botocore"]) {
    const path = join(data, `scale/${file}.jsonl.gz`);
    if (!existsSync(path) || tools.length >= count) continue;
    for (const line of gunzipSync(readFileSync(path)).toString("utf8").split("\n")) {
      if (line === "" || tools.length >= count) continue;
      const { server, name, ...rest } = JSON.parse(line) as JsonObject;
      tools.push({ ...rest, name: `${String(server)}-${String(name)}-${tools.length}`.slice(0, 120) });
    }
  }
  return tools;
}

/** `count` atomic skills, each on one tool, and a planning skill for every ten of them. */
export function skillsOn(tools: readonly Tool[], count: number): WrittenSkill[] {
  const skills: WrittenSkill[] = [];
  const atomics = Math.floor((count * 10) / 11);
  for (let n = 0; n < atomics; n += 1) {
    const tool = tools[(n * 7) % tools.length];
    if (tool === undefined) break;
    const name = `atomic-${n}`;
    const required = Array.isArray(tool.inputSchema["required"])
      ? tool.inputSchema["required"].map(String).filter((param) => /^\w+$/.test(param))
      : [];
    const words = tool.description.replace(/[<>`]/g, " ").slice(0, 80);
    skills.push({
      folder: name,
      files: renderSkill({
        name,
        tier: "atomic",
        description: `Work ${n}: ${words || "a tool"}.`,
        body: renderBody({ whenToUse: `The work of number ${n} is asked for.`, steps: [`Do the work: \`${tool.key}\`.`] }),
        contract: {
          requires: [{ tool: tool.key, contractDigest: tool.digests.contract, params: required, reads: [] }],
          uses: [],
          produces: [],
          evidence: [],
        },
      }),
    });
  }
  for (let n = 0; skills.length < count; n += 1) {
    const uses = [0, 1, 2].map((k) => `atomic-${(n * 10 + k) % atomics}`);
    const name = `plan-${n}`;
    skills.push({
      folder: name,
      files: renderSkill({
        name,
        tier: "planning",
        description: `Plan ${n}: several works one after the other.`,
        body: renderBody({
          whenToUse: `A job of kind ${n} is asked for.`,
          steps: uses.map((skill) => `Do it with skill \`${skill}\`.`),
        }),
        contract: { requires: [], uses, produces: [], evidence: [] },
      }),
    });
  }
  return skills;
}
