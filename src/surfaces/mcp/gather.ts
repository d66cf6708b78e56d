/**
 * Lists that are gathered from all upstreams: resources, resource templates, prompts.
 *
 * Owns: which upstreams are asked, paging, the last good list of each, what is left out and why.
 * Speaks: Operations.passThrough; items with qualified names and URIs.
 * Never: caches what an upstream that is up would answer now.
 */
import { Fault } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Caller, Operations } from "../../model/operations.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { UpstreamStatus } from "../../model/ports.js";
import { qualifyName, qualifyUri } from "./qualify.js";
import { qualifyEntry } from "./skill-entry.js";
import { SKILLS } from "./translate.js";

export type Kind = "resources" | "templates" | "prompts" | "skills";

interface KindForm {
  readonly method: string;
  readonly field: string;
  readonly capability: string;
  readonly qualify: (item: JsonObject, label: string, prefix: string | undefined) => JsonObject | undefined;
}

const FORMS: Readonly<Record<Kind, KindForm>> = {
  resources: { method: "resources/list", field: "resources", capability: "resources", qualify: renamed("uri", qualifyUri) },
  templates: {
    method: "resources/templates/list",
    field: "resourceTemplates",
    capability: "resources",
    qualify: renamed("uriTemplate", qualifyUri),
  },
  prompts: { method: "prompts/list", field: "prompts", capability: "prompts", qualify: renamed("name", qualifyName) },
  skills: { method: SKILLS.list, field: "skills", capability: SKILLS.extension, qualify: qualifyEntry },
};

function renamed(field: string, qualify: (label: string, prefix: string | undefined, own: string) => string) {
  return (item: JsonObject, label: string, prefix: string | undefined): JsonObject | undefined => {
    const own = item[field];
    return typeof own === "string" ? { ...item, [field]: qualify(label, prefix, own) } : undefined;
  };
}

export interface Gathered {
  readonly items: JsonObject[];
  readonly leftOut: { readonly upstream: string; readonly why: string }[];
}

export interface Gatherer {
  /** All items of one kind, by label and then in the upstream's order. */
  list(kind: Kind, caller: Caller, signal: AbortSignal): Promise<Gathered>;
  /** Upstreams this caller may use that declare a capability or an extension, by label. */
  having(capability: string, caller: Caller): readonly UpstreamStatus[];
  /** Label of the upstream that lists exactly this unqualified resource URI, as far as lists are known. */
  ownerOf(uri: string, caller: Caller): string | undefined;
  /** Forgets the lists that are kept of upstreams that do not run: one of them said that they moved. */
  forget(): void;
}

interface Kept {
  readonly own: readonly JsonObject[];
}

export function createGatherer(operations: Operations): Gatherer {
  const kept = new Map<string, Kept>();

  function allowed(caller: Caller): readonly UpstreamStatus[] {
    return operations
      .upstreams()
      .filter((status) => caller.upstreams === undefined || caller.upstreams.has(status.label))
      .sort((a, b) => (a.label < b.label ? -1 : 1));
  }
  const declares = ({ capabilities }: UpstreamStatus, capability: string): boolean => {
    const extensions = capabilities?.["extensions"];
    return isJsonObject(capabilities?.[capability]) || (isJsonObject(extensions) && isJsonObject(extensions[capability]));
  };
  const wanted = (status: UpstreamStatus, kind: Kind): boolean => kind !== "skills" || status.skills !== "off";
  const offered = (status: UpstreamStatus): boolean => status.presence.state !== "parked" && status.presence.state !== "disabled";

  async function one(
    status: UpstreamStatus,
    form: KindForm,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    const key = `${status.label}\n${form.method}`;
    const known = kept.get(key);
    // An upstream that was stopped on purpose is not woken for a list that is known.
    if (status.presence.state === "idle" && known !== undefined) return known.own;
    try {
      const own = await within(signal, (bounded) => pages(operations, status.label, form, caller, bounded));
      kept.set(key, { own });
      return own;
    } catch (error) {
      // An outage is not an absence: the last good list stands.
      if (known !== undefined && !signal.aborted) return known.own;
      throw error;
    }
  }

  return {
    async list(kind, caller, signal) {
      const form = FORMS[kind];
      const asked = allowed(caller).filter(
        (status) => offered(status) && declares(status, form.capability) && wanted(status, kind),
      );
      const answers = await Promise.allSettled(asked.map((status) => one(status, form, caller, signal)));
      const gathered: Gathered = { items: [], leftOut: [] };
      answers.forEach((answer, at) => {
        const status = asked[at];
        if (status === undefined) return;
        if (answer.status === "rejected") {
          gathered.leftOut.push({ upstream: status.label, why: reasonOf(answer.reason) });
          return;
        }
        for (const item of answer.value) {
          const qualified = form.qualify(item, status.label, status.prefix);
          if (qualified === undefined)
            gathered.leftOut.push({ upstream: status.label, why: `an item of ${form.method} is unnamed` });
          else gathered.items.push(qualified);
        }
      });
      return gathered;
    },
    having: (capability, caller) => allowed(caller).filter((status) => offered(status) && declares(status, capability)),
    ownerOf(uri, caller) {
      for (const status of allowed(caller)) {
        if (kept.get(`${status.label}\n${FORMS.resources.method}`)?.own.some((item) => item["uri"] === uri)) return status.label;
      }
      return undefined;
    },
    forget: () => kept.clear(),
  };
}

/** All pages of one list. A later page that fails fails the whole list: never a half one. */
async function pages(
  operations: Operations,
  label: string,
  form: KindForm,
  caller: Caller,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < SURFACE_LIMITS.gatherPages; page += 1) {
    const params: JsonObject = cursor === undefined ? {} : { cursor };
    const answer = await operations.passThrough(label, form.method, params, caller, { signal });
    const found = answer[form.field];
    if (Array.isArray(found)) items.push(...found.filter(isJsonObject));
    const next = answer["nextCursor"];
    // Some servers send an empty cursor for "no more".
    if (typeof next !== "string" || next === "") return items;
    if (seen.has(next)) break;
    seen.add(next);
    cursor = next;
  }
  throw new Fault("upstream-failed", `${label} never ends its list of ${form.field}.`);
}

async function within<T>(signal: AbortSignal, work: (bounded: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const bound = setTimeout(
    () => controller.abort(new Fault("upstream-failed", `No list within ${SURFACE_LIMITS.gatherMs} ms.`)),
    SURFACE_LIMITS.gatherMs,
  );
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason as Error), { once: true });
  });
  try {
    return await Promise.race([work(controller.signal), aborted]);
  } finally {
    clearTimeout(bound);
    signal.removeEventListener("abort", onAbort);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
