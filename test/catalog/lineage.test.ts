import { describe, expect, it } from "vitest";
import { findLineage, lineageReport, supersedeHints } from "../../src/catalog/lineage.js";
import { linkId } from "../../src/catalog/lineage/link.js";
import { lineageLinkSchema } from "../../src/model/lineage.js";
import type { LineageLink } from "../../src/model/lineage.js";
import type { Tool } from "../../src/model/tool.js";
import { HELPDESK } from "./lineage-catalogs.js";
import { movement, renamed, schema, tool } from "./lineage-tools.js";

const CASE = { "case_id!": "string Number of the case, e.g. C-17." };

/** The helpdesk with some tools replaced by others. */
function helpdesk(without: readonly string[], plus: readonly Tool[] = []): readonly Tool[] {
  return [...HELPDESK.filter((one) => !without.includes(one.key)), ...plus];
}
function only(links: readonly LineageLink[]): LineageLink {
  const [link] = links;
  if (link === undefined || links.length > 1) throw new Error(`expected one link, got ${JSON.stringify(links)}`);
  return link;
}

describe("a tool under another name", () => {
  const get = HELPDESK.find((one) => one.name === "get_case") ?? HELPDESK[0];
  if (get === undefined) throw new Error("no helpdesk");

  it("is certain where only separators and case changed, and texts or parameters bear it out", () => {
    const next = tool("desk/getCase", "Reads a case, its history and its people.", { "number!": "string Number." });
    const link = only(findLineage(movement(HELPDESK, helpdesk([get.key], [next]))));
    expect(link).toMatchObject({
      kind: "renamed",
      level: "certain",
      from: "desk/get_case",
      to: ["desk/getCase"],
      fixedArguments: {},
    });
    expect(link.evidence).toContain("the same name apart from separators and case");
  });

  it("is proposed where only the spelling speaks for it, and certain where it goes with others", () => {
    const next = tool("desk/getCase", "Everything known about a support request.", { "number!": "string Number." });
    expect(only(findLineage(movement(HELPDESK, helpdesk([get.key], [next])))).level).toBe("proposed");
    const others = ["list_cases", "open_case", "close_case"].flatMap((name) => HELPDESK.filter((one) => one.name === name));
    const camel = others.map((one) =>
      renamed(
        one,
        one.name.replace(/_(.)/, (_all, letter: string) => letter.toUpperCase()),
      ),
    );
    const links = findLineage(movement(HELPDESK, helpdesk([get.key, ...others.map((one) => one.key)], [next, ...camel])));
    expect(links.map((link) => link.level)).toEqual(["certain", "certain", "certain", "certain"]);
  });

  it("is certain where contract and texts are the same, and carries its parameters", () => {
    const link = only(findLineage(movement(HELPDESK, helpdesk([get.key], [renamed(get, "show_ticket")]))));
    expect(link).toMatchObject({ level: "certain", params: { case_id: "case_id" } });
  });

  it("maps parameters that were renamed with it", () => {
    const next = tool("desk/get_case_file", "Reads one case with its history and who works on it.", {
      "caseNumber!": "string Number of the case, e.g. C-17.",
    });
    const link = only(findLineage(movement(HELPDESK, helpdesk([get.key], [next]))));
    expect(link.params).toEqual({ case_id: "caseNumber" });
  });

  it("maps no parameter to one of another type or meaning", () => {
    const next = tool("desk/getCase", "Reads one case with its history and who works on it.", {
      "depth!": "integer How far back.",
    });
    expect(only(findLineage(movement(HELPDESK, helpdesk([get.key], [next])))).params).toEqual({});
  });

  it("keeps parameters with the names of object members apart", () => {
    const odd = { "constructor!": "string One.", "__proto__!": "string Two." };
    const [was, is] = [tool("desk/odd_one", "An odd tool of ours.", odd), tool("desk/oddOne", "An odd tool of ours.", odd)];
    const link = only(findLineage(movement([was], [is])));
    expect(Object.entries(link.params).sort()).toEqual(
      Object.keys(was.inputSchema["properties"] ?? {})
        .sort()
        .map((name) => [name, name]),
    );
  });

  it("is found for a whole family that follows one rule, and says so", () => {
    const after = HELPDESK.map((one) =>
      tool(`desk/helpdesk_${one.name}`, `${one.description} (Help desk.)`, {}, { inputSchema: one.inputSchema }),
    );
    const links = findLineage(movement(HELPDESK, after));
    expect(links.map((link) => [link.from, link.to, link.level])).toEqual(
      [...HELPDESK].map((one) => [one.key, [`desk/helpdesk_${one.name}`], "certain"]).sort(),
    );
    expect(links[0]?.evidence[0]).toContain("follow the same change of name");
  });

  it("is named among the nearest where nothing is sure enough", () => {
    const report = lineageReport(
      movement(HELPDESK, helpdesk(["desk/get_engineer"], [tool("desk/list_shifts", "Who works when.", {})])),
    );
    expect(report.links).toEqual([]);
    expect(report.unresolved.map((one) => one.tool)).toEqual(["desk/get_engineer"]);
  });

  it("is no link where a tool left for good", () => {
    expect(findLineage(movement(HELPDESK, helpdesk(["desk/publish_article"])))).toEqual([]);
  });
});

