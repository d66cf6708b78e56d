/**
 * Two objects, side by side: members, and what becomes of keys that are not declared.
 *
 * Owns: what differs between the keys of two branches.
 * Speaks: branches in, observations out through the walk.
 * Never: limits and lists (branches.ts), unions (walk.ts).
 */
import type { JsonObject, JsonValue } from "../../model/json.js";
import { ANY, isNever, tellingSlot } from "./node.js";
import type { Branch, Slot } from "./node.js";
import type { Extras } from "./observation.js";
import { pointerToken } from "./refs.js";
import { findRenames, type Member } from "./rename.js";
import { deeper, fragment, type At, type Walk } from "./step.js";

/** Members, keys that nobody declares, patterns and names of two objects. */
export function observeMembers(walk: Walk, x: Branch, y: Branch, at: At): void {
  const [before, after] = [membersOf(x), membersOf(y)];
  const removed = [...before.values()].filter((member) => !after.has(member.name));
  const added = [...after.values()].filter((member) => !before.has(member.name));
  const renames = walk.findsRenames ? findRenames(removed, added) : [];
  const renamed = new Map(renames.map(([from, to]) => [from, to]));
  const into = extrasOf(y);
  const over = extrasOf(x);
  for (const member of before.values()) {
    const here = memberAt(at, member.name);
    const kept = after.get(member.name);
    if (kept !== undefined) {
      observeKept(walk, member, kept, here);
      continue;
    }
    const to = renamed.get(member);
    const shown = (): JsonValue => fragment(member.node);
    if (to === undefined)
      walk.note({ kind: "member-removed", required: member.required, into: landing(walk, member, y, into) }, here, shown);
    else walk.note({ kind: "member-renamed", to: to.name, into, required: to.required }, here, shown, () => fragment(to.node));
  }
  const explained = new Set(renames.filter(([from, to]) => from.required || !to.required).map(([, to]) => to));
  for (const member of added) {
    if (explained.has(member)) continue;
    const hasDefault = member.node.fallback !== undefined;
    const here = memberAt(at, member.name);
    const was = isForbidden(x, member.name) ? "closed" : over;
    walk.note({ kind: "member-added", required: member.required, hasDefault, over: was }, here, undefined, () =>
      fragment(member.node),
    );
    // What the key could be before was said by the schema for other keys.
    const extra = x.additional?.force() ?? ANY;
    if (was === "typed") walk.nodes(extra, { ...member.node, fallback: extra.fallback }, here);
  }
  observeForbidden(walk, x, y, at);
  observeExtras(walk, x, y, at, over, into);
  observePatterned(walk, x, y, at);
  observeNames(walk, x, y, at);
}

/** Declared members, and those that are required without being declared. A member that may have no value is as good as undeclared. */
function membersOf(branch: Branch): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  const required = new Set(branch.required ?? []);
  for (const [name, slot] of branch.properties ?? []) {
    const node = slot.force();
    if (!isNever(node) || required.has(name)) members.set(name, { name, node, required: required.has(name) });
  }
  for (const name of required)
    if (!members.has(name)) members.set(name, { name, node: branch.additional?.force() ?? ANY, required: true });
  return members;
}

/** Keys that may have no value although other undeclared keys may: one more or one fewer. Declared ones were removed or added above. */
function observeForbidden(walk: Walk, x: Branch, y: Branch, at: At): void {
  const [before, after] = [forbiddenIn(x), forbiddenIn(y)];
  for (const name of after)
    if (!before.has(name) && !x.properties?.has(name) && extrasOf(x) !== "closed")
      walk.note(
        { kind: "extras-closed", wasMap: extrasOf(x) === "typed" },
        memberAt(at, name),
        () => true,
        () => false,
      );
  for (const name of before)
    if (!after.has(name) && !y.properties?.has(name) && extrasOf(y) !== "closed")
      walk.note(
        { kind: "extras-opened" },
        memberAt(at, name),
        () => false,
        () => true,
      );
}

function forbiddenIn(branch: Branch): ReadonlySet<string> {
  const names = [...(branch.properties ?? [])].filter(([, slot]) => isNever(slot.force())).map(([name]) => name);
  return new Set(names.filter((name) => !(branch.required ?? []).includes(name)));
}

function memberAt(at: At, name: string): At {
  return deeper(at, `properties/${pointerToken(name)}`, at.field === "" ? name : `${at.field}.${name}`);
}

function extraAt(at: At, token: string): At {
  return deeper(at, token, at.field === "" ? "*" : `${at.field}.*`);
}

