/**
 * What `/v1` answers, as schemas: the source of the OpenAPI document.
 *
 * Owns: shapes of answers that are not stored formats (those come from model/).
 * Speaks: zod.
 * Never: checks answers at run time; a test holds them against what routes really answer.
 */
import { z } from "zod";
import { catalogManifestFormat } from "../../model/catalog.js";
import { callLineFormat, episodeFormat } from "../../model/episode.js";
import { LINK_STATES, lineageLinkSchema } from "../../model/lineage.js";
import { importAnswerSchema } from "../../model/recorded.js";
import {
  maintenanceComparisonSchema,
  maintenanceRunSchema,
  maintenanceTallySchema,
  reportFormat,
} from "../../model/maintenance.js";
import { contractFormat, editSchema, tierSchema } from "../../model/skill.js";
import { standingSchema } from "../../model/standing.js";
import { viewRecordFormat, viewSchema } from "../../model/view.js";

export const problem = z.object({ code: z.string(), where: z.string(), text: z.string() });
const problems = z.array(problem);
const digests = z.object({ contract: z.string(), text: z.string(), document: z.string() });

export const view = viewSchema;
export const described = z.object({
  tools: z.array(
    z.object({
      tool: z.string(),
      name: z.string(),
      definition: z.record(z.string(), z.unknown()),
      marks: z.array(z.string()),
      notes: z.array(z.string()),
    }),
  ),
  missing: z.array(z.object({ asked: z.string(), why: z.string(), instead: z.array(z.string()) })),
});
export const toolResult = z
  .looseObject({
    content: z.array(z.looseObject({ type: z.string() })).optional(),
    structuredContent: z.unknown().optional(),
    isError: z.boolean().optional(),
    _meta: z.record(z.string(), z.unknown()).optional(),
  })
  .describe("The upstream's own result, untouched; `_meta` also names the episode.");
export const finished = z.object({
  episode: z.string(),
  outcome: z.string(),
  trust: z.literal("claim"),
  recorded: z.object({ calls: z.int(), tools: z.array(z.string()), views: z.int() }),
  note: z.string(),
});

export const pin = z.object({
  token: z.string().optional(),
  session: z.string().optional(),
  version: z.int(),
  tools: z.int().describe("Tools of that version."),
  gone: z.array(z.object({ tool: z.string(), to: z.array(z.string()) })),
  changed: z.array(z.string()).describe("There, with another contract: called as they are now."),
  waits: z.string().optional().describe("Nobody goes by that name yet: what the pin waits for."),
});
export const pins = z.array(pin);
export const pinned = z.object({ pinned: pin.nullable() });
export const searched = z.object({
  version: z.int(),
  tools: z.array(
    z.object({ tool: z.string(), signature: z.string(), score: z.number(), reason: z.string(), present: z.boolean() }),
  ),
  unmatched: z.array(z.string()),
  notices: z.array(z.object({ code: z.string(), text: z.string() })).optional(),
});

export const catalog = z.object({
  version: z.int(),
  digest: z.string(),
  time: z.string(),
  tools: z.array(
    z.object({
      tool: z.string(),
      name: z.string(),
      title: z.string().optional(),
      description: z.string(),
      signature: z.string(),
      annotations: z.object({
        readOnly: z.boolean(),
        destructive: z.boolean(),
        idempotent: z.boolean(),
        openWorld: z.boolean(),
      }),
      digests,
      marks: z.array(z.string()),
    }),
  ),
  problems,
});
export const versions = z.array(
  z.object({
    version: z.int(),
    time: z.string(),
    cause: z.string(),
    digest: z.string(),
    tools: z.int(),
    added: z.int(),
    removed: z.int(),
    changed: z.int(),
    damaged: z.string().optional().describe("Why this version cannot be had any more; its counts say nothing then."),
  }),
);
/** Version 0, which every history begins with, has one too. */
export const manifest = catalogManifestFormat.schema.extend({ version: z.int().min(0) });
export const drift = z.object({
  from: z.int(),
  to: z.int(),
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
  changes: z.array(
    z.object({
      tool: z.string(),
      rule: z.string(),
      verdict: z.string(),
      path: z.string(),
      field: z.string().optional(),
      renamedTo: z.string().optional(),
      before: z.unknown().optional(),
      after: z.unknown().optional(),
      text: z.string(),
    }),
  ),
  unclassified: z.int(),
  lineage: z.array(lineageLinkSchema),
  causes: z.array(z.object({ rule: z.string(), field: z.string().optional(), tools: z.array(z.string()), text: z.string() })),
  held: z
    .array(
      z.object({
        tool: z.string(),
        reasons: z.array(z.object({ rule: z.string(), text: z.string() })),
        now: z.enum(["held", "approved", "rejected", "released", "gone"]),
      }),
    )
    .describe("Tools that the change between the two held, with why, and what became of them since."),
  skills: z.array(z.object({ skill: z.string(), standing: standingSchema })),
});
/** What a person's word took back, and what rests for it. */
const takenBack = { changed: z.array(z.string()), resting: z.array(z.object({ skill: z.string(), reason: z.string() })) };
export const link = lineageLinkSchema.extend({
  now: z
    .enum(LINK_STATES)
    .describe(
      "followed; followed-on: to what took over later; passed-over: another goes before it; returned: the tool is back; earlier: it came back and left again; ended: nothing stands in; rejected.",
    ),
});
export const judgedLink = lineageLinkSchema.extend({
  skills: z.object(takenBack),
  held: z.array(z.string()).describe("Tools that wait for a person's approval since that word."),
  released: z.array(z.string()).describe("Tools that were held for the takeover and are judged by themselves now."),
});
export const statedTakeover = z.object({
  links: z.array(lineageLinkSchema),
  remarks: z
    .array(z.string())
    .describe("Parameters that nothing fills or that go nowhere, links that are not followed any more."),
  held: z.array(z.string()).describe("Tools that wait for a person's approval because of it."),
  released: z.array(z.string()),
  skills: z
    .object({ ...takenBack, marked: z.array(z.string()).describe("Their text stays, and a person is asked to look.") })
    .describe("Skills that a corrected mapping bound: `changed` went back to the old tool, and are bound anew by maintenance."),
});
export const links = z.array(link);
export const synced = z.object({
  version: z.int(),
  results: z.array(z.object({ label: z.string(), ok: z.boolean(), reason: z.string().optional() })),
});
const ruled = { rule: z.string(), text: z.string() };
export const approved = z.object({
  tool: z.string(),
  approved: z.boolean(),
  difference: z
    .object({
      digests: z.object({ contract: z.string(), text: z.string(), document: z.string() }),
      held: z.boolean(),
      predecessor: z.string().optional(),
      reasons: z.array(z.object(ruled)),
      known: z.boolean().describe("Whether the former definition is known; else all texts are shown as new."),
      changes: z.array(z.object({ ...ruled, verdict: z.string(), path: z.string() })),
      texts: z.array(z.object({ where: z.string(), before: z.string(), after: z.string() })),
      findings: z.array(z.object({ code: z.string(), severity: z.string(), where: z.string(), text: z.string() })),
    })
    .describe("From what was accepted, or last looked at, to what is approved."),
  standing: z.array(z.string()).describe("Skills that use it, as they stand."),
});