describe("tools that became modes of one", () => {
  const write = (values: string): Tool =>
    tool("desk/case_write", "Changes a case.", {
      "method!": `string(${values}) What to do.`,
      ...CASE,
      cause: "string What was wrong.",
      engineer: "string Login of the engineer.",
    });

  it("are certain with siblings, each with its own fixed argument", () => {
    const after = helpdesk(["desk/close_case", "desk/assign_case"], [write("close|assign")]);
    const links = findLineage(movement(HELPDESK, after));
    expect(links).toMatchObject([
      {
        from: "desk/assign_case",
        to: ["desk/case_write"],
        kind: "merged",
        level: "certain",
        fixedArguments: { method: "assign" },
      },
      { from: "desk/close_case", to: ["desk/case_write"], kind: "merged", level: "certain", fixedArguments: { method: "close" } },
    ]);
    expect(links[0]?.params).toEqual({ case_id: "case_id", engineer: "engineer" });
  });

  it.each([
    ["anyOf of constants", { anyOf: [{ const: "close" }, { const: "assign" }] }],
    ["oneOf with titles", { oneOf: [{ const: "close", description: "Close it." }, { const: "assign" }] }],
    [
      "a list in the description",
      { type: "string", description: "What to do.\n- 'close' - closes a case\n- 'assign' - gives it away" },
    ],
    [
      "numbered lines",
      { type: "string", description: "Possible options:\n 1. close - closes a case\n 2. assign - gives it away" },
    ],
    ["words after one of", { type: "string", description: "One of: close, assign." }],
    ["a reference", { $ref: "#/$defs/Method" }],
  ])("are found by values written as %s", (_how, method) => {
    const merged = tool(
      "desk/case_write",
      "Changes a case.",
      {},
      {
        inputSchema: {
          type: "object",
          properties: { method, case_id: { type: "string" }, cause: { type: "string" }, engineer: { type: "string" } },
          required: ["method", "case_id"],
          $defs: { Method: { enum: ["close", "assign"] } },
        },
      },
    );
    const links = findLineage(movement(HELPDESK, helpdesk(["desk/close_case", "desk/assign_case"], [merged])));
    expect(links.map((link) => [link.from, link.level, link.fixedArguments])).toEqual([
      ["desk/assign_case", "certain", { method: "assign" }],
      ["desk/close_case", "certain", { method: "close" }],
    ]);
  });

  it("are found by a constant in each branch of the input", () => {
    const branch = (method: string) => ({
      properties: { method: { const: method }, case_id: { type: "string" } },
      required: ["method"],
    });
    const merged = tool(
      "desk/case_write",
      "Changes a case.",
      {},
      { inputSchema: { type: "object", oneOf: [branch("close"), branch("assign")] } },
    );
    const links = findLineage(movement(HELPDESK, helpdesk(["desk/close_case", "desk/assign_case"], [merged])));
    expect(links.map((link) => link.fixedArguments)).toEqual([{ method: "assign" }, { method: "close" }]);
  });

  it("take two arguments where the merged tool asks for two", () => {
    const before = ["lamp_on", "lamp_off", "fan_on", "fan_off"].map((name) =>
      tool(`home/${name}`, `Switches: ${name.replace("_", " ")}.`),
    );
    const after = [
      tool("home/switch", "Switches things.", { "target!": "string(lamp|fan) What.", "action!": "string(on|off) How." }),
    ];
    const links = findLineage(movement(before, after));
    expect(links.find((link) => link.from === "home/fan_off")?.fixedArguments).toEqual({ target: "fan", action: "off" });
  });

  it("tell a mode from its plural", () => {
    const before = [tool("desk/get_contact", "Reads a contact."), tool("desk/get_contacts", "Lists contacts of a company.")];
    const after = [tool("desk/contact_read", "Reads contacts.", { "method!": "string(get_contacts|get_contact) What." })];
    expect(findLineage(movement(before, after)).map((link) => [link.from, link.fixedArguments])).toEqual([
      ["desk/get_contact", { method: "get_contact" }],
      ["desk/get_contacts", { method: "get_contacts" }],
    ]);
  });

  it("are certain for a tool that was there once it gained their words", () => {
    const was = [...HELPDESK, tool("desk/case_write", "Changes a case.", { "method!": "string(rename) What.", ...CASE })];
    const is = [...helpdesk(["desk/close_case", "desk/assign_case"]), write("rename|close|assign")];
    expect(findLineage(movement(was, is)).map((link) => [link.from, link.level])).toEqual([
      ["desk/assign_case", "certain"],
      ["desk/close_case", "certain"],
    ]);
  });
});

