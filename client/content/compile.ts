/**
 * Compiles a Markdown file of `client/content/` into the blocks that the page renders. This happens at build, so that no reader
 * downloads a parser. Unsupported Markdown stops the build and names the file and line.
 */
import { readFileSync } from "node:fs";
import type { Token } from "marked";
import { Lexer } from "marked";
import type { LanguageCode } from "#domain/languages.ts";
import { matchLanguage } from "#domain/languages.ts";
import type { Outline } from "./blocks.ts";
import { compileBlocks, linksOf, readableText } from "./blocks.ts";
import { ContentFault, TextFault } from "./faults.ts";
import { readFrontMatter } from "./front-matter.ts";
import type { PieceName } from "./names.ts";
import { isPieceName } from "./names.ts";
import type { Block, CreditForms, Heading, Piece, PieceMetadata } from "./piece.ts";

/** The pace of a slow reader. */
const wordsPerMinute = 220;

/** Counts words by the language's rules, because Chinese and Japanese have no spaces between words. */
function countWords(text: string, language: string): number {
  let count = 0;
  for (const { isWordLike } of new Intl.Segmenter(language, { granularity: "word" }).segment(text)) if (isWordLike) count += 1;
  return count;
}

function lineOf(source: string, offset: number): number {
  return source.slice(0, offset).split("\n").length;
}

/**
 * Runs one step of the compilation and adds the line number to what it throws. `from` is the offset in the source from which to
 * search for the passage.
 */
function located<Result>(file: string, source: string, from: number, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof TextFault)) {
      throw new ContentFault(file, lineOf(source, from), error instanceof Error ? error.message : String(error));
    }
    // A field is searched for together with the line break before it, which belongs to the line above.
    const found = source.indexOf(error.near, from);
    const skipped = error.near.startsWith("\n") ? 1 : 0;
    throw new ContentFault(file, lineOf(source, found === -1 ? from : found + skipped), error.message);
  }
}

/** Taken from the interface's texts, so that credits are counted the same way everywhere. */
function creditFormsOf(language: LanguageCode): CreditForms {
  const file = new URL(`../i18n/locales/${language}/common.json`, import.meta.url);
  const texts = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  return Object.fromEntries(categories.map((category) => [category, String(texts[`credits_${category}`])]));
}

interface Place {
  language: LanguageCode;
  name: PieceName;
}

/** Example: `…/content/en/marketing.md` is the English guide at /marketing. */
function placeOf(file: string): Place {
  const [, folder = "", name = ""] = /([^/]+)\/([^/]+)\.md$/.exec(file) ?? [];
  const language = matchLanguage(folder);
  if (language !== folder) throw new ContentFault(file, 1, `${folder} is no language of the product`);
  if (!isPieceName(name)) throw new ContentFault(file, 1, `${name} is not in client/content/names.ts`);
  return { language, name };
}

interface Body {
  lead: Block & { type: "paragraph" };
  blocks: Block[];
  headings: Heading[];
}

function compileBody(file: string, source: string, bodyStart: number, language: string): Body {
  const outline: Outline = { language, headings: [] };
  const blocks: Block[] = [];
  const starts: number[] = [];
  let offset = bodyStart;
  const lexed: Token[] = new Lexer({ gfm: true }).lex(source.slice(bodyStart));
  for (const token of lexed) {
    const start = offset;
    const added = located(file, source, start, () => compileBlocks([token], outline));
    blocks.push(...added);
    starts.push(...added.map(() => start));
    offset += token.raw.length;
  }
  for (const [index, block] of blocks.entries()) {
    const lost = linksOf([block]).find((link) => link.startsWith("#") && !outline.headings.some(({ id }) => `#${id}` === link));
    if (lost !== undefined) throw new ContentFault(file, lineOf(source, starts[index] ?? bodyStart), `there is no section ${lost}`);
  }
  const [lead, ...rest] = blocks;
  if (lead?.type !== "paragraph") throw new ContentFault(file, lineOf(source, bodyStart), "the text has to begin with a paragraph");
  return { lead: { ...lead, type: "paragraph" }, blocks: rest, headings: outline.headings };
}

/** `file` ends in `<language>/<name>.md`. Throws ContentFault. */
export function compilePiece(text: string, file: string): Piece {
  const { language, name } = placeOf(file);
  const source = text.replace(/\r\n?/g, "\n");
  const [opening, frontMatter] = /^---\n([\s\S]*?\n)---\n/.exec(source) ?? [];
  if (opening === undefined || frontMatter === undefined) throw new ContentFault(file, 1, "the file has to begin with front matter: ---");
  const told = located(file, source, 0, () => readFrontMatter(frontMatter, name, language));
  const { lead, blocks, headings } = compileBody(file, source, opening.length, language);
  const words = countWords(readableText([lead, ...blocks]), language);
  const readingMinutes = Math.max(1, Math.round(words / wordsPerMinute));
  const creditForms = creditFormsOf(language);
  return { name, language, ...told, words, readingMinutes, creditForms, lead: lead.content, headings, blocks };
}

/** The metadata that lists and page heads need. */
export function metadataOf({ creditForms: _forms, lead: _lead, headings: _headings, blocks: _blocks, ...metadata }: Piece): PieceMetadata {
  return metadata;
}
