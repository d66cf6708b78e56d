/** The styles in which catalogs are renamed whole. */

function parts(name: string): string[] {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== "");
}
const low = (name: string): string[] => parts(name).map((part) => part.toLowerCase());
const capital = (part: string): string => part.charAt(0).toUpperCase() + part.slice(1).toLowerCase();

export const STYLES: Readonly<Record<string, (name: string) => string>> = {
  snake: (name) => low(name).join("_"),
  kebab: (name) => low(name).join("-"),
  camel: (name) =>
    low(name)
      .map((part, at) => (at === 0 ? part : capital(part)))
      .join(""),
  pascal: (name) => low(name).map(capital).join(""),
  dotted: (name) => low(name).join("."),
  slashed: (name) => low(name).join("/"),
  upper: (name) => low(name).join("_").toUpperCase(),
  flat: (name) => low(name).join(""),
  "with a prefix": (name) => `acme_${name}`,
  "with a prefix in camel case": (name) => `acme${low(name).map(capital).join("")}`,
  "with a prefix of two words": (name) => `acme-tools-${name}`,
  "with a suffix": (name) => `${name}_v2`,
  "with the first word last": (name) => [...low(name).slice(1), ...low(name).slice(0, 1)].join("_"),
};
