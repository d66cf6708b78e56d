import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { compose, type House } from "../../src/compose.js";
import { silentLog } from "../../src/host/log.js";
import { createEmbeddingsSwitch } from "../../src/manager/embeddings-switch.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { Caller } from "../../src/model/operations.js";
import { embeds, startEmbeddingsServer } from "../fixtures/embeddings-server.js";
import { ECOSYSTEM } from "../retrieve/made.js";

const home = mkdtempSync(join(tmpdir(), "steward-house-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const someone: Caller = { principal: "local", rights: new Set(["agent"]), upstreams: undefined, session: undefined };
const MODEL = { dimension: 256, same: [["umbrella", "rain", "weather", "forecast"]] };

async function open(embeddings: object | undefined): Promise<House> {
  const mcpServers = Object.fromEntries(
    [...new Set(ECOSYSTEM.map(({ label }) => label))].map((label) => [label, { command: "true" }]),
  );
  mkdirSync(join(home, "config"), { recursive: true });
  const steward = embeddings === undefined ? {} : { embeddings };
  writeFileSync(join(home, "config/steward.json"), JSON.stringify({ mcpServers, steward }));
  return await compose({ home, env: process.env, main: "", log: silentLog, upstreams: false, watch: false });
}

function isWhole(house: House): boolean {
  const { vectors } = house.steward.world();
  return vectors.tools.count === ECOSYSTEM.length && house.operations.health().retrieval.vectors.includes("all embedded");
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

it("a configured embedder is in force from the first start on, shows in health and views, and is gone with its configuration", async () => {
  const server = await startEmbeddingsServer(embeds(MODEL));
  const config = { baseUrl: server.url, model: "made" };
  const house = await open(config);
  const at = new Date().toISOString();
  for (const label of new Set(ECOSYSTEM.map((tool) => tool.label))) {
    const tools = ECOSYSTEM.filter((tool) => tool.label === label);
    await house.steward.post({ kind: "listing", at, label: label as UpstreamLabel, tools, problems: [], cause: "sync" });
  }
  await until(() => isWhole(house));
  const { body } = await house.operations.retrieveTools({ query: "umbrella today" }, someone);
  expect(body.tools[0]?.tool).toBe("weather/forecast");
  expect(body.tools[0]?.reason).toContain("near in meaning");
  expect(body.basis.embedder).toMatch(/^[0-9a-f]{16}:9$/);
  const replayed = await house.operations.replay(body.view);
  expect(replayed.differences).toEqual([]);
  await house.stop();

  const asked = server.requests.length;
  const again = await open(config);
  await until(() => isWhole(again));
  expect((await again.operations.retrieveTools({ query: "umbrella today" }, someone)).body.tools[0]?.tool).toBe(
    "weather/forecast",
  );
  // The probe and the need: no tool is embedded twice.
  expect(server.requests.slice(asked).every(({ texts }) => texts.length <= 2)).toBe(true);
  await again.stop();
  await server.close();

  const without = await open(undefined);
  expect(without.operations.health().retrieval.vectors).toBe("off: no embeddings endpoint is configured");
  const plain = (await without.operations.retrieveTools({ query: "weather forecast" }, someone)).body;
  expect(plain.basis.embedder).toBe("none");
  expect(plain.notices?.some(({ code }) => code === "lexical-only") ?? false).toBe(false);
  await without.stop();
});

it("a section that is refused says so in health and views, and leaves the last good endpoint in force when it is read again", async () => {
  const refused = { baseUrl: "ftp://127.0.0.1/v1", model: "made" };
  const house = await open(refused);
  const health = house.operations.health();
  expect(health.problems.map(({ where }) => where)).toContain("steward.embeddings.baseUrl");
  expect(health.retrieval).toEqual({
    vectors: "by words alone: the configured section is refused (steward.embeddings.baseUrl)",
    fine: false,
  });
  await house.stop();

  const server = await startEmbeddingsServer(embeds(MODEL));
  const opened: unknown[] = [];
  const inForce = createEmbeddingsSwitch({
    open: (config) => {
      opened.push(config);
      return {
        wake: () => undefined,
        retry: () => opened.push("again"),
        stop: () => Promise.resolve(),
        embed: () => Promise.resolve({ kind: "off" }),
        status: () => "made: all embedded",
        isFine: () => true,
      };
    },
    clear: () => Promise.resolve(),
    note: () => "",
  });
  const good = { baseUrl: server.url, model: "made", apiKeyEnv: "KEY" };
  await inForce.configure(good);
  await inForce.configure({ refused: "steward.embeddings.model" });
  expect(inForce.status()).toMatch(/^made: all embedded; the section as saved is refused \(steward.embeddings.model\)/);
  expect(inForce.isFine()).toBe(false);
  await inForce.configure(good);
  expect(inForce.isFine()).toBe(true);
  // Saving the same settings is a wish to have them tried again.
  expect(opened).toEqual([good, "again"]);
  await inForce.configure(undefined);
  expect(inForce.status()).toBe("off: no embeddings endpoint is configured");
  await server.close();
});
