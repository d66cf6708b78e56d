/**
 * Looking at proposed takeovers in a maintenance run: what can be tried is tried, what is left a manager is asked about.
 *
 * A replay goes first: what answers alike needs nobody's judgement, and costs no tokens. Nothing is put in force here: verdicts go
 * through the inbox with the run's edits, as one decision.
 */
import { lookBasis, opinionOf } from "../catalog/lineage/opinion.js";
import type { LineageLink, LineageVerdict } from "../model/lineage.js";
import type { ProposedEdit } from "../model/maintenance.js";
import type { OpenLink, Proof } from "../model/ports.js";
import { PROBE_LIMITS } from "../model/policy.js";
import { openLinks, withVerdicts } from "../world/open-links.js";
import { probesOf, probesOfLink } from "../world/probe.js";
import type { World } from "../world/world.js";
import type { Desk } from "./desk.js";
import type { Prober } from "./probe.js";

export interface Looks {
  readonly verdicts: readonly LineageVerdict[];
  readonly unjudged: readonly { readonly link: string; readonly how: "manager" | "replay"; readonly why: string }[];
  readonly tokens: number;
  /** All links, as they would be with these verdicts. */
  readonly lineage: ReadonlyMap<string, LineageLink>;
}

/** `prober`: absent where nothing may be called. */
export async function lookAtLineage(
  desk: Desk,
  world: World,
  proofs: readonly Proof[],
  at: string,
  prober: Prober | undefined,
): Promise<Looks> {
  const open = openLinks(world, proofs);
  const replayed = prober === undefined ? [] : await replayLinks(prober, world, open, proofs, at);
  const shown = new Set(replayed.filter(({ opinion }) => opinion.verdict === "confirm").map(({ link }) => link));
  const left = open.filter(({ link }) => !shown.has(link.id));
  const match =
    left.length === 0 || world.policy.lineageByManager === "off"
      ? { verdicts: [], unjudged: [], tokens: 0 }
      : await desk.manager.matchLineage({ at, links: left });
  const verdicts = [...replayed, ...match.verdicts];
  return {
    verdicts,
    unjudged: match.unjudged.map((one) => ({ ...one, how: "manager" })),
    tokens: match.tokens,
    lineage: new Map([...world.lineage, ...withVerdicts(world.lineage, verdicts, world.policy)]),
  };
}

async function replayLinks(
  prober: Prober,
  world: World,
  open: readonly OpenLink[],
  proofs: readonly Proof[],
  at: string,
): Promise<LineageVerdict[]> {
  const verdicts: LineageVerdict[] = [];
  for (const one of open) {
    const [to] = one.to;
    const { probes, unfit } = probesOfLink(world, one, proofs);
    if (to === undefined || probes.length + unfit.length === 0 || prober.refusal(to) !== undefined) continue;
    const tried = probes.slice(0, PROBE_LIMITS.triedMost).map((probe) => probe.id);
    const basis = lookBasis(one.from, one.to, [...tried, ...unfit.map(({ of }) => of)]);
    if (opinionOf(one.link, "replay")?.basis === basis) continue;
    const { verdict, evidence, answered } = await prober.try(probes, unfit);
    // Nobody was reached: there is nothing to remember, and it is tried again.
    if (!answered) continue;
    const why = {
      shown: `recorded calls were answered alike by ${to.key}`,
      refuted: `a recorded call was not answered alike by ${to.key}`,
      open: `too little of what ${to.key} answered could be compared`,
    }[verdict];
    verdicts.push({
      link: one.link.id,
      opinion: {
        how: "replay",
        verdict: verdict === "shown" ? "confirm" : "leave",
        by: to.key,
        at,
        basis,
        why,
        evidence: [...evidence],
      },
    });
  }
  return verdicts;
}

/**
 * Rebinds that would be applied, tried on the calls their skills cite: what is refuted is proposed to a person instead, with what was
 * answered. Such an answer is of the moment, so nothing is remembered against the edit.
 */
export async function probeEdits(
  prober: Prober,
  world: World,
  lineage: ReadonlyMap<string, LineageLink>,
  edits: readonly ProposedEdit[],
  proofs: readonly Proof[],
): Promise<ProposedEdit[]> {
  const byDigest = new Map(proofs.map((proof) => [proof.digest, proof.evidence]));
  const around = { catalog: world.catalog, links: [...lineage.values()] };
  const probed: ProposedEdit[] = [];
  for (const edit of edits) {
    const before = edit.kind === "modify" && edit.certain ? world.library.skills.get(edit.skill) : undefined;
    const recorded = (edit.contract?.evidence ?? []).flatMap(({ trajectory, steps }) => {
      const evidence = byDigest.get(trajectory);
      return (evidence?.calls ?? []).flatMap((line) =>
        evidence !== undefined && steps.includes(line.seq) ? [{ line, evidence }] : [],
      );
    });
    const reads = before?.contract.requires.flatMap((need) => need.reads) ?? [];
    const { probes } = before === undefined ? { probes: [] } : probesOf(around, recorded, { reads, params: {} });
    const allowed = probes.filter(({ tool }) => prober.refusal(tool) === undefined);
    const tried = allowed.length === 0 ? undefined : await prober.try(allowed, []);
    if (tried?.answered !== true) probed.push(edit);
    else {
      const evidence = [...edit.evidence, ...tried.evidence.map((text) => `tried: ${text}`)];
      probed.push({ ...edit, evidence, certain: tried.verdict !== "refuted" });
    }
  }
  return probed;
}
