/**
 * Reading a JSON Schema document into nodes.
 *
 * Owns: references, combinators, nullable forms, defaults; laziness and the bounds that keep a hostile schema finite.
 * Speaks: JSON Schema, drafts 04 to 2020-12.
 * Never: throws. What cannot be understood becomes an opaque assertion that is compared and not reasoned about.
 */
import { canonicalJson, sha256 } from "../canonical.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { joinNodes, makeNode, meetNodes } from "./combine.js";
import { LEVEL_LIMIT } from "./effort.js";
import { readKeywords } from "./keywords.js";
import { ANY, ANY_SLOT, isAny, KINDS, NEVER, NEVER_SLOT, PLAIN } from "./node.js";
import type { Branch, Node, Opaque, Slot } from "./node.js";
import { referencesOf, resourceOf } from "./refs.js";

/** Nodes read from one document at most; beyond, the rest is opaque. Real schemas stay below 2,000. */
const NODE_LIMIT = 20_000;

const NULL_NODE: Node = Object.freeze({ ...NEVER, branches: Object.freeze([PLAIN.null]) });

/** Reads a whole document; the places inside are read when asked for. */
export function readSchema(root: JsonValue): Slot {
  return new Reader(root).slot(root, root);
}

interface MeetSlot extends Slot {
  /** Ids of the places it intersects, sorted. */
  readonly parts: readonly Slot[];
}

/** One document being read. A class, since everything it remembers belongs together and dies together. */
class Reader {
  private readonly references;
  private readonly slots = new Map<JsonObject, Slot>();
  private readonly meets = new Map<string, MeetSlot>();
  private readonly nodes = new Map<JsonObject, Node>();
  /** Schemas being read now, outermost first. */
  private readonly open: JsonObject[] = [];
  /** Index in `open` of the outermost schema met again inside itself; what is read under it holds only there. */
  private reentered = Number.POSITIVE_INFINITY;
  private nextId = 3;
  private count = 0;

  constructor(root: JsonValue) {
    this.references = referencesOf(root);
  }

  slot(schema: JsonValue, parent: JsonValue): Slot {
    if (typeof schema === "boolean") return schema ? ANY_SLOT : NEVER_SLOT;
    if (!isJsonObject(schema)) return ANY_SLOT;
    const known = this.slots.get(schema);
    if (known !== undefined) return known;
    const resource = resourceOf(schema, parent);
    let node: Node | undefined;
    const slot: Slot = { id: this.nextId++, force: () => (node ??= this.readAlone(schema, resource)) };
    this.slots.set(schema, slot);
    return slot;
  }

  /** Forced from outside: nothing that another walk has open may colour the result. */
  private readAlone(schema: JsonObject, resource: JsonValue): Node {
    const open = this.open.splice(0);
    const reentered = this.reentered;
    this.reentered = Number.POSITIVE_INFINITY;
    const node = this.read(schema, resource) ?? ANY;
    this.open.push(...open);
    this.reentered = reentered;
    return node;
  }

  /** undefined: the schema is met inside itself with nothing between, and adds nothing there. */
  private read(schema: JsonValue, resource: JsonValue): Node | undefined {
    if (schema === false) return NEVER;
    if (!isJsonObject(schema)) return ANY;
    const known = this.nodes.get(schema);
    if (known !== undefined) return known;
    const depth = this.open.indexOf(schema);
    if (depth >= 0) {
      this.reentered = Math.min(this.reentered, depth);
      return undefined;
    }
    this.count += 1;
    if (this.count > NODE_LIMIT || this.open.length >= LEVEL_LIMIT) return opaqueNode("$large", sha256(canonicalJson(schema)));
    this.open.push(schema);
    const node = this.readObject(schema, resource);
    this.open.pop();
    if (this.reentered >= this.open.length) {
      this.reentered = Number.POSITIVE_INFINITY;
      this.nodes.set(schema, node ?? ANY);
    }
    return node;
  }

