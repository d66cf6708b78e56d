import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSecretName, redact, redactArgs, REDACTED } from "../../src/host/redact.js";
import type { JsonValue } from "../../src/model/json.js";

function at(value: JsonValue, pointer: string): JsonValue | undefined {
  let here: JsonValue | undefined = value;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    here = Array.isArray(here) ? here[Number(key)] : (here as Record<string, JsonValue>)[key];
  }
  return here;
}

describe("redaction of texts", () => {
  it("leaves nothing of a known secret, in any spelling it may have", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6 }), fc.string(), (secret, around) => {
        fc.pre(!REDACTED.includes(secret));
        const text = `${around}|${secret}|${JSON.stringify(secret)}|${encodeURIComponent(secret)}`;
        const clean = redact(text, [secret]);
        expect(clean).not.toContain(secret);
      }),
    );
  });

  it("knows credentials by their look", () => {
    const texts: [string, string][] = [
      ["Authorization: Bearer abcdefgh12345", "Authorization: Bearer [redacted]"],
      ["https://user:pa55word@host/path", "https://[redacted]@host/path"],
      ["GET /x?api_key=12345&page=2", "GET /x?api_key=[redacted]&page=2"],
      ["key sk-proj-abcdefghijklmnop1234", "key [redacted]"],
      ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"],
      ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "[redacted]"],
      ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[redacted]"],
    ];
    for (const [text, clean] of texts) expect(redact(text, [])).toBe(clean);
  });

  it("looks through texts of any length and build in reasonable work", () => {
    // A pattern that tries again at every character takes minutes for these.
    for (const part of ["x", "-eyJ", "a.b", "sk-a", "http://", "key=&", "Bearer ", "-----BEGIN "]) {
      const text = part.repeat(400_000 / part.length);
      expect(redact(text, []).length).toBeGreaterThan(0);
    }
  });

  it("does not touch ordinary sentences, ids and short values", () => {
    const text = "order O-1001 of risk-management: see https://shop.example/orders?page=2 (true, admin)";
    expect(redact(text, ["true", "admin"])).toBe(text);
  });
});

describe("redaction of arguments", () => {
  it("tells secret fields from fields that only sound like them", () => {
    const secret = [
      "password",
      "userPassword",
      "API_KEY",
      "apiKey",
      "x-api-key",
      "access_token",
      "authToken",
      "Authorization",
      "cookie",
      "client_secret",
      "token",
      "privateKey",
      "credentials",
    ];
    const plain = [
      "page_token",
      "nextPageToken",
      "max_tokens",
      "tokens",
      "sort_key",
      "keyboard",
      "primary_key",
      "author",
      "secretary",
      "passenger",
      "cookbook",
    ];
    expect(secret.filter((name) => !isSecretName(name))).toEqual([]);
    expect(plain.filter(isSecretName)).toEqual([]);
  });

  it("replaces each secret leaf by one of its type and lists its pointer", () => {
    const args = {
      user: "ann",
      password: "hunter2",
      otp: 123456,
      credentials: { id: 7, keep: true, note: null, list: ["a", 1] },
      "odd/na~me": { token: "t" },
      text: "my key is topsecretvalue, honestly",
    };
    expect(redactArgs(args, ["topsecretvalue"])).toEqual({
      value: {
        user: "ann",
        password: REDACTED,
        otp: 0,
        credentials: { id: 0, keep: false, note: null, list: [REDACTED, 0] },
        "odd/na~me": { token: REDACTED },
        text: "my key is [redacted], honestly",
      },
      paths: [
        "/password",
        "/otp",
        "/credentials/id",
        "/credentials/keep",
        "/credentials/list/0",
        "/credentials/list/1",
        "/odd~1na~0me/token",
        "/text",
      ],
    });
  });

  it("keeps the shape and type of every leaf, and names exactly the leaves that moved", () => {
    const value = fc.jsonValue().map((json) => ({ json, password: json }) as JsonValue);
    fc.assert(
      fc.property(value, (given) => {
        const { value: clean, paths } = redactArgs(given);
        const shape = (json: JsonValue): unknown =>
          json === null
            ? null
            : Array.isArray(json)
              ? json.map(shape)
              : typeof json === "object"
                ? Object.entries(json).map(([key, item]) => [key, shape(item)])
                : typeof json;
        expect(shape(clean)).toEqual(shape(given));
        for (const path of paths) expect([REDACTED, 0, false]).toContain(at(clean, path));
        const again = redactArgs(clean);
        expect(again.value).toEqual(clean);
      }),
    );
  });

  it("does not fall over arguments nested deeper than anybody needs", () => {
    let deep: JsonValue = "x";
    for (let n = 0; n < 5_000; n += 1) deep = [deep];
    expect(redactArgs(deep).paths).toHaveLength(1);
  });
});
