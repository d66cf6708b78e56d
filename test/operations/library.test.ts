/** What people do to the library, through a whole house. */
import { afterEach, describe, expect, it } from "vitest";
import { closeHouses, makeHome, openHouse, person } from "../house.js";

afterEach(closeHouses);

const using = (name: string, uses: readonly string[]) => ({
  folder: name,
  files: {
    "SKILL.md": `---\nname: ${name}\ndescription: Does ${name}.\n---\n\nDo it.\n`,
    "references/contract.json": `${JSON.stringify({ format: "contract/1", requires: [], uses, produces: [], evidence: [] })}\n`,
  },
});

describe("skills that come in together", () => {
  it.each([[["b"], ["a"]] as const, [["b"], ["c"], ["a"]] as const])(
    "and use each other in a circle are taken but for the one that closes it",
    async (...circle) => {
      const house = await openHouse(makeHome([]));
      const folders = circle.map((uses, at) => using("abc"[at] ?? "", uses));
      const { imported, problems } = await house.operations.importSkills(folders, person);
      expect(imported).toEqual(["a", "b", "c"].slice(0, circle.length - 1));
      expect(problems.map(({ code }) => code)).toContain("skill-cycle");
    },
  );
});
