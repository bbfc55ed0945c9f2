import type { MarkedToken, Token, Tokens } from "marked";
import { currentModel } from "#client/lib/offered-models.ts";
import { TextFault } from "./faults.ts";
import { checked, compileInline, plainText } from "./inline.ts";
import type { Block, Heading, Inline } from "./piece.ts";
import { widgetNames } from "./piece.ts";

/** State while a piece is compiled. */
export interface Outline {
  language: string;
  headings: Heading[];
}

function paragraph(token: Tokens.Paragraph, outline: Outline): Block {
  const [, widget] = /^::([\w-]+)$/.exec(token.text.trim()) ?? [];
  if (widget === undefined) return { type: "paragraph", content: compileInline(token.tokens, outline.language) };
  const name = widgetNames.find((known) => known === widget);
  if (!name) throw new TextFault(`there is no ::${widget}`, token.raw);
  return { type: "widget", name };
}

/** The id of a heading, for the address: letters and digits of any script, joined by hyphens, unique in its piece. */
function idOf(text: string, taken: readonly Heading[]): string {
  const base = (
    text
      .toLowerCase()
      .replace(/['’]/g, "")
      .match(/[\p{L}\p{N}]+/gu) ?? ["section"]
  ).join("-");
  const isTaken = (id: string) => taken.some((heading) => heading.id === id);
  let id = base;
  for (let count = 2; isTaken(id); count += 1) id = `${base}-${count}`;
  return id;
}

function heading(token: Tokens.Heading, outline: Outline): Block {
  if (token.depth !== 2 && token.depth !== 3) throw new TextFault("headings are ## or ###; the title is the h1", token.raw);
  const content = compileInline(token.tokens, outline.language);
  const text = plainText(content);
  const id = idOf(text, outline.headings);
  outline.headings.push({ id, level: token.depth, text });
  return { type: "heading", level: token.depth, id, content };
}

function prompt(token: Tokens.Code): Block {
  const [, named] = /^prompt model=(\S+)$/.exec(token.lang?.trim() ?? "") ?? [];
  if (named === undefined) throw new TextFault("a code block is a prompt card: ```prompt model=…", token.raw);
  const model = currentModel(named);
  if (!model) throw new TextFault(`there is no model ${named}`, token.raw);
  if (token.text.trim() === "") throw new TextFault("the prompt is empty", token.raw);
  const { id, name, category, credits, unit } = model;
  return { type: "prompt", model: { id, name, category, credits, unit }, text: checked(token.text.trim()) };
}

function list(token: Tokens.List, outline: Outline): Block {
  if (token.items.some((item) => item.task)) throw new TextFault("a list has no boxes to tick", token.raw);
  const items = token.items.map((item) => compileBlocks(item.tokens, outline));
  return { type: "list", start: token.ordered ? Number(token.start) : null, items };
}

function table(token: Tokens.Table, { language }: Outline): Block {
  const cells = (row: readonly Tokens.TableCell[]): Inline[][] => row.map((cell) => compileInline(cell.tokens, language));
  const head = cells(token.header).map((cell) => {
    if (cell.some((part) => typeof part !== "string")) throw new TextFault("a table's heads are words without marks", token.raw);
    return plainText(cell);
  });
  return { type: "table", align: token.align, head, rows: token.rows.map(cells) };
}

function blockOf(token: MarkedToken, outline: Outline): Block[] {
  switch (token.type) {
    case "space":
      return [];
    case "paragraph":
      return [paragraph(token, outline)];
    case "text":
      return [{ type: "line", content: compileInline(token.tokens ?? [], outline.language) }];
    case "heading":
      return [heading(token, outline)];
    case "code":
      return [prompt(token)];
    case "list":
      return [list(token, outline)];
    case "table":
      return [table(token, outline)];
    case "blockquote":
      return [{ type: "quote", blocks: compileBlocks(token.tokens, outline) }];
    case "html":
      throw new TextFault(`HTML is not allowed: ${token.raw.trim()}`, token.raw);
    default:
      throw new TextFault(`${token.type} is not allowed here`, token.raw);
  }
}

/** Throws TextFault for Markdown that the format does not support. */
export function compileBlocks(tokens: readonly Token[], outline: Outline): Block[] {
  return tokens.flatMap((token) => blockOf(token as MarkedToken, outline));
}

/** All readable text in order, for counting words. */
export function readableText(blocks: readonly Block[]): string {
  return blocks.map(textOf).join("\n");
}

function textOf(block: Block): string {
  switch (block.type) {
    case "paragraph":
    case "line":
    case "heading":
      return plainText(block.content);
    case "list":
      return block.items.map(readableText).join("\n");
    case "table":
      return [block.head, ...block.rows.map((row) => row.map(plainText))].map((row) => row.join(" ")).join("\n");
    case "quote":
      return readableText(block.blocks);
    case "prompt":
      return block.text;
    case "widget":
      return "";
  }
}

/** All links in a piece. */
export function linksOf(blocks: readonly Block[]): string[] {
  const inline = (content: readonly Inline[]): string[] =>
    content.flatMap((part) => {
      if (typeof part === "string" || !("content" in part)) return [];
      return part.type === "link" ? [part.to, ...inline(part.content)] : inline(part.content);
    });
  return blocks.flatMap((block) => {
    if ("content" in block) return inline(block.content);
    if (block.type === "list") return block.items.flatMap(linksOf);
    if (block.type === "quote") return linksOf(block.blocks);
    return block.type === "table" ? block.rows.flat().flatMap(inline) : [];
  });
}
