import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/model/event.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { Tool } from "../../src/model/tool.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import { derive } from "../../src/world/rebuild.js";
import { gather } from "../../src/world/turn.js";
import { dueTexts } from "../../src/world/vectors.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import { HELPDESK } from "../catalog/lineage-catalogs.js";
import { renamed } from "../catalog/lineage-tools.js";

const at = "2026-01-01T00:00:00.000Z";
const label = "desk" as UpstreamLabel;

function after(world: World, event: Event): World {
  return advance(world, decide(world, event).changes);
}

function listed(world: World, tools: readonly Tool[]): World {
  return after(world, { kind: "listing", at, label, tools: [...tools], problems: [], cause: "poll" });
}

/** A helpdesk whose tool of this place got a name that shares no word with the old one. */
function withRenamed(place: number): { world: World; gone: Tool; successor: Tool } {
  const upstreams = new Map([[label, { disabled: false, prefix: "desk" }]]);
  const empty = after(derive(emptyKnown, new Map()), {
    kind: "configured",
    at,
    starting: true,
    upstreams,
    policy: DEFAULT_POLICY,
  });
  const gone = HELPDESK[place % HELPDESK.length] as Tool;
  const successor = renamed(gone, "zebra_quartz");
  const world = listed(listed(empty, HELPDESK), [...HELPDESK.filter((one) => one !== gone), successor]);
  return { world, gone, successor };
}

/** Each present tool in a direction of its own, but for those left out. */
function embedded(world: World, leftOut: ReadonlySet<string>): { world: World; rows: Map<string, Float32Array> } {
  const dimension = 32;
  const rows = new Map<string, Float32Array>();
  const due = dueTexts(world, "e").filter(({ id }) => !leftOut.has(id));
  due.forEach(({ id }, i) =>
    rows.set(
      id,
      Float32Array.from({ length: dimension }, (_, n) => (n === i ? 1 : 0)),
    ),
  );
  const texts = due.map(({ of, id, digest }) => ({ of, id, text: digest, vector: rows.get(id) as Float32Array }));
  return { world: after(world, { kind: "texts-embedded", at, embedder: "e", dimension, rows: texts }), rows };
}

describe("the exact name of a gone tool", () => {
  it("brings what took over from it first, with the pointer, whatever vectors there are and whatever they say", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: HELPDESK.length - 1 }),
        fc.constantFrom("none", "without the successor", "all"),
        fc.nat({ max: 20 }),
        fc.constantFrom("key", "name", "marks", "sentence", "shouted"),
        fc.constantFrom("retrieve", "explore"),
        (place, vectors, toward, form, kind) => {
          const { world: bare, gone, successor } = withRenamed(place);
          const text = {
            key: gone.key as string,
            name: gone.name,
            marks: `call \`${gone.name}\` and list all queues`,
            sentence: `please use ${gone.name} for the case of the caller`,
            shouted: gone.name.toUpperCase(),
          }[form];
          const { world, rows } =
            vectors === "none"
              ? { world: bare, rows: new Map<string, Float32Array>() }
              : embedded(bare, new Set(vectors === "all" ? [] : [successor.key]));
          const near = [...rows.values()][toward % Math.max(1, rows.size)];
          const need =
            near === undefined ? ({ kind: "off" } as const) : ({ kind: "vector", embedder: "e", vector: near } as const);
          const { candidates, found } = gather(world, { kind, text }, { allowed: undefined, need });
          expect(candidates.tools[0]?.tool.key).toBe(successor.key);
          expect(candidates.tools[0]?.score).toBe(1);
          expect(candidates.tools[0]?.reason).toContain(`took over from ${gone.key}`);
          expect(found.substitutions).toContainEqual(expect.objectContaining({ asked: gone.key, given: [successor.key] }));
        },
      ),
      { numRuns: 120 },
    );
  });

  it("brings nothing that may not be used, and nothing once its tool is back", () => {
    const { world, gone, successor } = withRenamed(3);
    const elsewhere = gather(world, { kind: "retrieve", text: gone.name }, { allowed: new Set(["shop" as UpstreamLabel]) });
    expect([elsewhere.candidates.tools, elsewhere.found.substitutions]).toEqual([[], []]);
    const back = listed(world, [...HELPDESK, successor]);
    const { candidates } = gather(back, { kind: "retrieve", text: gone.name }, { allowed: undefined });
    expect(candidates.tools[0]).toMatchObject({
      tool: { key: gone.key },
      reason: expect.stringContaining("exact name") as string,
    });
  });
});
