import type { Token, TokensList } from "marked";
import { Hooks, Lexer } from "marked";
import { formulaGrammar } from "./formulas.ts";
import { closeUnfinished } from "./unfinished-end.ts";

/** Answers come from models and so, indirectly, from anybody: only links to addresses that a person can see are allowed. */
const allowedProtocols = ["http:", "https:", "mailto:"];

/** The address to link to; undefined unless it is absolute and has an allowed scheme. */
export function safeHref(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  return allowedProtocols.includes(url.protocol) ? url.href : undefined;
}

const namedEntities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Decodes character references in text. Unknown ones stay as they are. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return namedEntities[name] ?? whole;
    const code = hex === undefined ? Number.parseInt(decimal ?? "", 10) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
  });
}

/** A longer text is shown as plain text, because parsing it could take longer than a frame. */
const longestRun = 60_000;
/** More than anybody writes. Text with more is shown as plain text too, because parsing it could take a second. */
const most = { depth: 12, listItems: 1_500, segmentLength: 12_000, segmentSigns: 500 } as const;

/** Whether a paragraph, a cell or an item would only cost time: it has thousands of markers, or an endless word. */
function isTangled(segment: string): boolean {
  if (segment.length > most.segmentLength) return true;
  if ((segment.match(/[*_~`[\]<&$@]|\\\(/g)?.length ?? 0) > most.segmentSigns) return true;
  return /[!-~]{500}/.test(segment);
}

/** Marked's lexer with a limit on its work. Beyond the limit the text is shown as it was written. */
class BoundedLexer extends Lexer {
  private depth = 0;

  override blockTokens(source: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] | TokensList = [], lastParagraphClipped?: boolean): Token[] | TokensList {
    if (this.depth >= most.depth) {
      tokens.push({ type: "text", raw: source, text: source });
      return tokens;
    }
    this.depth += 1;
    try {
      return super.blockTokens(source, tokens, lastParagraphClipped);
    } finally {
      this.depth -= 1;
    }
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (!isTangled(source)) return super.inlineTokens(source, tokens);
    tokens.push({ type: "text", raw: source, text: source });
    return tokens;
  }
}

class FormulaHooks extends Hooks {
  override emStrongMask(source: string): string {
    return formulaGrammar.masked(source);
  }
}

const { alone, inLine } = formulaGrammar;
const withFormulas = {
  gfm: true,
  extensions: {
    renderers: {},
    childTokens: {},
    block: [alone.tokenizer],
    startBlock: [alone.start],
    inline: [inLine.tokenizer],
    startInline: [inLine.start],
  },
};

function lex(text: string): Token[] {
  const plain: Token[] = [{ type: "text", raw: text, text }];
  if (text.length > longestRun || (text.match(/^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/gm)?.length ?? 0) > most.listItems) return plain;
  try {
    // Looking for formulas takes four times as long, so we do it only where there can be one.
    return new BoundedLexer(/\$|\\[([]/.test(text) ? { ...withFormulas, hooks: new FormulaHooks() } : { gfm: true }).lex(text);
  } catch {
    // Nesting too deep for the call stack, which no real formatting has.
    return plain;
  }
}

/** The blocks of an answer so far. `settled` ones can't change any more, however the text continues. */
export interface LexedText {
  blocks: readonly Token[];
  settled: number;
  settledLength: number;
}

/** `growing` while more text comes; `cut` if the text broke off, so that a marker opened at its end may never be closed. */
export type TextEnd = "growing" | "cut" | "whole";

export const nothingLexed: LexedText = { blocks: [], settled: 0, settledLength: 0 };

/** How many blocks at the end may still change: a list continues after a blank line. */
const openBlocks = 2;

/**
 * Lexes a growing text and reuses the settled blocks, so that each frame costs only the new text. At the end everything is lexed once
 * more, for link definitions that came after their use.
 */
export function lexGrowing(text: string, before: LexedText, end: TextEnd): LexedText {
  if (end !== "growing") {
    const whole = lex(end === "cut" ? closeUnfinished(text) : text);
    return { blocks: whole.filter((token) => token.type !== "space"), settled: 0, settledLength: 0 };
  }
  const fresh = lex(closeUnfinished(text.slice(before.settledLength)));
  const kept = before.blocks.slice(0, before.settled);
  const visible = fresh.filter((token) => token.type !== "space");
  const blocks = [...kept, ...visible];
  if (visible.length <= openBlocks) return { blocks, settled: before.settled, settledLength: before.settledLength };
  const firstOpen = visible[visible.length - openBlocks];
  let length = before.settledLength;
  for (const token of fresh) {
    if (token === firstOpen) break;
    length += token.raw.length;
  }
  return { blocks, settled: blocks.length - openBlocks, settledLength: length };
}
