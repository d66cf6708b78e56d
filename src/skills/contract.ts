/**
 * The contract file of a skill: `references/contract.json`.
 *
 * Owns: reading it leniently (another tool's file of that name is left alone) and writing it in stable bytes.
 * Speaks: the contract format of model/skill.ts.
 * Never: whether the contract is true (lint.ts, and the gate for the catalog).
 */
import { isJsonObject, type JsonValue } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import { contractFormat, type Contract, type Requirement } from "../model/skill.js";

export const CONTRACT_PATH = "references/contract.json";

export const emptyContract: Contract = Object.freeze({
  format: contractFormat.id,
  requires: [],
  uses: [],
  produces: [],
  evidence: [],
});

export interface ContractReading {
  /** Undefined: the file says it is ours and cannot be relied on, so the skill is refused. */
  readonly contract: Contract | undefined;
  /** False where there is no contract of ours: dependencies have to be inferred. */
  readonly stated: boolean;
  readonly problems: readonly Problem[];
}

export function readContract(where: string, text: string | undefined): ContractReading {
  if (text === undefined) return { contract: emptyContract, stated: false, problems: [] };
  const problem = (code: string, sentence: string): Problem => ({ code, where, text: sentence });
  const json = parseJson(text.startsWith("\uFEFF") ? text.slice(1) : text);
  if (json === undefined) {
    return { contract: undefined, stated: true, problems: [problem("contract-unreadable", "The contract is not JSON.")] };
  }
  const format = isJsonObject(json) ? json["format"] : undefined;
  if (typeof format !== "string" || !format.startsWith(`${contractFormat.kind}/`)) {
    const sentence = "The file is not a contract of STEWARD (no `format`); it is kept and not read.";
    return { contract: emptyContract, stated: false, problems: [problem("contract-foreign", sentence)] };
  }
  if (format !== contractFormat.id) {
    const sentence = `The contract has format \`${format}\`; this version reads \`${contractFormat.id}\`.`;
    return { contract: undefined, stated: true, problems: [problem("format-newer", sentence)] };
  }
  const parsed = contractFormat.schema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const sentence = `The contract is not valid: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`;
    return { contract: undefined, stated: true, problems: [problem("contract-unreadable", sentence)] };
  }
  return { contract: parsed.data, stated: true, problems: [] };
}

/** Stable bytes: fixed key order, two spaces, a newline at the end. The order of requirements is the order of use. */
export function writeContract(contract: Omit<Contract, "format">): string {
  const document = {
    format: contractFormat.id,
    requires: contract.requires.map(orderedRequirement),
    uses: [...contract.uses],
    produces: [...contract.produces],
    evidence: contract.evidence.map((item) => ({ trajectory: item.trajectory, steps: [...item.steps], verifier: item.verifier })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function orderedRequirement(requirement: Requirement): Requirement {
  const { tool, contractDigest, params, reads, anyGroup, optional, inferred } = requirement;
  return {
    tool,
    contractDigest,
    params: [...params],
    reads: [...reads],
    ...(anyGroup === undefined ? {} : { anyGroup }),
    ...(optional === undefined ? {} : { optional }),
    ...(inferred === undefined ? {} : { inferred }),
  };
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
