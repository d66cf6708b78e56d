/** Reading answers of `/v1` without trusting their shape: what is absent shows as an empty text. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item): item is JsonObject => isJsonObject(item)) : [];
}

export function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map((item) => textOf(item)) : [];
}

export function textOf(value: JsonValue | undefined): string {
  return value === undefined || value === null
    ? ""
    : typeof value === "string"
      ? value
      : typeof value === "object"
        ? JSON.stringify(value)
        : String(value);
}

export function countOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
