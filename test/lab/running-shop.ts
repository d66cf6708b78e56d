import { createShop, type WorldPart } from "../../src/lab/worlds/shop/shop.js";
import { splitToolKey } from "../../src/model/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import type { ShopState } from "./tasks.js";

/** Both upstreams of the shop in this process, called by tool key. */
export interface RunningShop {
  call(tool: string, args: JsonObject): JsonObject;
  state(): ShopState;
  parts(): readonly WorldPart[];
}

export function runShop(version: number): RunningShop {
  const parts = { shop: createShop({ part: "shop", version }), depot: createShop({ part: "depot", version }) };
  return {
    call: (tool, args) => {
      const { label, name } = splitToolKey(tool);
      return (label as string) === "shop" ? parts.shop.call(name, args) : parts.depot.call(name, args);
    },
    state: () => ({ shop: parts.shop.state(), depot: parts.depot.state() }),
    parts: () => [parts.shop, parts.depot],
  };
}

export const said = (result: JsonObject): string => {
  const content = result["content"];
  const first = Array.isArray(content) ? content[0] : undefined;
  return isJsonObject(first) && typeof first["text"] === "string" ? first["text"] : "";
};

/** The first value of that name anywhere in a result, depth first, in the order the result shows it. */
export function findField(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = findField(item, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  for (const inner of Object.values(value)) {
    const found = findField(inner, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