  private readObject(schema: JsonObject, resource: JsonValue): Node | undefined {
    const text = typeof schema["description"] === "string" ? schema["description"] : undefined;
    if (schema["not"] !== undefined && acceptsAll(schema["not"])) return NEVER;
    const own = readKeywords(schema, (inner) => this.slot(inner, resource));
    const fallback: JsonValue | undefined = schema["default"];
    let node: Node = own === ANY.branches ? ANY : makeNode(own, false, undefined, undefined);
    let [parts, again] = [0, 0];
    for (const part of this.parts(schema, resource)) {
      parts += 1;
      if (part === undefined) again += 1;
      else node = this.meet(node, part, schema);
    }
    // Nothing but a way back to a schema that is being read: a union gains nothing by it.
    if (again > 0 && again === parts && own === ANY.branches) return undefined;
    if (schema["nullable"] === true) node = joinNodes([node, NULL_NODE], node.oneOf);
    if (fallback === undefined && text === undefined) return node;
    return makeNode(node.branches, node.oneOf, fallback === undefined ? node.fallback : fallback, text ?? node.text);
  }

  /** What is to hold beside the object's own keywords; undefined for what is being read already. */
  private *parts(schema: JsonObject, resource: JsonValue): Iterable<Node | undefined> {
    for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      const reference = schema[keyword];
      if (typeof reference !== "string") continue;
      const place = this.references.resolve(reference, resource);
      yield place === undefined
        ? opaqueNode("$ref", reference)
        : this.read(place.schema, resourceOf(place.schema, place.resource));
    }
    for (const member of membersOf(schema, "allOf")) yield this.read(member, resourceOf(member, resource));
    for (const keyword of ["anyOf", "oneOf"]) {
      const members = membersOf(schema, keyword);
      if (members.length === 0) continue;
      const nodes = members
        .map((member) => this.read(member, resourceOf(member, resource)))
        .filter((node): node is Node => node !== undefined);
      yield nodes.length === 0 ? undefined : joinNodes(nodes, keyword === "oneOf" && nodes.length > 1);
    }
  }

  private meet(a: Node, b: Node, schema: JsonObject): Node {
    return meetNodes(a, b, (x, y) => this.meetSlots(x, y)) ?? opaqueNode("$large", sha256(canonicalJson(schema)));
  }

  private meetSlots(a: Slot, b: Slot): Slot {
    if (a === NEVER_SLOT || b === NEVER_SLOT) return NEVER_SLOT;
    if (a === ANY_SLOT) return b;
    if (b === ANY_SLOT) return a;
    const parts = [...new Set([...partsOf(a), ...partsOf(b)])].sort((x, y) => x.id - y.id);
    const only = parts[0];
    if (parts.length === 1 && only !== undefined) return only;
    const key = parts.map((part) => part.id).join("&");
    const known = this.meets.get(key);
    if (known !== undefined) return known;
    let node: Node | undefined;
    const slot: MeetSlot = { id: this.nextId++, parts, force: () => (node ??= this.meetParts(parts)) };
    this.meets.set(key, slot);
    return slot;
  }

  private meetParts(parts: readonly Slot[]): Node {
    this.count += 1;
    if (this.count > NODE_LIMIT) return opaqueNode("$large", "intersection");
    let node = ANY;
    for (const part of parts) {
      const next = meetNodes(node, part.force(), (x, y) => this.meetSlots(x, y));
      if (next === undefined) return opaqueNode("$large", "intersection");
      node = next;
    }
    return node;
  }
}

function partsOf(slot: Slot): readonly Slot[] {
  return "parts" in slot ? (slot as MeetSlot).parts : [slot];
}

function membersOf(schema: JsonObject, keyword: string): readonly JsonValue[] {
  const members = schema[keyword];
  return Array.isArray(members) ? members.filter((member) => typeof member === "boolean" || isJsonObject(member)) : [];
}

function acceptsAll(schema: JsonValue): boolean {
  return schema === true || (isJsonObject(schema) && Object.keys(schema).length === 0);
}

/** Accepts what is not known: every kind, under one assertion that nobody can decide. */
function opaqueNode(keyword: string, data: JsonValue): Node {
  const opaque: readonly Opaque[] = [{ keyword, slots: [], data }];
  const branches: Branch[] = KINDS.map((kind) => ({ kind, opaque }));
  return { branches, oneOf: false, fallback: undefined, text: undefined };
}

/** True where the document's root accepts everything: a contract that is not known, rather than one that takes anything. */
export function isUnknownContract(slot: Slot): boolean {
  return isAny(slot.force());
}
