/**
 * English texts are typed with straight quotes and set with curly ones. Other languages have marks of their own, which
 * their writers type. `before` is the character the text follows; empty at the start of a block.
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
