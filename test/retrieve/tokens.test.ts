import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stem } from "../../src/retrieve/stem.js";
import { tokenise } from "../../src/retrieve/tokens.js";

describe("words of identifiers", () => {
  it.each([
    ["get_order_status", ["get", "order", "status"]],
    ["getOrderStatus", ["get", "order", "status"]],
    ["HTTPServerError", ["http", "server", "error"]],
    ["list-pull-requests", ["list", "pull", "requests"]],
    ["github.repos/list", ["github", "repos", "list"]],
    ["userIDs", ["user", "ids"]],
    ["sha256sum", ["sha256sum", "sha", "256", "sum"]],
    ["ec2", ["ec2", "ec"]],
    ["customer's", ["customer"]],
  ])("splits %s into its words [R02]", (text, words) => {
    expect(tokenise(text)).toEqual(words);
  });
});

describe("words of any script", () => {
  it.each([
    ["accents are folded", "Café naïve Ångström", ["cafe", "naive", "angstrom"]],
    ["compatibility forms are folded", "ｆｕｌｌ ﬁle", ["full", "file"]],
    ["letters without decomposition are spelt out", "Straße Łódź", ["strasse", "lodz"]],
    ["Cyrillic words stay whole and are folded", "Найти ёлку", ["наити", "елку"]],
    ["Greek is folded", "Αθήνα", ["αθηνα"]],
    ["Chinese gives neighbouring pairs", "解析文件", ["解析", "析文", "文件"]],
    ["Japanese gives neighbouring pairs", "東京タワー", ["東京", "京タ", "タワ", "ワー"]],
    ["Korean gives neighbouring pairs", "검색어", ["검색", "색어"]],
    ["Thai gives pairs with marks on their letters", "น้ำ", ["\u0e19\u0e49\u0e4d\u0e32"]],
    ["a change of script ends a word", "解析pdf文件", ["解析", "pdf", "文件"]],
    ["a single ideograph stands alone", "天", ["天"]],
    ["Arabic loses its points", "بَحْث", ["بحث"]],
    ["digits of other scripts are digits", "٣٤٥", ["345"]],
    ["emoji are words", "☔ rain 🇩🇪", ["☔", "rain", "🇩🇪"]],
  ])("%s [R03]", (_what, text, words) => {
    expect(tokenise(text)).toEqual(words);
  });

  it("finds a word in Thai text although nothing separates it [R03]", () => {
    const text = new Set(tokenise("ดูสภาพอากาศวันนี้"));
    expect(tokenise("อากาศ").every((pair) => text.has(pair))).toBe(true);
  });

  it("gives at least one word for any text with a letter of a script it knows, and never one giant word for a sentence [R03]", () => {
    for (const sentence of [
      "Найди последние новости о погоде",
      "天気予報を教えてください",
      "ค้นหาข่าวล่าสุด",
      "최근 뉴스를 찾아줘",
      "खोज समाचार",
    ]) {
      const words = tokenise(sentence);
      expect(words.length).toBeGreaterThan(1);
      expect(Math.max(...words.map((word) => [...word].length))).toBeLessThan(12);
    }
  });
});

describe("laws", () => {
  it("splits the same text in the same words whatever its case of folding: NFC and NFD agree", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (text) => {
        expect(tokenise(text.normalize("NFD"))).toEqual(tokenise(text.normalize("NFC")));
      }),
    );
  });

  it("never throws, never gives an empty word, and words are lower case", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        for (const word of tokenise(text)) {
          expect(word.length).toBeGreaterThan(0);
          if (/^[A-Za-z0-9]+$/.test(word)) expect(word).toBe(word.toLowerCase());
        }
      }),
    );
  });

  it("a text's words are the words of its halves where it is cut at a blank", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme-ascii", maxLength: 30 }),
        fc.string({ unit: "grapheme-ascii", maxLength: 30 }),
        (a, b) => {
          expect(tokenise(`${a} ${b}`)).toEqual([...tokenise(a), ...tokenise(b)]);
        },
      ),
    );
  });
});

describe("stems", () => {
  it.each(
    (
      "caresses:caress ponies:poni ties:ti cats:cat feed:feed agreed:agre plastered:plaster bled:bled motoring:motor sing:sing " +
      "conflated:conflat troubled:troubl sized:size hopping:hop tanned:tan falling:fall hissing:hiss fizzed:fizz failing:fail filing:file " +
      "happy:happi sky:sky relational:relat conditional:condit rational:ration valency:valenc digitizer:digit conformably:conform " +
      "radically:radic differently:differ vileness:vile analogously:analog vietnamization:vietnam predication:predic operator:oper " +
      "feudalism:feudal decisiveness:decis hopefulness:hope callousness:callous formality:formal sensitivity:sensit sensibility:sensibl " +
      "triplicate:triplic formative:form formalize:formal electricity:electr electrical:electr hopeful:hope goodness:good revival:reviv " +
      "allowance:allow inference:infer airliner:airlin adjustable:adjust defensible:defens irritant:irrit replacement:replac " +
      "adjustment:adjust dependent:depend adoption:adopt communism:commun activate:activ angularity:angular homologous:homolog " +
      "effective:effect bowdlerize:bowdler probate:probat rate:rate cease:ceas controlling:control rolling:roll"
    )
      .split(" ")
      .map((pair) => pair.split(":") as [string, string]),
  )("the stem of %s is %s, as Porter gives it", (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  it("leaves words of other scripts and words with digits as they are", () => {
    for (const word of ["解析", "погода", "ec2", "go", "naïve"]) expect(stem(word)).toBe(word);
  });
});
