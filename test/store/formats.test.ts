import { isAscii } from "node:buffer";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { generatedFiles } from "../../scripts/formats.js";
import { declaredFormats } from "../../src/model/format.js";
import { Fault } from "../../src/model/fault.js";
import { Damage, checkDocument, parseDocument, renderDocument } from "../../src/store/documents.js";
import { renderLine, wholeLine } from "../../src/store/lines.js";
import { fits } from "../../src/store/fits.js";
import { arbitrary } from "./arbitrary.js";

const root = resolve(import.meta.dirname, "../..");
const golden = join(root, "test/golden/formats");
const LINES = ["call", "episode"];
let generated: Record<string, string> = {};

beforeAll(async () => {
  // Loads every declaration, too.
  generated = await generatedFiles();
});

describe("formats", () => {
  it("are documented in FORMATS.md and the configuration's schema as they are in the source", () => {
    for (const [path, text] of Object.entries(generated))
      expect(readFileSync(join(root, path), "utf8"), `${path}: npm run formats`).toBe(text);
  });

  it("have one golden document each", () => {
    const names = declaredFormats().map(({ kind, version }) => `${kind}-${version}.${LINES.includes(kind) ? "jsonl" : "json"}`);
    expect(readdirSync(golden).sort()).toEqual(names.sort());
  });

  it("give the golden documents' very bytes when these are read and rendered", () => {
    for (const format of declaredFormats()) {
      const isLine = LINES.includes(format.kind);
      const path = `${format.kind}-${format.version}.${isLine ? "jsonl" : "json"}`;
      const text = readFileSync(join(golden, path), "utf8");
      if (isLine) {
        const line = wholeLine(Buffer.from(text.trimEnd()));
        if (line === undefined) throw new Error(`${path} holds no whole line`);
        const { value } = checkDocument(format, line.document(), path, {});
        expect(renderLine(value as object, line.mark), path).toBe(text);
      } else {
        expect(renderDocument(parseDocument(format, text, path, {}).value as object), path).toBe(text);
      }
    }
  });

  it("read back whatever is rendered, and render the same bytes again: for every document of every format", () => {
    for (const format of declaredFormats()) {
      fc.assert(
        fc.property(arbitrary(format.schema), (document) => {
          const text = renderDocument(document as object);
          const { value, migratedFrom } = parseDocument(format, text, format.place, {});
          expect(value).toEqual(document);
          expect(migratedFrom).toBeUndefined();
          expect(renderDocument(value as object)).toBe(text);
        }),
        { numRuns: 30 },
      );
    }
  });

  it("are found sound by the quick look only where the schema finds them sound, and nearly always where it does", () => {
    const numbers = [0.5, -1, 2 ** 60];
    const odd = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(undefined, {}, [], "", null, "__proto__", ...numbers));
    for (const format of declaredFormats()) {
      fc.assert(
        fc.property(arbitrary(format.schema), odd, fc.nat(), (document, other, at) => {
          const spoilt = withOneOther(document, other, at);
          for (const one of [document, spoilt])
            if (fits(format.schema, one)) expect(format.schema.safeParse(one).success).toBe(true);
        }),
        { numRuns: 150 },
      );
    }
    const quick = declaredFormats().filter(({ schema }) => {
      const samples = fc.sample(arbitrary(schema), { numRuns: 20, seed: 7 });
      return samples.every((sample) => fits(schema, sample));
    });
    const kinds = quick.map(({ kind }) => kind);
    for (const kind of ["library-revision", "steward-lock", "catalog-manifest", "standings", "past-skills", "bulk-objects"])
      expect(kinds).toContain(kind);
  });

  it("keep members that nobody here knows", () => {
    for (const format of declaredFormats()) {
      fc.assert(
        fc.property(arbitrary(format.schema), (document) => {
          const more = { ...(document as object), later: { z: 1, a: [null] } };
          expect(parseDocument(format, renderDocument(more), format.place, {}).value).toEqual(more);
        }),
        { numRuns: 5 },
      );
    }
  });

  it("refuse a newer document by name, and take nothing else for one of theirs", () => {
    for (const format of declaredFormats()) {
      const newer = `{"format": "${format.kind}/${format.version + 1}"}`;
      expect(() => parseDocument(format, newer, "the/file.json", {})).toThrow(Fault);
      expect(() => parseDocument(format, newer, "the/file.json", {})).toThrow(/the\/file\.json/);
      for (const text of ["", "\0\0\0\0", "{", "[]", "null", "{}", '{"format":"other/1"}', `{"format":"${format.kind}/0"}`]) {
        expect(() => parseDocument(format, text, "f", {}), `${format.id}: ${text}`).toThrow(Damage);
      }
    }
  });

  it("bring an older document forward step by step", () => {
    const format = declaredFormats().find(({ kind }) => kind === "demo");
    if (format === undefined) throw new Error("no demo format");
    const later = { ...format, version: 3, id: "demo/3", schema: format.schema };
    const migrations = {
      "demo/1": (document: object) => ({ ...document, format: "demo/2", steps: ["a"] }),
      "demo/2": (document: object) => ({ ...document, format: "demo/1", steps: ["a", "b"] }),
    };
    const { value, migratedFrom } = parseDocument(later, '{"format":"demo/1","version":2}', "f", migrations as never);
    expect([value, migratedFrom]).toEqual([{ format: "demo/1", version: 2, steps: ["a", "b"] }, 1]);
  });
});

/** The document with the `at`-th of its values (counted over all of it) replaced or, where `undefined`, left out. */
function withOneOther(document: unknown, other: unknown, at: number): unknown {
  const places: { holder: Record<string, unknown>; key: string }[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      places.push({ holder: value as Record<string, unknown>, key });
      walk(inner);
    }
  };
  const copy: unknown = structuredClone(document);
  walk(copy);
  const place = places[at % Math.max(1, places.length)];
  if (place === undefined) return other;
  if (other === undefined) Reflect.deleteProperty(place.holder, place.key);
  else place.holder[place.key] = other;
  return copy;
}

describe("lines", () => {
  it("give back every document, and nothing for a line in which a byte moved [P11]", () => {
    const format = declaredFormats().find(({ kind }) => kind === "call");
    if (format === undefined) throw new Error("no call format");
    fc.assert(
      fc.property(
        arbitrary(format.schema),
        fc.nat(),
        fc.nat(9),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (document, number, left, at, flip) => {
          const line = renderLine(document as object, { number, left });
          expect(line.endsWith("\n") && line.indexOf("\n") === line.length - 1).toBe(true);
          const bytes = Buffer.from(line.slice(0, -1));
          expect(wholeLine(bytes)?.document()).toEqual(document);
          expect(wholeLine(bytes)?.mark).toEqual({ number, left });
          // It is the same line wherever it stands among others.
          const around = Buffer.concat([Buffer.from(line), bytes, Buffer.from(`\n${line}`)]);
          const start = Buffer.byteLength(line);
          expect(wholeLine(around, start, start + bytes.length, isAscii(around))?.document()).toEqual(document);
          const place = at % bytes.length;
          bytes[place] = (bytes[place] ?? 0) ^ flip;
          expect(wholeLine(bytes)).toBeUndefined();
          expect(wholeLine(bytes, 0, place)).toBeUndefined();
        },
      ),
    );
  });
});