describe("a successor that came before its predecessor left", () => {
  const merged = tool("desk/case_write", "Changes a case.", {
    "method!": "string(close|assign) What to do.",
    ...CASE,
    cause: "string Cause.",
    engineer: "string Login.",
  });
  const both = [...HELPDESK, merged];
  const after = helpdesk(["desk/close_case", "desk/assign_case"], [merged]);

  it("is proposed when the catalog only shows that it was there", () => {
    expect(findLineage(movement(both, after, 3)).map((link) => link.level)).toEqual(["proposed", "proposed"]);
  });

  it("is certain with the hint of the version that added it", () => {
    const hints = supersedeHints(movement(HELPDESK, both, 2));
    expect(hints.map((hint) => [hint.from, hint.to, hint.atVersion])).toEqual([
      ["desk/assign_case", "desk/case_write", 2],
      ["desk/close_case", "desk/case_write", 2],
    ]);
    const links = findLineage({ ...movement(both, after, 3), hints });
    expect(links.map((link) => [link.level, link.fixedArguments])).toEqual([
      ["certain", { method: "assign" }],
      ["certain", { method: "close" }],
    ]);
  });

  it("gives no hint for a mere neighbour", () => {
    expect(supersedeHints(movement(HELPDESK, [...HELPDESK, tool("desk/list_shifts", "Lists who works when.", {})]))).toEqual([]);
  });
});

describe("a tool that became several", () => {
  const merged = tool("desk/case_write", "Changes a case.", {
    "method!": "string(close|assign) What to do.",
    ...CASE,
    cause: "string What was wrong.",
    engineer: "string Login of the engineer.",
  });

  it("is a certain split where its own modes name the parts", () => {
    const link = only(findLineage(movement(helpdesk(["desk/close_case", "desk/assign_case"], [merged]), HELPDESK)));
    expect(link).toMatchObject({ kind: "split", level: "certain", from: "desk/case_write" });
    expect([...link.to].sort()).toEqual(["desk/assign_case", "desk/close_case"]);
    expect(link.params).toEqual({ case_id: "case_id", cause: "cause", engineer: "engineer" });
  });

  it("is a proposed split where parts share its parameters and none takes all, each parameter with the first part that has it", () => {
    const order = { "order!": "string Order." };
    const ship = tool("desk/ship_spare", "Packs a spare part of an order and hands the parcel to a carrier.", {
      ...order,
      "carrier!": "string Carrier.",
    });
    const pack = tool("desk/pack_spare", "Packs a spare part of an order into a parcel.", order);
    const send = tool("desk/dispatch_spare", "Hands the parcel with a spare part to a carrier.", {
      "parcel!": "string Parcel.",
      "carrier!": "string Carrier.",
    });
    const link = only(findLineage(movement([...HELPDESK, ship], [...HELPDESK, pack, send])));
    expect(link).toMatchObject({
      kind: "split",
      level: "proposed",
      from: "desk/ship_spare",
      params: { order: "order", carrier: "carrier" },
    });
    expect([...link.to].sort()).toEqual(["desk/dispatch_spare", "desk/pack_spare"]);
  });
});

