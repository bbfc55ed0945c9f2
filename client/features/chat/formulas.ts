/**
 * Mathematics in an answer: `$$…$$` and `\[…\]` are blocks, `$…$` and `\(…\)` are inline. Most dollar signs belong to
 * prices, so text that could be a price is not read as a formula.
 */
import type { Token, Tokens } from "marked";

export interface Formula extends Tokens.Generic {
  type: "formula";
  raw: string;
  /** The text between the delimiters. */
  tex: string;
  display: boolean;
}

/** In characters. Drawing a longer formula would take too long, so its source is shown. */
const longest = 2_000;

const pairs = [
  { open: "$$", close: "$$", display: true },
  { open: "\\[", close: "\\]", display: true },
  { open: "\\(", close: "\\)", display: false },
] as const;

/** Whether the text is a price and its sentence: it starts with a digit and has a word outside of commands, or has two words in a row. */
function isProse(tex: string): boolean {
  const bare = tex.replace(/\\[a-z]+|\{[^{}]*\}/gi, " ");
  if (/^\d/.test(tex)) return /\p{L}{2}/u.test(bare);
  return !/[\\^_={}]/.test(tex) && /\p{L}{2,}\s+\p{L}{2,}/u.test(tex);
}

function inDollars(text: string, at: number, before: string): Formula | undefined {
  if (/[\w$\\]/.test(before) || /^(?:\s|\d[\d.,]*\s+\p{L})/u.test(text.slice(at + 1, at + 40))) return undefined;
  let close = at + 1;
  while (close < text.length && text[close] !== "$" && text[close] !== "\n" && close - at <= longest) close += text[close] === "\\" ? 2 : 1;
  if (text[close] !== "$" || close === at + 1) return undefined;
  if (/\s/.test(text[close - 1] ?? "") || /[\dA-Z${]/.test(text[close + 1] ?? "")) return undefined;
  const tex = text.slice(at + 1, close);
  return isProse(tex) ? undefined : { type: "formula", raw: text.slice(at, close + 1), tex, display: false };
}

/** The complete formula that begins at `at`, if there is one. `before` is the character before it. */
export function formulaAt(text: string, at: number, before = text[at - 1] ?? ""): Formula | undefined {
  const pair = pairs.find(({ open }) => text.startsWith(open, at));
  if (!pair) return text[at] === "$" ? inDollars(text, at, before) : undefined;
  const inside = text.slice(at + 2, at + 2 + longest);
  const length = inside.indexOf(pair.close);
  if (length < 0) return undefined;
  const tex = inside.slice(0, length).trim();
  if (tex === "" || /\n[ \t]*\n/.test(tex)) return undefined;
  if (pair.open === "$$" && (/[\\$]/.test(before) || text[at + 4 + length] === "$")) return undefined;
  return { type: "formula", raw: text.slice(at, at + 4 + length), tex, display: pair.display };
}

/** Where a formula begins whose end may still arrive. Only for delimiters that mean nothing else. */
export function isBegun(text: string, at: number): boolean {
  if (!pairs.some(({ open }) => text.startsWith(open, at))) return false;
  const rest = text.slice(at + 2);
  return rest.length <= longest && !/\n[ \t]*\n/.test(rest);
}

/** Where the unfinished block formula at the end of the text begins; -1 if there is none. */
export function unfinishedFormula(text: string): number {
  const from = Math.max(text.length - longest, text.lastIndexOf("\n\n"), 0);
  const opens = /^[ \t]*(?=\$\$|\\\[)/gm;
  opens.lastIndex = from;
  for (let match = opens.exec(text); match; match = opens.exec(text)) {
    const at = match.index + match[0].length;
    const whole = formulaAt(text, at, "");
    if (!whole && isBegun(text, at)) return match.index;
    opens.lastIndex = at + (whole?.raw.length ?? 2);
  }
  return -1;
}

const alone = {
  // Searches only this paragraph, and only for a complete one, because each match restarts the search.
  start(source: string): number | undefined {
    for (const { index, 0: line } of source.matchAll(/\n[ \t]*(?:\n|(?=\$\$|\\\[))/g)) {
      if (line.length > 1 && line.endsWith("\n")) return undefined;
      if (formulaAt(source, index + line.length, "")) return index + 1;
    }
    return undefined;
  },
  tokenizer(source: string): Formula | undefined {
    const indent = /^ {0,3}(?=\$\$|\\\[)/.exec(source)?.[0].length;
    const formula = indent === undefined ? undefined : formulaAt(source, indent, "");
    if (indent === undefined || !formula) return undefined;
    const after = /^[ \t]*(?:\n+|$)/.exec(source.slice(indent + formula.raw.length))?.[0];
    return after === undefined ? undefined : { ...formula, raw: source.slice(0, indent) + formula.raw + after };
  },
};

const inLine = {
  start(source: string): number | undefined {
    const found = source.search(/\$|\\[([]/);
    return found < 0 ? undefined : found;
  },
  tokenizer(source: string, tokens: readonly Token[]): Formula | undefined {
    return /^(?:\$|\\[([])/.test(source) ? formulaAt(source, 0, tokens.at(-1)?.raw.at(-1) ?? "") : undefined;
  },
};

/** Signs inside a formula don't open or close emphasis. */
function masked(source: string): string {
  let text = "";
  let from = 0;
  for (const { index } of source.matchAll(/\$|\\[([]/g)) {
    const formula = index < from ? undefined : formulaAt(source, index);
    if (!formula) continue;
    text += source.slice(from, index) + "a".repeat(formula.raw.length);
    from = index + formula.raw.length;
  }
  return text + source.slice(from);
}

export const formulaGrammar = { alone, inLine, masked } as const;
