/**
 * What the `llm` manager remembers: how an endpoint wants to be asked, and answers of maintenance that still hold.
 *
 * Owns: the stored format.
 * Speaks: keys made by the manager, plain values.
 * Never: needed to start; losing it costs a few questions.
 */
import { z } from "zod";
import { defineFormat } from "./format.js";

export const managerMemoryFormat = defineFormat({
  kind: "manager-memory",
  version: 1,
  place: "state/manager.json",
  purpose: "What endpoints of models were found to take, and answers of maintenance that need not be paid for twice.",
  shape: { entries: z.record(z.string(), z.json()) },
});
