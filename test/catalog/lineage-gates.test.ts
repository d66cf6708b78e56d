import { describe, expect, it } from "vitest";
import { findLineage, LINEAGE_GATES } from "../../src/catalog/lineage.js";
import { GATE_CASES } from "./lineage-gate-cases.js";

describe("every gate of lineage", () => {
  it("stands in the table once, with a reason", () => {
    expect(LINEAGE_GATES.map((gate) => gate.id).sort()).toEqual(Object.keys(GATE_CASES).sort());
    for (const gate of LINEAGE_GATES) expect(gate.says.length).toBeGreaterThan(10);
  });

  it.each(LINEAGE_GATES.map((gate) => [gate.id, GATE_CASES[gate.id].says, gate] as const))("%s: %s", (id, _says, gate) => {
    const { input, holds } = GATE_CASES[id];
    expect(holds(findLineage(input)), "with all gates").toBe(true);
    const others = LINEAGE_GATES.filter((other) => other !== gate);
    expect(holds(findLineage(input, others)), `without ${id}`).toBe(false);
  });
});