const skillShape = {
  name: z.string(),
  tier: tierSchema,
  description: z.string(),
  provenance: z.enum(["starter", "rules", "llm", "human", "import"]),
  revision: z.int(),
  standing: standingSchema,
  pinned: z.boolean(),
  tools: z.array(z.string()),
  unread: z.string().optional().describe("Why an edit of its folder is not taken up; what stood before it is in force."),
  origin: z
    .object({ upstream: z.string(), uri: z.string(), served: z.boolean() })
    .optional()
    .describe("Where a skill is taken from that an upstream serves, while it is as it was taken."),
};
const files = z.record(z.string(), z.string());
export const skill = z.object(skillShape);
export const skills = z.array(skill);
export const skillDetail = z.object({
  ...skillShape,
  text: z.string(),
  files,
  contract: contractFormat.schema,
  problems,
  successors: z.array(lineageLinkSchema),
});
export const skillHistory = z.array(
  z.object({ revision: z.int(), time: z.string(), cause: z.string(), edit: editSchema.optional(), files }),
);
export const skillRemoved = z.object({ removed: z.string(), revision: z.int() });
export const skillsImported = z.object({ imported: z.array(z.string()), problems, revision: z.int() });
export const reverted = z.object({
  revision: z.int(),
  ...takenBack,
  keptSince: z.array(z.string()),
  keptPinned: z.array(z.string()),
  unchanged: z.string().optional(),
});
export const lint = problems;

export const graph = z.looseObject({}).describe("Nodes and edges of the dependency graph, in graphology's serialised form.");
export const why = z.object({
  skill: z.string(),
  standing: standingSchema,
  paths: z.array(z.object({ path: z.array(z.string()), level: z.string(), text: z.string() })),
});

export const report = maintenanceRunSchema;
export const comparison = maintenanceComparisonSchema;
export const reports = z.array(reportFormat.schema);
export const episode = episodeFormat.schema;
export const episodes = z.array(episode);
export const imported = importAnswerSchema;
export const episodeDetail = z.object({ episode, calls: z.array(callLineFormat.schema) });
export const viewRecord = viewRecordFormat.schema;
export const replayed = z.object({ view: viewSchema, same: z.boolean(), differences: z.array(z.string()) });

export const upstreams = z.array(
  z.object({
    label: z.string(),
    presence: z.object({ state: z.string(), since: z.string(), reason: z.string().optional() }),
    transport: z.enum(["stdio", "http", "sse"]),
    era: z.enum(["legacy", "modern"]).optional(),
    server: z.object({ name: z.string(), version: z.string() }).optional(),
    capabilities: z.record(z.string(), z.unknown()).optional(),
    instructions: z.string().optional(),
    pid: z.int().optional(),
    calls: z.int(),
    failures: z.int(),
    stderrTail: z.string(),
    noiseLines: z.int(),
    answersWithoutId: z.int(),
    slowedMs: z.int().optional(),
    prefix: z.string().optional(),
  }),
);
export const health = z.object({
  version: z.string(),
  pid: z.int(),
  home: z.string(),
  started: z.string(),
  ready: z.boolean(),
  catalog: z.int(),
  library: z.int(),
  tools: z.int(),
  skills: z.object({ active: z.int(), inactive: z.int() }),
  upstreams: z.array(z.object({ label: z.string(), presence: z.string() })),
  problems,
  retrieval: z.object({ vectors: z.string(), fine: z.boolean() }),
  maintenance: maintenanceTallySchema,
  manager: z.object({
    kind: z.enum(["rules", "llm"]),
    model: z.string().optional(),
    state: z.enum(["reachable", "refused", "resting", "not asked"]),
    why: z.string().optional(),
    againAt: z.string().optional(),
  }),
});
export const keptResult = z.object({ mimeType: z.string(), text: z.string() });
