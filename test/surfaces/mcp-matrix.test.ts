/** What passes between agents and upstreams of both protocol eras, seen through the running daemon; MATRIX.md is written from it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropHome, newHome, startDaemon, type Daemon } from "../e2e/daemon.js";
import { connectAgent, type Agent, type Era } from "./mcp-matrix/agent.js";
import type { Cell, Seen } from "./mcp-matrix/cell.js";
import { OFFERS } from "./mcp-matrix/offers.js";
import { QUESTIONS } from "./mcp-matrix/questions.js";
import { PAIRS, renderMatrix } from "./mcp-matrix/table.js";
import { TOOLS } from "./mcp-matrix/tools.js";
import { HASTY_MS, hastyLabel, SERVER, speakTo, type Upstream } from "./mcp-matrix/upstream.js";

const FEATURES = [...TOOLS, ...OFFERS, ...QUESTIONS];
const DOCUMENT = resolve(import.meta.dirname, "../../MATRIX.md");
const ERAS: readonly Era[] = ["legacy", "modern"];
const LABELS: Readonly<Record<Era, string>> = { legacy: "old", modern: "new" };
const seen = new Map<string, Seen>();
const opened: { close(): unknown }[] = [];
const home = newHome();
let daemon: Daemon;
const upstreams = new Map<Era, Upstream>();

beforeAll(async () => {
  const entries = ERAS.flatMap((era) =>
    [LABELS[era], hastyLabel(LABELS[era])].map((label) => [label, { command: process.execPath, args: [SERVER, era] }]),
  );
  const settings = ERAS.map((era) => [hastyLabel(LABELS[era]), { callTimeoutMs: HASTY_MS }]);
  mkdirSync(join(home, "config"), { recursive: true });
  writeFileSync(
    join(home, "config/steward.json"),
    JSON.stringify({ mcpServers: Object.fromEntries(entries), steward: { upstreams: Object.fromEntries(settings) } }),
  );
  daemon = await startDaemon(home, []);
  await daemon.ready();
  for (const era of ERAS) {
    const upstream = speakTo(era, LABELS[era]);
    upstreams.set(era, upstream);
    opened.push(upstream);
  }
});
afterAll(async () => {
  for (const one of opened) await one.close();
  await daemon.stop();
  dropHome(home);
});

async function agentAt(era: Era, path: string): Promise<Agent> {
  const agent = await connectAgent(era, `${daemon.url}${path}`);
  opened.push(agent);
  return agent;
}

describe.each(PAIRS.map((pair, at) => ({ ...pair, at })))(
  "a $agent agent and a $upstream upstream",
  ({ agent, upstream, at }) => {
    let cell: Cell;
    beforeAll(async () => {
      const behind = upstreams.get(upstream);
      if (behind === undefined) throw new Error(`no ${upstream} upstream`);
      cell = { agent: await agentAt(agent, "/mcp/direct"), facade: await agentAt(agent, "/mcp"), upstream: behind };
    });

    it.each(FEATURES)("$group: $name", async ({ name, probe }) => {
      seen.set(`${name}\n${at}`, await probe(cell));
    });
  },
);

describe("MATRIX.md", () => {
  it("says what was seen", () => {
    expect(seen.size, "every probe has to have seen something").toBe(FEATURES.length * PAIRS.length);
    const text = renderMatrix(FEATURES, (feature, pair) => seen.get(`${feature}\n${pair}`) ?? raise(feature));
    if (process.env["STEWARD_MATRIX"] === "write") writeFileSync(DOCUMENT, text);
    expect(readFileSync(DOCUMENT, "utf8"), "`npm run matrix` writes it").toBe(text);
  });
});

function raise(feature: string): never {
  throw new Error(`nothing was seen of ${feature}`);
}
