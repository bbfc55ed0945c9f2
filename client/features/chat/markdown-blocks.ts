import type { Token } from "marked";
import { Lexer } from "marked";

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

/** Above this a single unbroken run is shown as plain text: its parsing could take longer than a frame. */
const longestRun = 60_000;

function lex(text: string): Token[] {
  const plain: Token[] = [{ type: "text", raw: text, text }];
  if (text.length > longestRun) return plain;
  try {
    return new Lexer({ gfm: true }).lex(text);
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

export const nothingLexed: LexedText = { blocks: [], settled: 0, settledLength: 0 };

/** How many blocks at the end stay open: a list goes on across the blank line that follows it. */
const openBlocks = 2;

/**
 * Lexes a growing text, reusing what was settled before, so that each frame costs what is new and not the whole answer.
 * With `finished` everything is read once more, for link definitions that came later than their use.
 */
export function lexGrowing(text: string, before: LexedText, finished: boolean): LexedText {
  if (finished) return { blocks: lex(text).filter((token) => token.type !== "space"), settled: 0, settledLength: 0 };
  const fresh = lex(text.slice(before.settledLength));
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
