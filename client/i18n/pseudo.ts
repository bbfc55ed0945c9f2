/**
 * A language for development: every text gets accents and is 40 % longer, so that untranslated texts and texts that don't fit
 * are easy to see.
 */
export const pseudoLanguage = "en-XA";

/** Each letter of `plain` becomes the letter below it. */
const plain = "acdeghijklnorstuwyzACDEGHINORSTUWYZ";
const marked = "áçðéĝĥíĵķļñöŕšţûŵýžÅÇÐÉĜĤÎÑÖŔŠŢÛŴÝŽ";

/** Text in braces or angle brackets is for the program and is left unchanged. */
const machinePart = /(\{\{[^}]*\}\}|<[^>]*>|\$t\([^)]*\))/;

function accentText(text: string): string {
  const accented = text
    .split(machinePart)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[a-z]/gi, (letter) => marked[plain.indexOf(letter)] ?? letter)))
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