describe("a tool that another always could replace", () => {
  it("is proposed where the other asks no more and answers all", () => {
    const output = (fields: Record<string, string>) => ({ outputSchema: schema(fields) });
    const status = tool(
      "shop/get_order_status",
      "Tells the status of an order.",
      { "order!": "string Order." },
      output({ status: "string Status." }),
    );
    const order = tool(
      "shop/get_order",
      "Reads an order.",
      { "order!": "string Order." },
      output({ status: "string Status.", lines: "array Lines." }),
    );
    const other = tool("shop/list_goods", "Lists goods.", {}, output({ goods: "array Goods." }));
    expect(only(findLineage(movement([status, order, other], [order, other])))).toMatchObject({
      kind: "superseded",
      level: "proposed",
      to: ["shop/get_order"],
    });
  });
});

describe("a tool that left versions ago", () => {
  const old = tool("desk/get-shift", "Reads one shift of the rota.", { "day!": "string Day." });
  const back = tool("desk/get_shift", "Reads one shift of the rota, with breaks.", { "day!": "string Day." });

  it("is linked when it comes under another spelling, at the version it left", () => {
    const link = only(
      findLineage({ ...movement(HELPDESK, helpdesk([], [back]), 9), departed: [{ tool: old, missingSince: 4 }] }),
    );
    expect(link).toMatchObject({ from: "desk/get-shift", to: ["desk/get_shift"], atVersion: 4, level: "certain" });
    expect(link.evidence.join()).toContain("version 9");
  });

  it("is not linked to itself when it comes back", () => {
    expect(findLineage({ ...movement(HELPDESK, helpdesk([], [old]), 9), departed: [{ tool: old, missingSince: 4 }] })).toEqual(
      [],
    );
  });
});

describe("links", () => {
  const before = HELPDESK;
  const after = HELPDESK.map((one) => renamed(one, `v2_${one.name}`));

  it("have the shape of the stored format", () => {
    for (const link of findLineage(movement(before, after))) expect(lineageLinkSchema.parse(link)).toEqual(link);
  });

  it("have an id made of version and tools alone", () => {
    expect(linkId(3, "a/x", ["a/y"])).toBe(linkId(3, "a/x", ["a/y"]));
    expect(new Set([linkId(3, "a/x", ["a/y"]), linkId(4, "a/x", ["a/y"]), linkId(3, "a/x", ["a/y", "a/z"])]).size).toBe(3);
    const [link] = findLineage(movement(before, after, 7));
    expect(link?.id).toBe(linkId(7, link?.from ?? "", link?.to ?? []));
  });

  it("do not depend on the order of the listing", () => {
    const there = findLineage(movement(before, after));
    expect(findLineage(movement([...before].reverse(), [...after].reverse()))).toEqual(there);
  });

  it("carry scores between 0 and 1 and say why in sentences", () => {
    for (const link of findLineage(movement(before, after))) {
      expect(link.score).toBeGreaterThan(0);
      expect(link.score).toBeLessThanOrEqual(1);
      expect(link.evidence.length).toBeGreaterThan(0);
    }
  });

  it("come for names, texts and schemas of any size", () => {
    // Not a clock: work that grows with the square of what an upstream wrote would not come back.
    const blanks = `- ${" ".repeat(20_000)}\n`.repeat(5);
    const monstrous = (name: string): Tool =>
      tool(
        `desk/${name}`,
        `${"word ".repeat(20_000)}${blanks}`,
        {},
        {
          inputSchema: {
            type: "object",
            properties: {
              action: {
                type: "string",
                description: `One of: ${"a, ".repeat(5_000)}\n${blanks}`,
                enum: ["x".repeat(50_000), "open", "close"],
              },
              ...Object.fromEntries(
                Array.from({ length: 400 }, (_none, at) => [`${name.slice(0, 3)}Field${at}`, { type: "string" }]),
              ),
            },
          },
        },
      );
    const before = ["aaa", "bbb"].map((start) => monstrous(`${start}_${"long_".repeat(2_000)}${"q".repeat(5_000)}`));
    const after = ["ccc", "ddd"].map((start) => monstrous(`${start}_${"long_".repeat(2_000)}${"q".repeat(5_000)}`));
    for (const link of findLineage(movement(before, after))) expect(link.evidence.length).toBeGreaterThan(0);
  });

  it("are none where nothing left", () => {
    expect(findLineage(movement(HELPDESK, helpdesk([], [tool("desk/new_one", "Something new.")])))).toEqual([]);
    expect(findLineage({ removed: [], added: [], kept: [], atVersion: 1 })).toEqual([]);
  });
});
