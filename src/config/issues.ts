/** What a check of the shape found, as a sentence for the person who wrote it. */
import type { z } from "zod";

export function describeIssue(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `It has to be ${article(issue.expected)}.`;
    case "invalid_value":
      return `It has to be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}.`;
    case "unrecognized_keys":
      return `There is no such member: ${issue.keys.join(", ")}.`;
    case "too_small":
    case "too_big":
      return `It is out of bounds (${issue.message}).`;
    case "invalid_union":
      return "It has none of the shapes it may have.";
    default:
      return `${issue.message}.`;
  }
}

function article(expected: string): string {
  const names: Record<string, string> = { record: "an object", object: "an object", array: "a list", int: "a whole number" };
  return names[expected] ?? `a ${expected}`;
}
