import fc from "fast-check";
import { MultiDirectedGraph } from "graphology";
import { hasCycle } from "graphology-dag";
import { describe, expect, it } from "vitest";
import { exportGexf, exportGraph } from "../../src/graph/export.js";
import { flowsOf, type ObservedFlow } from "../../src/graph/flows.js";
import { buildGraph, moveGraph, plannedGraph, tendGraph, type DependencyGraph } from "../../src/graph/graph.js";
import { closure, findCycle, impactOf, pathsOf, skillsNaming, skillsReaching, skillsUsing } from "../../src/graph/reach.js";
import type { SkillName, ToolKey } from "../../src/model/ids.js";
import type { LineageLink } from "../../src/model/lineage.js";
import type { Skill } from "../../src/model/skill.js";
import type { Tool } from "../../src/model/tool.js";
import { SHOP_SKILLS, SHOP_TOOLS, sampleSkill, sampleTool } from "../provision/sample.js";

const canonical = (graph: DependencyGraph): string => JSON.stringify(exportGraph(graph));
const shop = (): DependencyGraph => buildGraph({ skills: SHOP_SKILLS, tools: SHOP_TOOLS, links: [] });
const link = (id: string, from: string, to: string[], more: Partial<LineageLink> = {}): LineageLink => ({
  id,
  kind: to.length > 1 ? "split" : "renamed",
  from,
  to,
  atVersion: 2,
  level: "certain",
  params: {},
  fixedArguments: {},
  score: 1,
  evidence: [],
  ...more,
});

describe("law: a graph that was moved is the graph that is built anew", () => {
  const keys = ["a/get_order", "a/search_orders", "a/cancel_order", "a/create_order", "b/get_order", "b/list_items", "a/id_user"];
  const fields = ["order_id", "order_ids", "item_id", "user_id", "id", "sales_order_id", "note"];
  const toolOf = (key: string, input: string[], output: string[] | undefined): Tool =>
    sampleTool(key, {
      input: Object.fromEntries(input.map((field) => [field, "string"])),
      ...(output === undefined ? {} : { output: Object.fromEntries(output.map((field) => [field, "string"])) }),
    });
  const names = ["plan-a", "plan-b", "atomic-a", "atomic-b", "atomic-c"];
  const someFields = fc.subarray(fields, { maxLength: 3 });
  const move = fc.oneof(
    fc.record({
      kind: fc.constant("set-tool" as const),
      key: fc.constantFrom(...keys),
      input: someFields,
      output: fc.option(someFields, { nil: undefined }),
    }),
    fc.record({ kind: fc.constant("drop-tool" as const), key: fc.constantFrom(...keys) }),
    fc.record({
      kind: fc.constant("set-skill" as const),
      name: fc.constantFrom(...names),
      tools: fc.subarray(keys, { maxLength: 3 }),
      uses: fc.subarray(names, { maxLength: 2 }),
    }),
    fc.record({ kind: fc.constant("drop-skill" as const), name: fc.constantFrom(...names) }),
    fc.record({
      kind: fc.constant("links" as const),
      links: fc.array(
        fc.record({
          id: fc.constantFrom("1", "2", "3"),
          from: fc.constantFrom(...keys, "a/gone"),
          to: fc.subarray(keys, { minLength: 1, maxLength: 2 }),
          rejected: fc.boolean(),
        }),
        { maxLength: 3 },
      ),
    }),
    fc.record({
      kind: fc.constant("flows" as const),
      flows: fc.array(
        fc.record({
          from: fc.constantFrom(...keys),
          to: fc.constantFrom(...keys),
          field: fc.constantFrom("x.id", "y"),
          param: fc.constantFrom(...fields),
        }),
        { maxLength: 4 },
      ),
    }),
  );

  it("holds over random histories of tools, skills, links and flows, also while the graph is still being built", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 25 }), fc.array(fc.nat(4)), fc.boolean(), (history, tended, planned) => {
        const tools = new Map<string, Tool>();
        const skills = new Map<string, Skill>();
        let links: LineageLink[] = [];
        let flows: ObservedFlow[] = [];
        const first = { skills: SHOP_SKILLS.slice(0, 2), tools: SHOP_TOOLS.slice(0, 3), links: [] };
        const moved = planned ? plannedGraph(first) : buildGraph(first);
        for (const skill of first.skills) skills.set(skill.name, skill);
        for (const tool of first.tools) tools.set(tool.key, tool);
        for (const [at, step] of history.entries()) {
          tendGraph(moved, tended[at] ?? 0);
          if (step.kind === "set-tool") {
            const tool = toolOf(step.key, step.input, step.output);
            tools.set(step.key, tool);
            moveGraph(moved, { tools: { set: [tool] } });
          } else if (step.kind === "drop-tool") {
            tools.delete(step.key);
            moveGraph(moved, { tools: { drop: [step.key as ToolKey] } });
          } else if (step.kind === "set-skill") {
            const skill = sampleSkill(step.name, { requires: step.tools, uses: step.uses });
            skills.set(step.name, skill);
            moveGraph(moved, { skills: { set: [skill] } });
          } else if (step.kind === "drop-skill") {
            skills.delete(step.name);
            moveGraph(moved, { skills: { drop: [step.name as SkillName] } });
          } else if (step.kind === "links") {
            const byId = new Map(
              step.links.map((each) => [
                each.id,
                link(each.id, each.from, each.to, each.rejected ? { rejected: { by: "p", at: "t" } } : {}),
              ]),
            );
            links = [...byId.values()];
            moveGraph(moved, { links });
          } else {
            flows = step.flows as ObservedFlow[];
            moveGraph(moved, { flows });
          }
        }
        const built = buildGraph({ skills: skills.values(), tools: tools.values(), links, flows });
        if (tended.length % 2 === 1) while (!tendGraph(moved, 3));
        expect(canonical(moved)).toBe(canonical(built));
      }),
      { numRuns: 400 },
    );
  });

  it("holds for one move of everything at once, in any order of the input", () => {
    const graph = shop();
    const removed = SHOP_TOOLS.slice(0, 4).map((tool) => tool.key);
    moveGraph(graph, {
      tools: { drop: removed },
      skills: { drop: ["plan-cancel-order" as SkillName] },
      links: [link("1", "shop/get_order", ["shop/list_orders"])],
    });
    moveGraph(graph, { tools: { set: [...SHOP_TOOLS].reverse() }, skills: { set: [...SHOP_SKILLS].reverse() }, links: [] });
    expect(canonical(graph)).toBe(canonical(shop()));
  });
});

