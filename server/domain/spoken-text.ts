/**
 * What of an answer's Markdown is read aloud: its words, without marks, addresses and code. Client and server calculate the price from the same
 * text.
 */
export function spokenText(markdown: string): string {
  return markdown
    .replace(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1[^\n]*$|(?![\s\S]))/gm, "")
    .replace(/\$\$[\s\S]*?\$\$/g, "")
    .replace(/!\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)/g, "$1")
    .replace(/\[([^\]]+)\]\([^)\s]*(?:\s+"[^"]*")?\)/g, "$1")
    .replace(/\s?\[\d{1,3}\]/g, "")
    .replace(/<(https?:\/\/[^>\s]+)>/g, "")
    .replace(/https?:\/\/\S+/g, "")
    .replace(/^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$/gm, "")
    .replace(
      /^[ \t]*\|(.*)\|[ \t]*$/gm,
      (_row, cells: string) =>
        `${cells
          .split("|")
          .map((cell) => cell.trim())
          .filter(Boolean)
          .join(", ")}.`,
    )
    .replace(/^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$/gm, "$1.")
    .replace(/^[ \t]*(?:[-*_][ \t]*){3,}$/gm, "")
    .replace(/^[ \t]*>[ \t]?/gm, "")
    .replace(/^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?/gm, "")
    .replace(/(\*\*\*|\*\*|__|~~)(?=\S)([\s\S]*?\S)\1/g, "$2")
    .replace(/(?<![\w*])\*(?=\S)([^*\n]*\S)\*(?![\w*])/g, "$1")
    .replace(/(?<!\w)_(?=\S)([^_\n]*\S)_(?!\w)/g, "$1")
    .replace(/`([^`\n]+)`/g, "$1")
    .replace(/([.!?:;,])\.$/gm, "$1")
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
