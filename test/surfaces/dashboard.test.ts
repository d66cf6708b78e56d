/** The dashboard's own script, run on a small stand-in for a browser's document. */
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { dashboardPage } from "../../src/surfaces/dashboard/page.js";
import { fakeOperations, plan, SHOP } from "./fake.js";

class Element {
  textContent = "";
  className = "";
  hidden = true;
  value = "";
  readonly children: Element[] = [];
  readonly listeners = new Map<string, (event: object) => void>();
  append(child: Element): void {
    this.children.push(child);
  }
  replaceChildren(): void {
    this.children.length = 0;
  }
  createTHead = (): Element => this.#child();
  createTBody = (): Element => this.#child();
  insertRow = (): Element => this.#child();
  insertCell = (): Element => this.#child();
  addEventListener(name: string, listener: (event: object) => void): void {
    this.listeners.set(name, listener);
  }
  #child(): Element {
    const child = new Element();
    this.children.push(child);
    return child;
  }
  text(): string {
    return [this.textContent, ...this.children.map((child) => child.text())].filter((text) => text !== "").join(" | ");
  }
}

async function open(answers: Readonly<Record<string, unknown>>, status = 200) {
  const elements = new Map<string, Element>();
  const asked: { path: string; authorization: string | undefined }[] = [];
  const kept = new Map<string, string>();
  const script = /<script>([\s\S]*?)<\/script>/.exec(dashboardPage("0.0.0").html)?.[1] ?? "";
  runInNewContext(script, {
    document: {
      hidden: false,
      getElementById: (id: string) => elements.get(id) ?? elements.set(id, new Element()).get(id),
      createElement: () => new Element(),
    },
    sessionStorage: {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => kept.set(name, value),
    },
    fetch: async (path: string, { headers }: { headers: { authorization?: string } }) => {
      asked.push({ path, authorization: headers.authorization });
      const body = answers[path.replace("/v1/", "")];
      return { status, ok: status === 200, statusText: "", json: async () => JSON.parse(JSON.stringify(body ?? {})) as unknown };
    },
    setInterval: () => 0,
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  return { text: (id: string) => elements.get(id)?.text() ?? "", elements, asked };
}

const operations = fakeOperations(
  [SHOP],
  [
    plan("plan-cancel-order"),
    plan("plan-return", {
      standing: "inactive",
      because: "broken",
      needsReview: false,
      since: "2026-11-30T00:00:00.000Z",
      reasons: [
        {
          on: "shop/old",
          rule: "T1",
          level: "breaking",
          text: "shop/old was removed \u001b[31mred\u001b[0m \u202e",
          way: "`steward x`",
        },
        { on: "shop/other", rule: "T2", level: "unknown", text: "shop/other is away." },
      ],
    }),
  ],
);
const answers = async (): Promise<Record<string, unknown>> => ({
  health: operations.health(),
  upstreams: operations.upstreams(),
  "catalog/versions": await operations.versions(),
  skills: await operations.skills({}),
  maintenance: await operations.reports(),
});

describe("the dashboard", () => {
  it("shows health, upstreams, the catalog's log, skills with standing and reason, and the last reports", async () => {
    const page = await open(await answers());
    expect(page.text("trouble")).toBe("");
    expect(page.text("line")).toContain("ready · catalog 1");
    expect(page.text("upstreams")).toContain("shop | up | shop 1");
    expect(page.text("catalog")).toContain("listing of shop");
    expect(page.text("skills")).toContain("plan-return | planning | inactive | T1 shop/old: shop/old was removed");
    expect(page.text("reports")).toContain("m1");
    expect(page.text("problems")).toBe("nothing yet");
  });

  it("shows what can be done about a resting skill beneath its first reason, the others beneath that", async () => {
    expect((await open(await answers())).text("skills")).toMatch(
      /T1 shop\/old: .*\n→ `steward x`\nT2 shop\/other: shop\/other is away\./,
    );
  });

  it("counts what a run applied, skipped, proposed and refused apart, and says what it tried on what rests", async () => {
    const page = await open(await answers());
    expect(page.text("reports")).toMatch(/Applied \| Skipped \| Proposed \| Refused/);
    expect(page.text("reports")).toContain(
      "| incremental | 2 | 3 | 1 | 0 | plan-return: shop/old was removed. Nothing is known to have taken over. → `steward x`",
    );
  });

  it("shows what control characters and invisible ones are, instead of obeying them [S04]", async () => {
    const text = (await open(await answers())).text("skills");
    expect(text).toContain("\\u{1b}[31mred");
    expect(text).toContain("\\u{202e}");
    expect(text).not.toMatch(/[\u001b\u202e]/);
  });

  it("asks for a token where one is needed, and uses it from then on", async () => {
    const page = await open({}, 401);
    expect(page.elements.get("login")?.hidden).toBe(false);
    const field = page.elements.get("token") ?? new Element();
    field.value = " s3cret ";
    page.elements.set("token", field);
    page.elements.get("login")?.listeners.get("submit")?.({ preventDefault: () => undefined });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(page.asked.at(-1)?.authorization).toBe("Bearer s3cret");
    expect(page.text("trouble")).toBe("A token is needed.");
  });

  it("is asked for nothing but routes of /v1", async () => {
    const page = await open(await answers());
    const paths = page.asked.map(({ path }) => path);
    expect(new Set(paths)).toEqual(
      new Set(["health", "upstreams", "catalog/versions", "skills", "maintenance"].map((name) => `/v1/${name}`)),
    );
  });
});
