/**
 * The graph for others: graphology's own serialised form and GEXF (Gephi), both in an order that depends on the content alone.
 */
import { MultiDirectedGraph } from "graphology";
import { write } from "graphology-gexf";
import type { JsonObject } from "../model/json.js";
import type { DependencyGraph, EdgeFacts, NodeFacts } from "./graph.js";

/** Graphology's serialised graph: `{attributes, options, nodes: [{key, attributes}], edges: [{key, source, target, attributes}]}`. */
export function exportGraph(graph: DependencyGraph): JsonObject {
  const { nodes } = graph;
  return {
    attributes: {},
    options: { type: "directed", multi: true, allowSelfLoops: true },
    nodes: nodes
      .nodes()
      .sort()
      .map((key) => ({ key, attributes: plain(nodes.getNodeAttributes(key)) })),
    edges: nodes
      .edges()
      .sort()
      .map((key) => ({
        key,
        source: nodes.source(key),
        target: nodes.target(key),
        attributes: plain(nodes.getEdgeAttributes(key)),
      })),
  };
}

/** GEXF 1.2 with flat attributes: kinds, names, what is passed along. */
export function exportGexf(graph: DependencyGraph): string {
  const sorted = new MultiDirectedGraph<NodeFacts, EdgeFacts>();
  const { nodes } = graph;
  for (const key of nodes.nodes().sort()) sorted.addNode(printable(key), nodes.getNodeAttributes(key));
  for (const key of nodes.edges().sort()) {
    sorted.addDirectedEdgeWithKey(
      printable(key),
      printable(nodes.source(key)),
      printable(nodes.target(key)),
      nodes.getEdgeAttributes(key),
    );
  }
  return write(sorted, {
    formatNode: (_key, facts: NodeFacts) => ({
      label: printable(facts.name),
      attributes: {
        kind: facts.kind,
        present: facts.present,
        ...(facts.kind === "tool" ? { server: printable(facts.server) } : facts.tier === undefined ? {} : { tier: facts.tier }),
      },
    }),
    formatEdge: (_key, facts: EdgeFacts) => ({ attributes: { relation: facts.kind, carries: printable(carriesOf(facts)) } }),
  });
}

/** What an edge carries, in one line. */
function carriesOf(facts: EdgeFacts): string {
  switch (facts.kind) {
    case "requires":
      return [
        facts.params.length > 0 ? `sets ${facts.params.join(", ")}` : "",
        facts.reads.length > 0 ? `reads ${facts.reads.join(", ")}` : "",
      ]
        .filter((part) => part !== "")
        .join("; ");
    case "uses":
      return "";
    case "feeds":
      return facts.feeds.map((feed) => `${feed.field ?? "?"} → ${feed.param} (${feed.by})`).join(", ");
    case "lineage":
      return `${facts.link.kind} (${facts.link.level})`;
  }
}

/** XML 1.0 has no form for most control characters, escaped or not: they are spelt as `\u0001`. */
function printable(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function plain(facts: NodeFacts | EdgeFacts): JsonObject {
  return JSON.parse(JSON.stringify(facts)) as JsonObject;
}
