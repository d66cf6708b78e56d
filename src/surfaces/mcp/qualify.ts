/**
 * Names of what belongs to upstreams, as agents see them: prompts, resources and skills under their label, and back.
 *
 * Owns: the spellings (`label__name`, `steward://upstream/<label>/<uri>`, `skill://upstream/<label>/…`) and their inverse.
 * Speaks: strings. Both directions are pure functions of label and prefix: nothing has to be remembered to go back.
 * Never: tool names (catalog/name.ts) or any lookup in upstreams.
 */

/** URIs under this belong to upstreams; the upstream's own URI follows the label unchanged, templates included. */
const UPSTREAM_URI = "steward://upstream/";
/** The same for URIs of this scheme, which they keep: hosts know skills by it. */
const SKILL_SCHEME = "skill://";
const UPSTREAM_SKILL = `${SKILL_SCHEME}upstream/`;
/** URIs under this are results that were too large for one answer. */
const RESULT_URI = "steward://results/";
/** The whole of it, or one page. */
export const RESULT_TEMPLATE = `${RESULT_URI}{id}{/page}`;

export interface Place {
  readonly label: string;
  /** Prompt name or URI as the upstream spells it. */
  readonly own: string;
}

/** An upstream with the prefix `""` shows prompts and resources as it spells them. */
export function qualifyUri(label: string, prefix: string | undefined, uri: string): string {
  if (prefix === "") return uri;
  return uri.startsWith(SKILL_SCHEME)
    ? `${UPSTREAM_SKILL}${label}/${uri.slice(SKILL_SCHEME.length)}`
    : `${UPSTREAM_URI}${label}/${uri}`;
}
export function qualifyName(label: string, prefix: string | undefined, name: string): string {
  return prefix === "" ? name : `${label}__${name}`;
}

/** Inverse of qualifyUri for prefixed upstreams; undefined for any other URI. */
export function splitUri(uri: string): Place | undefined {
  const skill = uri.startsWith(UPSTREAM_SKILL);
  if (!skill && !uri.startsWith(UPSTREAM_URI)) return undefined;
  const rest = uri.slice((skill ? UPSTREAM_SKILL : UPSTREAM_URI).length);
  const slash = rest.indexOf("/");
  if (slash <= 0) return undefined;
  return { label: rest.slice(0, slash), own: `${skill ? SKILL_SCHEME : ""}${rest.slice(slash + 1)}` };
}

/** Inverse of qualifyName: labels contain no `__` and do not end in `_`, so the first `__` after a label is the seam. */
export function splitName(name: string): Place | undefined {
  const seam = name.indexOf("__");
  return seam <= 0 ? undefined : { label: name.slice(0, seam), own: name.slice(seam + 2) };
}

/** Id of a kept result, or undefined where the URI is none of ours. */
export function resultId(uri: string): string | undefined {
  if (!uri.startsWith(RESULT_URI)) return undefined;
  const id = uri.slice(RESULT_URI.length);
  return id === "" ? undefined : id;
}
