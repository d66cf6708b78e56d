/**
 * What Prometheus may know of the agents' side.
 *
 * Owns: metric names and labels; bounded label values only (never a task, a session or an argument).
 * Speaks: prom-client.
 * Never: decides anything by a metric.
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { FaultCode } from "../../model/fault.js";
import { EDIT_OUTCOMES } from "../../model/maintenance.js";
import type { Operations } from "../../model/operations.js";
import type { Exposure, Outcome } from "../mcp/tools.js";

export interface Metrics {
  readonly registry: Registry;
  call(exposure: Exposure | "rest", operation: string, outcome: Outcome, seconds: number): void;
  fault(code: FaultCode): void;
  text(): Promise<{ readonly type: string; readonly text: string }>;
}

/** Seconds; calls of tools that ask people or compile things take minutes. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const VIEWS = new Set(["start_task", "retrieve_tools", "explore_capabilities"]);

export function createMetrics(operations: Operations, live: () => { sessions: number; held: number }, given?: Registry): Metrics {
  const registry = given ?? new Registry();
  const registers = [registry];
  const calls = new Counter({
    name: "steward_calls_total",
    help: "Calls by endpoint, operation and how they ended.",
    labelNames: ["endpoint", "operation", "outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "steward_call_seconds",
    help: "How long calls took, upstream time included.",
    labelNames: ["endpoint", "operation"],
    buckets: BUCKETS,
    registers,
  });
  const views = new Counter({
    name: "steward_views_total",
    help: "Views answered.",
    labelNames: ["operation"],
    registers,
  });
  const faults = new Counter({
    name: "steward_faults_total",
    help: "Faults answered, by code.",
    labelNames: ["code"],
    registers,
  });
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge("steward_sessions", "Open legacy sessions.", () => live().sessions);
  gauge("steward_held_calls", "Calls that wait for an agent's answer.", () => live().held);
  gauge("steward_catalog_version", "The present catalog version.", () => operations.health().catalog);
  gauge("steward_library_revision", "The present library revision.", () => operations.health().library);
  gauge("steward_tools", "Tools in the catalog.", () => operations.health().tools);
  gauge("steward_skills_active", "Active skills.", () => operations.health().skills.active);
  gauge("steward_skills_inactive", "Inactive skills.", () => operations.health().skills.inactive);
  new Gauge({
    name: "steward_upstreams",
    help: "Upstreams by presence.",
    labelNames: ["presence"],
    registers,
    collect() {
      this.reset();
      for (const { presence } of operations.health().upstreams) this.inc({ presence });
    },
  });
  gauge(
    "steward_maintenance_runs",
    "Maintenance runs since the start, dry ones left out.",
    () => operations.health().maintenance.runs,
  );
  new Gauge({
    name: "steward_maintenance_edits",
    help: "Edits of these runs by what became of them.",
    labelNames: ["outcome"],
    registers,
    collect() {
      const { maintenance } = operations.health();
      for (const outcome of EDIT_OUTCOMES) this.set({ outcome }, maintenance[outcome]);
    },
  });
  return {
    registry,
    call(endpoint, operation, outcome, took) {
      calls.inc({ endpoint, operation, outcome });
      seconds.observe({ endpoint, operation }, took);
      if (VIEWS.has(operation) && outcome === "ok") views.inc({ operation });
    },
    fault: (code) => faults.inc({ code }),
    text: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}