describe("the cost of a move", () => {
  it("is that of what hangs on what moved, however large the graph", () => {
    const tools = Array.from({ length: 400 }, (_, i) => [
      sampleTool(`s${i}/list_orders`, { output: { order_id: "string" } }),
      sampleTool(`s${i}/cancel_order`, { input: { order_id: "string" } }),
      sampleTool(`s${i}/ship_order`, { input: { order_id: "string" } }),
    ]).flat();
    const skills = Array.from({ length: 400 }, (_, i) => sampleSkill(`atomic-${i}`, { requires: [`s${i}/cancel_order`] }));
    const graph = buildGraph({ skills, tools, links: [] });
    let touched = 0;
    for (const event of [
      "edgeAdded",
      "edgeDropped",
      "edgeAttributesUpdated",
      "nodeAdded",
      "nodeDropped",
      "nodeAttributesUpdated",
    ] as const) {
      graph.nodes.on(event, () => void touched++);
    }
    const count = (move: Parameters<typeof moveGraph>[1]): number => {
      touched = 0;
      moveGraph(graph, move);
      return touched;
    };
    const same = tools[3] ?? sampleTool("x/y");
    expect(count({ tools: { set: [same] } })).toBe(1);
    // The tool, its two feeds.
    expect(count({ tools: { drop: [same.key] } })).toBe(4);
    expect(count({ tools: { set: [same] } })).toBe(3);
    expect(count({ skills: { set: skills.slice(7, 8) } })).toBe(3);
    expect(count({})).toBe(0);
  });
});

