import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MaintenanceInput } from "../../src/model/ports.js";
import { maintenanceInput } from "../../src/world/due.js";
import { answers, fails, hangsUp, type ModelRequest } from "../fixtures/model-server.js";
import { closeHouses } from "../house.js";
import { run, shopHouse, teach } from "../maintain/runs.js";
import { keepModelServer, managerOn, rules } from "./llm-kit.js";

const server = keepModelServer();
let input: MaintenanceInput;
beforeEach(async () => {
  const house = await shopHouse();
  await teach(house, [run(1, { refund: true }), run(2, { refund: true })]);
  const proofs = [];
  for (const digest of await house.store.listEvidence()) {
    const evidence = await house.store.readEvidence(digest);
    if (evidence !== undefined) proofs.push({ digest, evidence, weight: "verified" as const });
  }
  input = maintenanceInput(house.steward.world(), "incremental", "2027-01-01T00:00:00.000Z", proofs);
});
afterEach(closeHouses);

const LEARNT = ["atomic-cancel-order", "atomic-refund-order", "plan-cancel-order-and-refund-order"];
const asked = (): unknown[] => server.requests.map((request) => request.rows.find((row) => "skill" in row)?.["skill"]);
const draftIn = (request: ModelRequest): unknown => request.rows.find((row) => "skill" in row)?.["skill"];

describe("skills that runs taught", () => {
  it("are asked about one by one, tool skills are not, and one a model would leave waits for a person, bytes untouched", async () => {
    server.will(
      answers((request: ModelRequest) =>
        draftIn(request) === "atomic-refund-order" ? { verdict: "leave", why: "Only part of it." } : { verdict: "take" },
      ),
    );
    const ruled = (await rules.proposeEdits(input)).edits;
    const { edits, tokens } = await managerOn(server).manager.proposeEdits(input);
    expect(asked()).toEqual(LEARNT);
    expect(tokens.used).toBeGreaterThan(0);
    expect(edits.map(({ skill, files, signature }) => ({ skill, files, signature }))).toEqual(
      ruled.map(({ skill, files, signature }) => ({ skill, files, signature })),
    );
    const waits = edits.filter((edit) => !edit.certain);
    expect(waits.map((edit) => edit.skill)).toEqual(["atomic-refund-order"]);
    expect(waits[0]?.evidence.at(-1)).toBe("model scripted would leave it: Only part of it.");
    expect(edits.find((edit) => edit.skill === "atomic-cancel-order")?.evidence.at(-1)).toBe("model scripted would take it");
  });

  it("never become certain by a model's word alone", async () => {
    server.will(answers({ verdict: "take", why: "Sure." }));
    const claims = input.proofs.map((proof, n) => ({ ...proof, weight: "claim" as const, claimant: `agent ${n}` }));
    const more = [...claims, ...claims.map((proof, n) => ({ ...proof, claimant: `other ${n}` }))];
    const { edits } = await managerOn(server).manager.proposeEdits({ ...input, proofs: more });
    expect(edits.filter((edit) => edit.cause.startsWith("E") && edit.certain)).toEqual([]);
  });

  it("are as rules made them where no verdict comes, and the report says why", async () => {
    server.will(fails(500));
    const { edits } = await managerOn(server, { limits: { editRetries: 0 } }).manager.proposeEdits(input);
    const learnt = edits.filter((edit) => LEARNT.includes(edit.skill));
    expect(learnt.map((edit) => edit.certain)).toEqual([true, true, true]);
    for (const edit of learnt) expect(edit.evidence.at(-1)).toMatch(/^not judged by a model: /);
  });

  it("are taken up where a run died: a question that was answered is not paid for again", async () => {
    server.will(answers({ verdict: "take" }), hangsUp);
    const first = managerOn(server, { limits: { editRetries: 0 } });
    await first.manager.proposeEdits(input);
    expect(first.manager.usage().learnt.decided).toBe(1);
    server.requests.length = 0;
    server.will(answers({ verdict: "take" }));
    // The next process has the memory of the one that died and nothing else of it.
    await managerOn(server, { memory: first.memory }).manager.proposeEdits(input);
    expect(asked()).toEqual(LEARNT.slice(1));
    server.requests.length = 0;
    await managerOn(server, { memory: first.memory }).manager.proposeEdits(input);
    expect(asked()).toEqual([]);
  });
});
