/**
 * The identities of the domain, branded so that one cannot be passed for another.
 *
 * Owns: what a tool key, a label, a skill name and the ids of episodes and views look like.
 * Speaks: strings only.
 * Never: exposed names (a policy of the catalog room) or file names (the store's).
 */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** `label/tool-name`, split at the first slash: the identity of a tool. */
export type ToolKey = Branded<"ToolKey">;
/** Label of one configured upstream: `[A-Za-z0-9._-]{1,32}`, no `__`, not ending in `_`. */
export type UpstreamLabel = Branded<"UpstreamLabel">;
/** Lower-case hex sha256, 64 characters. */
export type Digest = Branded<"Digest">;
/** ASCII kebab, equal to the skill's folder, at most 64 characters. */
export type SkillName = Branded<"SkillName">;
/** `ep_` + opaque. */
export type EpisodeId = Branded<"EpisodeId">;
/** `vw_` + opaque. */
export type ViewId = Branded<"ViewId">;
/** The name an agent sees for a tool: `[a-zA-Z0-9_-]`, a function of the tool key alone. */
export type ExposedName = Branded<"ExposedName">;

/** Number of an immutable catalog snapshot; 0 = no catalog yet. */
export type CatalogVersion = number;
/** Number of a library revision; 0 = empty library. */
export type LibraryRevision = number;
/** ISO-8601 UTC instant, millisecond precision. Enters the core only inside events. */
export type Instant = string;

export function toolKey(label: string, name: string): ToolKey {
  return `${label}/${name}` as ToolKey;
}

/** Splits a tool key at its first slash. A key without one has an empty label. */
export function splitToolKey(key: string): { label: UpstreamLabel; name: string } {
  const slash = key.indexOf("/");
  return slash < 0
    ? { label: "" as UpstreamLabel, name: key }
    : { label: key.slice(0, slash) as UpstreamLabel, name: key.slice(slash + 1) };
}