describe("edges from tool to tool", () => {
  const feedsOf = (graph: DependencyGraph): string[] =>
    graph.nodes
      .mapEdges((_key, facts, source, target) =>
        facts.kind === "feeds"
          ? facts.feeds.map((feed) => `${source.slice(5)} ${feed.field ?? "?"} -> ${target.slice(5)} ${feed.param} (${feed.by})`)
          : [],
      )
      .flat()
      .sort();

  it("come from output fields, nested ones by the name of what is around them", () => {
    expect(feedsOf(shop())).toEqual([
      "depot/search_products products[].id -> depot/get_stock product_id (schema)",
      "shop/find_customer customer_id -> shop/list_orders customer_id (schema)",
      "shop/get_order item_ids[] -> shop/create_return item_ids (schema)",
      "shop/list_orders orders[].id -> shop/cancel_order order_id (schema)",
      "shop/list_orders orders[].id -> shop/create_return order_id (schema)",
      "shop/list_orders orders[].id -> shop/get_order order_id (schema)",
      "shop/list_orders orders[].id -> shop/list_payments order_id (schema)",
      "shop/list_payments payments[].id -> shop/refund_payment payment_id (schema)",
    ]);
  });

  it("come from names where a producer has no output schema, for any style of name", () => {
    const graph = buildGraph({
      skills: [],
      links: [],
      tools: [
        sampleTool("crm/searchContacts", { input: { text: "string" } }),
        sampleTool("crm/contact-delete", { input: { contactId: "string" } }),
        sampleTool("crm/contacts.get", { input: { id: "string" } }),
        sampleTool("crm/create_sales_order", { input: { contact_id: "string" } }),
        sampleTool("crm/close_order", { input: { order_number: "string" } }),
      ],
    });
    expect(feedsOf(graph)).toEqual([
      "crm/create_sales_order ? -> crm/close_order order_number (name)",
      "crm/searchContacts ? -> crm/contact-delete contactId (name)",
      "crm/searchContacts ? -> crm/contacts.get id (name)",
      "crm/searchContacts ? -> crm/create_sales_order contact_id (name)",
    ]);
  });

  it("never join two upstreams by a name alone, but by what was seen in calls", () => {
    const tools = [
      sampleTool("a/list_users", { output: { user_id: "string" } }),
      sampleTool("b/delete_user", { input: { user_id: "string" } }),
    ];
    expect(feedsOf(buildGraph({ skills: [], tools, links: [] }))).toEqual([]);
    const from = { seq: 1, path: "/users/0/id", tool: "a/list_users" };
    const call = { tool: "b/delete_user", flows: [{ to: "/args/user_id", from }] };
    expect(flowsOf({ ...call, isError: true })).toEqual([]);
    expect(flowsOf({ ...call, tool: "a/list_users", isError: false })).toEqual([]);
    const flows = flowsOf({ ...call, isError: false });
    expect(flows).toEqual([{ from: "a/list_users", field: "users[].id", to: "b/delete_user", param: "user_id" }]);
    expect(feedsOf(buildGraph({ skills: [], tools, links: [], flows }))).toEqual([
      "a/list_users users[].id -> b/delete_user user_id (observed)",
    ]);
  });

  it("do not take as a source who must be told the value, or a person's name", () => {
    const tools = [
      sampleTool("a/get_user", { input: { user_id: "string" }, output: { user_id: "string", first_name: "string" } }),
      sampleTool("a/find_user", { input: { first_name: "string" }, output: { user_id: "string" } }),
    ];
    expect(feedsOf(buildGraph({ skills: [], tools, links: [] }))).toEqual(["a/find_user user_id -> a/get_user user_id (schema)"]);
  });

  it("name a bounded number of producers for a parameter, the likeliest first", () => {
    const producers = Array.from({ length: 40 }, (_, i) => sampleTool(`a/get_part_${i}`, { output: { part_id: "string" } }));
    const search = sampleTool("a/search_parts", { output: { part_id: "string" } });
    const consumer = sampleTool("a/drop_part", { input: { part_id: "string" } });
    const graph = buildGraph({ skills: [], tools: [...producers, search, consumer], links: [] });
    const suppliers = closure(graph, consumer.key);
    expect(suppliers).toHaveLength(6);
    expect(suppliers[0]).toEqual({ tool: "a/search_parts", supplies: "part_id" });
  });

  it("follow local references in output schemas and end at a recursive or a lost one [C11]", () => {
    const tree: Tool = sampleTool("a/list_nodes", {
      outputSchema: {
        type: "object",
        properties: { nodes: { type: "array", items: { $ref: "#/$defs/node" } }, lost: { $ref: "#/$defs/nowhere" } },
        $defs: {
          node: {
            type: "object",
            properties: { id: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
          },
        },
      },
    });
    const graph = buildGraph({
      skills: [],
      tools: [tree, sampleTool("a/delete_node", { input: { node_id: "string" } })],
      links: [],
    });
    expect(feedsOf(graph)).toEqual(["a/list_nodes nodes[].id -> a/delete_node node_id (schema)"]);
  });
});

describe("impact", () => {
  it("reaches the skills that name a tool and those that build on them", () => {
    expect(skillsReaching(shop(), ["shop/list_payments" as ToolKey])).toEqual(["atomic-refund-payment", "plan-cancel-order"]);
    expect(skillsReaching(shop(), ["shop/nothing" as ToolKey])).toEqual([]);
    expect(skillsNaming(shop(), "shop/cancel_order" as ToolKey, "tool")).toEqual(["tool-shop-cancel-order"]);
    expect(skillsUsing(shop(), "atomic-look-up-order" as SkillName)).toEqual(["plan-cancel-order", "plan-return-items"]);
  });

  it("looks at nothing but what it reaches", () => {
    const others = Array.from({ length: 2_000 }, (_, i) => sampleSkill(`atomic-other-${i}`, { requires: ["shop/get_order"] }));
    const graph = buildGraph({ skills: [...SHOP_SKILLS, ...others], tools: SHOP_TOOLS, links: [] });
    expect(impactOf(graph, ["tool:shop/list_payments"])).toEqual({
      skills: ["atomic-refund-payment", "plan-cancel-order"],
      visited: 3,
    });
  });

  it("still reaches the skills that wait for a tool which left, so that its return can revive them", () => {
    const graph = shop();
    const key = "depot/get_stock" as ToolKey;
    moveGraph(graph, { tools: { drop: [key] } });
    expect(skillsReaching(graph, [key])).toEqual(["atomic-read-stock", "plan-check-stock"]);
    moveGraph(graph, { skills: { drop: ["atomic-read-stock", "plan-check-stock"] as SkillName[] } });
    expect(graph.nodes.hasNode(`tool:${key}`)).toBe(false);
  });
});

describe("questions", () => {
  it("supplies only what the request does not give", () => {
    const graph = shop();
    expect(closure(graph, "shop/create_return" as ToolKey)).toEqual([
      { tool: "shop/get_order", supplies: "item_ids" },
      { tool: "shop/list_orders", supplies: "order_id" },
    ]);
    expect(closure(graph, "shop/create_return" as ToolKey, (param) => param === "order_id")).toEqual([
      { tool: "shop/get_order", supplies: "item_ids" },
    ]);
    expect(closure(graph, "shop/nothing" as ToolKey)).toEqual([]);
  });

  it("tells what a skill rests on, each by one shortest way", () => {
    const graph = shop();
    moveGraph(graph, { tools: { drop: ["shop/cancel_order" as ToolKey] } });
    expect(
      pathsOf(graph, "plan-cancel-order" as SkillName).map((rest) => `${rest.path.join(" > ")}${rest.present ? "" : " (gone)"}`),
    ).toEqual([
      "plan-cancel-order > atomic-cancel-order",
      "plan-cancel-order > atomic-look-up-order",
      "plan-cancel-order > atomic-refund-payment",
      "plan-cancel-order > atomic-cancel-order > shop/cancel_order (gone)",
      "plan-cancel-order > atomic-cancel-order > shop/get_order",
      "plan-cancel-order > atomic-refund-payment > shop/list_payments",
      "plan-cancel-order > atomic-refund-payment > shop/refund_payment",
    ]);
    expect(pathsOf(graph, "plan-nothing" as SkillName)).toEqual([]);
  });

  it("shows a circle of skills as its path", () => {
    const skills = [sampleSkill("a", { uses: ["b"] }), sampleSkill("b", { uses: ["x", "c"] }), sampleSkill("c", { uses: ["b"] })];
    expect(findCycle(skills)).toEqual(["b", "c", "b"]);
    expect(findCycle([sampleSkill("a", { uses: ["a"] })])).toEqual(["a", "a"]);
    expect(findCycle(SHOP_SKILLS)).toBeUndefined();
    expect(findCycle(Array.from({ length: 20_000 }, (_, i) => sampleSkill(`s-${i}`, { uses: [`s-${i + 1}`] })))).toBeUndefined();
  });

  it("finds a circle exactly where graphology-dag finds one", () => {
    const names = ["a", "b", "c", "d", "e"];
    fc.assert(
      fc.property(fc.array(fc.subarray(names), { minLength: 5, maxLength: 5 }), (uses) => {
        const skills = names.map((name, i) => sampleSkill(name, { uses: uses[i] ?? [] }));
        const cycle = findCycle(skills);
        expect(cycle !== undefined).toBe(hasCycle(buildGraph({ skills, tools: [], links: [] }).nodes));
        if (cycle === undefined) return;
        expect(cycle[0]).toBe(cycle.at(-1));
        for (let i = 1; i < cycle.length; i++)
          expect(skills.find((skill) => skill.name === cycle[i - 1])?.contract.uses).toContain(cycle[i]);
      }),
    );
  });
});

describe("exports", () => {
  it("are graphology's own form: it reads them back, and they depend on the content alone", () => {
    const graph = buildGraph({ skills: SHOP_SKILLS, tools: SHOP_TOOLS, links: [link("1", "shop/old", ["shop/get_order"])] });
    const exported = exportGraph(graph);
    const back = MultiDirectedGraph.from(exported as never);
    expect([back.order, back.size]).toEqual([graph.nodes.order, graph.nodes.size]);
    expect(
      canonical(
        buildGraph({
          skills: [...SHOP_SKILLS].reverse(),
          tools: [...SHOP_TOOLS].reverse(),
          links: [link("1", "shop/old", ["shop/get_order"])],
        }),
      ),
    ).toBe(JSON.stringify(exported));
  });

  it("are GEXF with escaped names, whatever an upstream calls its tools", () => {
    const graph = buildGraph({ skills: [], tools: [sampleTool('a/<b>&"c\u0001'), ...SHOP_TOOLS], links: [] });
    const text = exportGexf(graph);
    expect(text).toContain("&lt;b");
    expect(text).toContain("orders[].id → order_id (schema)");
    expect(text).not.toMatch(/[\u0000-\u0008]/);
  });
});
