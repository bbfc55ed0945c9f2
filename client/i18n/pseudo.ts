/** A language for development: every text accented, and longer by two fifths, so that what is not translated or does not fit shows. */
export const pseudoLanguage = "en-XA";

/** Letter by letter, one beneath the other. */
const plain = "acdeghijklnorstuwyzACDEGHINORSTUWYZ";
const marked = "áçðéĝĥíĵķļñöŕšţûŵýžÅÇÐÉĜĤÎÑÖŔŠŢÛŴÝŽ";

/** What stands in braces or angle brackets is for the program and stays. */
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
