import type { Token, TokensList } from "marked";
import { Hooks, Lexer } from "marked";
import { formulaGrammar } from "./formulas.ts";
import { closeUnfinished } from "./unfinished-end.ts";

/** Answers come from models, and so, indirectly, from anybody: links lead only where a person can see they lead. */
const allowedProtocols = ["http:", "https:", "mailto:"];

/** The address to link to, or undefined when it is not an absolute one of an allowed scheme. */
export function safeHref(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  return allowedProtocols.includes(url.protocol) ? url.href : undefined;
}

const namedEntities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Character references in running text; unknown ones stay as they were written. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return namedEntities[name] ?? whole;
    const code = hex === undefined ? Number.parseInt(decimal ?? "", 10) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
  });
}

/** Above this a text is shown as plain text: its parsing could take longer than a frame. */
const longestRun = 60_000;
/** More than anybody writes. What has more is not read as formatting either, and could take a second to be parsed. */
const most = { depth: 12, listItems: 1_500, segmentLength: 12_000, segmentSigns: 500 } as const;

/** Whether a paragraph, a cell or an item holds what only costs time: thousands of signs, or a word without an end. */
function isTangled(segment: string): boolean {
  if (segment.length > most.segmentLength) return true;
  if ((segment.match(/[*_~`[\]<&$@]|\\\(/g)?.length ?? 0) > most.segmentSigns) return true;
  return /[!-~]{500}/.test(segment);
}

/** Marked's lexer with a bound on what it tries: beyond it the text stands as it was written. */
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
    // Looking for formulas takes four times as long, so only what can hold one is read so.
    return new BoundedLexer(/\$|\\[([]/.test(text) ? { ...withFormulas, hooks: new FormulaHooks() } : { gfm: true }).lex(text);
  } catch {
    // Nesting deeper than the call stack; nobody reads it as formatting either.
    return plain;
  }
}

/** Blocks of an answer so far. `settled` ones can't change any more, however the text goes on. */
export interface LexedText {
  blocks: readonly Token[];
  settled: number;
  settledLength: number;
}

/** `growing` while more comes; `cut` where it was broken off, so that what is begun at its end is not all there. */
export type TextEnd = "growing" | "cut" | "whole";

export const nothingLexed: LexedText = { blocks: [], settled: 0, settledLength: 0 };

/** How many blocks at the end stay open: a list goes on across the blank line that follows it. */
const openBlocks = 2;

/**
 * Lexes a growing text, reusing what was settled before, so that each frame costs what is new and not the whole answer.
 * At its end everything is read once more, for link definitions that came later than their use.
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
