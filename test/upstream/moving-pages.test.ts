/** Pages are of one moment or no listing: what moves between two cursors must neither hide a tool nor invent one. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listTools } from "../../src/upstream/listing.js";
import type { Session } from "../../src/upstream/session.js";

interface Server {
  readonly session: Session;
  /** How often it has announced a change. */
  readonly announced: () => number;
  /** Every list it ever had, whole. */
  readonly had: () => readonly string[];
}

/** Serves its present list in pages of `size`; before a page is answered, `move` may give it another list. */
function server(
  first: readonly string[],
  size: number,
  move: (page: number) => readonly string[] | undefined,
  says = true,
): Server {
  let names = first;
  let [announced, page] = [0, 0];
  const had = [JSON.stringify(names)];
  const session = {
    greeting: { capabilities: { tools: {} } },
    request: async ({ params }: { params: { cursor?: string } }) => {
      page += 1;
      const next = move(page);
      if (next !== undefined) {
        names = next;
        had.push(JSON.stringify(names));
        if (says) announced += 1;
      }
      const at = Number(params.cursor ?? 0);
      const tools = names.slice(at, at + size).map((name) => ({ name, inputSchema: { type: "object" } }));
      return at + size < names.length ? { tools, nextCursor: String(at + size) } : { tools };
    },
  };
  return { session: session as unknown as Session, announced: () => announced, had: () => had };
}

const list = async ({ session, announced }: Server): Promise<string[]> => {
  const { tools } = await listTools(session, { timeoutMs: 1_000, elapsedMs: () => 0, announced });
  return tools.map((tool) => (tool as { name: string }).name);
};

describe("a listing whose pages move while they are read", () => {
  it("is read again, so that no tool is missing that was there all the time", async () => {
    const moving = server(["a", "b", "c", "d"], 2, (page) => (page === 2 ? ["b", "c", "d"] : undefined));
    expect(await list(moving)).toEqual(["b", "c", "d"]);
  });

  it("is found out by a tool on two pages where nothing is announced", async () => {
    const moving = server(["a", "b", "c"], 2, (page) => (page === 2 ? ["x", "a", "b", "c"] : undefined), false);
    expect(await list(moving)).toEqual(["x", "a", "b", "c"]);
  });

  it("fails with a reason where it never stands still, so that the last good one stays", async () => {
    const moving = server(["a", "b", "c"], 2, (page) => [`a${page}`, `b${page}`, `c${page}`]);
    await expect(list(moving)).rejects.toThrow("no two agree");
  });

  it("is taken where announcements never end and bring nothing, and where a tool is simply listed twice", async () => {
    expect(await list(server(["a", "b", "c"], 2, () => ["a", "b", "c"]))).toEqual(["a", "b", "c"]);
    expect(await list(server(["a", "b", "a"], 2, () => undefined))).toEqual(["a", "b", "a"]);
  });

  it("of one page is taken as it came, whatever is announced", async () => {
    let reads = 0;
    const moving = server(["a"], 9, (page) => {
      reads += 1;
      return [`a${page}`];
    });
    expect(await list(moving)).toEqual(["a1"]);
    expect(reads).toBe(1);
  });

  it("is a list that the upstream had whole, or none", async () => {
    const lists = fc.array(fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"), { minLength: 1 }), {
      minLength: 1,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 40 }),
        async (all, size, moves) => {
          let at = 0;
          // No list comes back: a tool of each has its own spelling.
          const of = (n: number): string[] | undefined => all[n]?.map((name) => `${name}${n}`);
          const moving = server(of(0) ?? [], size, (page) => (moves[page] === true ? of((at += 1)) : undefined));
          const listed = await list(moving).catch(() => undefined);
          if (listed !== undefined) expect(moving.had()).toContain(JSON.stringify(listed));
        },
      ),
    );
  });
});
