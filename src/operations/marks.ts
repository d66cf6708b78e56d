/** Marks of tools, in a sentence each. */
export const MARK_NOTES: Readonly<Record<string, string>> = Object.freeze({
  held: "Held after a safety change: it cannot be called until a person approves it.",
  review: "Its texts changed and nobody has looked at the difference yet.",
  unavailable: "Its upstream cannot be reached at the moment; a call makes one attempt.",
  "not-offered": "Its upstream is parked or disabled.",
});