function observeKept(walk: Walk, before: Member, after: Member, at: At): void {
  if (after.required && !before.required)
    walk.note(
      { kind: "member-required", hasDefault: after.node.fallback !== undefined },
      at,
      () => false,
      () => true,
    );
  if (before.required && !after.required)
    walk.note(
      { kind: "member-optional" },
      at,
      () => true,
      () => false,
    );
  walk.nodes(before.node, after.node, at);
}

function extrasOf(branch: Branch): Extras {
  const additional = tellingSlot(branch.additional);
  if (additional === undefined) return "open";
  return isNever(additional.force()) ? "closed" : "typed";
}

/** A removed member whose values the schema for other keys refuses is refused, whatever that schema lets through. */
function landing(walk: Walk, member: Member, y: Branch, into: Extras): Extras {
  if (isForbidden(y, member.name)) return "closed";
  if (into !== "typed" || y.additional === undefined) return into;
  return walk.covers(y.additional.force(), member.node, "member-removed") === "no" ? "closed" : "typed";
}

/** A key that is declared to have no value at all. */
function isForbidden(branch: Branch, name: string): boolean {
  const declared = branch.properties?.get(name);
  return declared !== undefined && isNever(declared.force());
}

function observeExtras(walk: Walk, x: Branch, y: Branch, at: At, over: Extras, into: Extras): void {
  const here = extraAt(at, "additionalProperties");
  if (over === "typed" && into === "typed") {
    walk.nodes(x.additional?.force() ?? ANY, y.additional?.force() ?? ANY, here);
    return;
  }
  if (over === into) return;
  const [before, after] = [(): JsonValue => extrasPart(x), (): JsonValue => extrasPart(y)];
  const wasMap = over === "typed" || isFreeForm(x, at);
  if (into === "closed" || over === "open") walk.note({ kind: "extras-closed", wasMap }, at, before, after);
  else walk.note({ kind: "extras-opened" }, at, before, after);
}

/** An object inside that declares no key at all is there for whatever keys are sent. One for all parameters says that there are none. */
function isFreeForm(branch: Branch, at: At): boolean {
  return at.field !== "" && (branch.properties?.size ?? 0) === 0;
}

/** As a schema that a recorded object can be tested against, which is what tells whether undeclared keys are sent. */
function extrasPart(branch: Branch): JsonValue {
  const declared = [...membersOf(branch).keys()].sort();
  const properties: JsonObject = Object.fromEntries(declared.map((name) => [name, {}]));
  const extra: JsonValue = branch.additional === undefined ? true : fragment(branch.additional.force());
  return { type: "object", properties, additionalProperties: extra };
}

function observePatterned(walk: Walk, x: Branch, y: Branch, at: At): void {
  const [before, after] = [x.patternProperties ?? new Map<string, Slot>(), y.patternProperties ?? new Map<string, Slot>()];
  let [lost, won] = [false, false];
  for (const [pattern, slot] of before) {
    const other = after.get(pattern);
    if (other === undefined) lost = true;
    else walk.nodes(slot.force(), other.force(), extraAt(at, `patternProperties/${pointerToken(pattern)}`));
  }
  for (const pattern of after.keys()) if (!before.has(pattern)) won = true;
  if (!lost && !won) return;
  const here = extraAt(at, "patternProperties");
  const shown = [(): JsonValue => [...before.keys()].sort(), (): JsonValue => [...after.keys()].sort()] as const;
  // Over an open object a pattern limits keys that were free; over a closed one it lets keys in.
  if ((won && extrasOf(x) !== "closed") || (lost && extrasOf(y) === "closed"))
    walk.note(
      { kind: "limit-tightened", keyword: "patternProperties", edge: true, loosenedToo: lost || extrasOf(x) === "closed" },
      here,
      ...shown,
    );
  else walk.note({ kind: "limit-loosened", keyword: "patternProperties" }, here, ...shown);
}

function observeNames(walk: Walk, x: Branch, y: Branch, at: At): void {
  const [a, b] = [x.names?.force() ?? ANY, y.names?.force() ?? ANY];
  if (walk.equal.nodes(a, b)) return;
  const [narrower, wider] = [walk.covers(b, a, "member-removed") === "no", walk.covers(a, b, "member-removed") === "no"];
  const keyword = "propertyNames";
  const [before, after] = [(): JsonValue => ({ [keyword]: fragment(a) }), (): JsonValue => ({ [keyword]: fragment(b) })];
  if (narrower) walk.note({ kind: "limit-tightened", keyword, edge: false, loosenedToo: wider }, at, before, after);
  else walk.note({ kind: "limit-loosened", keyword }, at, before, after);
}
