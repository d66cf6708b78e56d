/** What there is to learn from: verified evidence, and what agents claim, read for one run. */
import { evidenceFormat } from "../model/episode.js";
import { EXTRACTION } from "../model/policy.js";
import type { Proof, Store } from "../model/ports.js";
import type { World } from "../world/world.js";

/** The part of a store that evidence is read from. */
export interface ProofShelf {
  readonly store: Pick<Store, "listEvidence" | "readEvidence" | "readCalls">;
}

/** Oldest first; of more than a run holds, the newest. Of one episode only the last word counts. */
export async function readProofs(desk: ProofShelf, world: World): Promise<Proof[]> {
  const digests = (await desk.store.listEvidence()).slice(-EXTRACTION.proofsMost);
  const byEpisode = new Map<string, Proof>();
  for (const digest of digests) {
    const evidence = await desk.store.readEvidence(digest);
    if (evidence === undefined) continue;
    // A verdict that was replaced leaves its record: the episode says which one stands.
    const stands = world.episodes.get(evidence.episode)?.outcome;
    if (stands !== undefined && (stands.outcome !== evidence.outcome.outcome || stands.trust !== evidence.outcome.trust))
      continue;
    byEpisode.set(evidence.episode, { digest, evidence, weight: "verified" });
  }
  const verified = [...byEpisode.values()].sort((a, b) =>
    a.evidence.outcome.at < b.evidence.outcome.at
      ? -1
      : a.evidence.outcome.at > b.evidence.outcome.at
        ? 1
        : a.digest < b.digest
          ? -1
          : 1,
  );
  return [...verified, ...(await readClaims(desk, world))];
}

async function readClaims(desk: ProofShelf, world: World): Promise<Proof[]> {
  const claimed = [...world.episodes.values()]
    .filter((episode) => episode.outcome?.trust === "claim" && episode.outcome.outcome === "success" && episode.calls > 0)
    .sort((a, b) => (a.moved < b.moved ? -1 : 1))
    .slice(-EXTRACTION.claimsMost);
  const proofs: Proof[] = [];
  for (const episode of claimed) {
    if (episode.outcome === undefined) continue;
    const calls = [...(await desk.store.readCalls(episode.episode))];
    const evidence = { format: evidenceFormat.id, episode: episode.episode, task: episode.task, calls, outcome: episode.outcome };
    proofs.push({ digest: "", evidence, weight: "claim", claimant: episode.principal });
  }
  return proofs;
}
