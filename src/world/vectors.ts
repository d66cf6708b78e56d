/**
 * What an embedder made of tools and skills, beside the catalog and the library they belong to.
 */
import { growGraph, type GraphAddon } from "../retrieve/nominate.js";
import { emptyVectors, hasVector, isSearchedExactly, moveVectors } from "../retrieve/vectors.js";
import type { VectorIndex } from "../retrieve/vector-rows.js";
import { skillText, toolText } from "../retrieve/nearness.js";
import { sha256 } from "../catalog/canonical.js";
import type { Digest, SkillName, ToolKey } from "../model/ids.js";
import type { Catalog } from "../model/catalog.js";
import type { Change } from "../model/change.js";
import type { Library } from "../model/skill.js";
import { NO_EMBEDDER, type DueText, type EmbeddedText } from "../model/vectors.js";

/** What has texts to embed. */
export interface Embeddable {
  readonly catalog: Pick<Catalog, "tools">;
  readonly library: Pick<Library, "skills">;
}

export interface Vectors {
  /** Whose vectors they are; `none` without any. */
  readonly embedder: string;
  readonly tools: VectorIndex;
  readonly skills: VectorIndex;
}

export const NO_VECTORS: Vectors = Object.freeze({ embedder: NO_EMBEDDER, tools: emptyVectors(1), skills: emptyVectors(1) });

/** The vectors after a decision's changes: what moved loses its row, embedded texts gain theirs. */
export function moveVectorsBy(vectors: Vectors, changes: readonly Change[]): Vectors {
  return changes.reduce((moved, change) => {
    if (change.kind === "vectors") return withRows(moved, change);
    if (change.kind === "catalog-version") {
      return without(moved, "tools", [...change.removed, ...change.moved.map(({ key }) => key)]);
    }
    if (change.kind === "library-revision") return without(moved, "skills", [...change.written.keys(), ...change.removed]);
    return moved;
  }, vectors);
}

/** Rows of the same embedder join, those of another one replace all. */
function withRows(
  vectors: Vectors,
  move: { readonly embedder: string; readonly dimension: number; readonly rows: readonly EmbeddedText[] },
): Vectors {
  if (move.embedder === NO_EMBEDDER) return NO_VECTORS;
  const isSame = vectors.embedder === move.embedder && vectors.tools.dimension === move.dimension;
  const rowsOf = (of: EmbeddedText["of"]): [string, Float32Array][] =>
    move.rows.filter((row) => row.of === of).map(({ id, vector }) => [id, vector]);
  const before = (index: VectorIndex): VectorIndex => (isSame ? index : emptyVectors(move.dimension));
  return {
    embedder: move.embedder,
    tools: moveVectors(before(vectors.tools), { put: rowsOf("tool"), removed: [] }),
    skills: moveVectors(before(vectors.skills), { put: rowsOf("skill"), removed: [] }),
  };
}

function without(vectors: Vectors, side: "tools" | "skills", ids: readonly string[]): Vectors {
  const moved = moveVectors(vectors[side], { put: [], removed: ids });
  return moved === vectors[side] ? vectors : { ...vectors, [side]: moved };
}

/** Texts without a vector of this embedder: a function of the present, so that no lost wake-up leaves one out for ever. */
export function dueTexts(world: Embeddable & { readonly vectors: Vectors }, embedder: string): DueText[] {
  const { vectors } = world;
  const lacks = (index: VectorIndex, id: string): boolean => vectors.embedder !== embedder || !hasVector(index, id);
  const due: DueText[] = [];
  for (const tool of world.catalog.tools.values()) {
    if (lacks(vectors.tools, tool.key)) due.push(dueText("tool", tool.key, tool, () => toolText(tool)));
  }
  for (const skill of world.library.skills.values()) {
    if (lacks(vectors.skills, skill.name)) due.push(dueText("skill", skill.name, skill, () => skillText(skill)));
  }
  return due;
}

/** Digests are worked out once an object: thousands of tools are looked at for each batch, and their texts only where they are sent. */
const digests = new WeakMap<object, Digest>();

function dueText(of: DueText["of"], id: string, from: object, text: () => string): DueText {
  let digest = digests.get(from);
  if (digest === undefined) {
    digest = sha256(text());
    digests.set(from, digest);
  }
  return { of, id, digest, text };
}

/** The present text of a tool or skill; undefined where it is not there any more. */
export function presentText(known: Embeddable, of: DueText["of"], id: string): string | undefined {
  if (of === "tool") {
    const tool = known.catalog.tools.get(id as ToolKey);
    return tool === undefined ? undefined : toolText(tool);
  }
  const skill = known.library.skills.get(id as SkillName);
  return skill === undefined ? undefined : skillText(skill);
}

/** Grows the graphs of what is too large to be looked at row by row, a few rows; true once nothing is left to grow. */
export function tendVectors({ tools, skills }: Vectors, addon: GraphAddon | undefined, rows: number): boolean {
  if (addon === undefined) return true;
  const grown = [tools, skills].map((index) => isSearchedExactly(index) || growGraph(addon, index, rows));
  return grown.every((done) => done);
}

/** The basis's word for the vectors an answer drew on: whose, and how many. */
export function vectorsBasis({ embedder, tools, skills }: Vectors): string {
  return embedder === NO_EMBEDDER ? NO_EMBEDDER : `${embedder}:${tools.count + skills.count}`;
}
