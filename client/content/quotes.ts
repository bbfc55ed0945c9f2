/**
 * Turns the straight quotes of English texts into curly ones. In other languages the writers type the right quotes themselves.
 * `before` is the character before the text; empty at the start of a block.
 */
export function curlQuotes(text: string, language: string, before = ""): string {
  if (language !== "en") return text;
  return text.replace(/["']/g, (mark, offset: number) => {
    const previous = offset === 0 ? before : (text[offset - 1] ?? "");
    const opens = previous === "" || /[\s([{—–"']/.test(previous);
    if (mark === '"') return opens ? "“" : "”";
    return opens ? "‘" : "’";
  });
}
