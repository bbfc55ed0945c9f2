/** A language for development: every text accented, and longer by two fifths, so that what is not translated or does not fit shows. */
export const pseudoLanguage = "en-XA";

const accents: Readonly<Record<string, string>> = {
  ...{ a: "á", c: "ç", d: "ð", e: "é", g: "ĝ", h: "ĥ", i: "í", j: "ĵ", k: "ķ", l: "ļ", n: "ñ", o: "ö", r: "ŕ", s: "š" },
  ...{ t: "ţ", u: "û", w: "ŵ", y: "ý", z: "ž" },
  ...{ A: "Å", C: "Ç", D: "Ð", E: "É", G: "Ĝ", H: "Ĥ", I: "Î", N: "Ñ", O: "Ö", R: "Ŕ", S: "Š", T: "Ţ", U: "Û", W: "Ŵ", Y: "Ý", Z: "Ž" },
};

/** What stands in braces or angle brackets is for the program and stays. */
const machinePart = /(\{\{[^}]*\}\}|<[^>]*>|\$t\([^)]*\))/;

function accentText(text: string): string {
  const accented = text
    .split(machinePart)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[a-z]/gi, (letter) => accents[letter] ?? letter)))
    .join("");
  return `${accented}${" ļöñĝ".repeat(Math.ceil((text.length * 0.4) / 5))}`;
}

export function accent(texts: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(texts).map(([key, value]) => [
    key,
    typeof value === "string" ? accentText(value) : accent(value as Record<string, unknown>),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}
