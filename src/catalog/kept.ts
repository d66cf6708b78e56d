/**
 * Kept versions: what is said where a catalog version cannot be had.
 *
 * Owns: the one wording for every door (command line, `/v1`, replays, pins), with the way out.
 * Speaks: KeptVersions in, Fault out.
 * Never: looks at the disc.
 */
import type { KeptVersions } from "../model/catalog.js";
import { Fault } from "../model/fault.js";

/** Stretches of numbers that are named; with more gaps than that the nearest are. */
const STRETCHES = 4;

/** Why a version cannot be had: it never was or is not kept, or its manifest is damaged. */
export function versionFault(asked: number, versions: KeptVersions): Fault {
  const damaged = versions.damaged.find(({ version }) => version === asked);
  if (damaged === undefined) {
    const text = `Version ${asked} is not kept: ${keptInWords(asked, versions.kept)}. \`steward catalog log\` lists them.`;
    return new Fault("version-unknown", text, { version: asked });
  }
  const { file, why, place } = damaged;
  const others = nearest(asked, versions.kept);
  const instead = others.length === 0 ? "" : `, or take version ${others.join(" or ")}`;
  return new Fault(
    "version-damaged",
    `The manifest of version ${asked} is damaged (${file}: ${why}). Put a good copy back as ${place}${instead}; \`steward doctor\` names all that is damaged.`,
    { version: asked, file },
  );
}

/** A tool of a version whose stored definition is not there: without it the tool would read as one that was removed. */
export function definitionFault(
  version: number,
  missing: { readonly tool: string; readonly file: string; readonly more: number },
): Fault {
  const { tool, file, more } = missing;
  const others = more === 0 ? "" : ` (and ${more} more like it)`;
  return new Fault(
    "version-damaged",
    `The definition of ${tool} in version ${version} is missing or damaged (${file})${others}. Put a good copy back, or list its upstream (\`steward catalog sync\`): that writes it again where it is still listed so.`,
    { version, file },
  );
}

function keptInWords(asked: number, kept: readonly number[]): string {
  const stretches = stretchesOf(kept);
  if (stretches.length === 0) return "none is, since nothing was listed yet; the first listing of an upstream makes version 1";
  if (stretches.length <= STRETCHES) return `there ${kept.length === 1 ? "is" : "are"} ${joined(stretches)}`;
  return `there are ${kept.length} from ${kept[0] ?? 0} to ${kept.at(-1) ?? 0}, the nearest ${nearest(asked, kept).join(" and ")}`;
}

/** "1 to 3", "5": numbers in rows. `kept` ascends. */
function stretchesOf(kept: readonly number[]): string[] {
  const rows: [number, number][] = [];
  for (const n of kept) {
    const last = rows.at(-1);
    if (last !== undefined && last[1] === n - 1) last[1] = n;
    else rows.push([n, n]);
  }
  return rows.map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`));
}

/** The last before and the first after it. */
function nearest(asked: number, kept: readonly number[]): number[] {
  return [kept.findLast((n) => n < asked), kept.find((n) => n > asked)].filter((n) => n !== undefined);
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1) ?? ""}`;
}
