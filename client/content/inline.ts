import type { MarkedToken, Token } from "marked";
import { TextFault } from "./faults.ts";
import { unknownFigures } from "./figures.ts";
import { linkablePaths } from "./names.ts";
import type { Inline } from "./piece.ts";
import { curlQuotes } from "./quotes.ts";

/** Throws for numbers that no catalogue has. */
export function checked(text: string): string {
  const [unknown] = unknownFigures(text);
  if (unknown !== undefined) throw new TextFault(`unknown placeholder ${unknown}`, text.includes(unknown) ? unknown : text);
  return text;
}

/** Links must stay within the product: `/pricing`, `/blog/name#section`, or `#section` of the same piece. */
function checkedLink(href: string, raw: string): string {
  const [path = ""] = href.split("#");
  if (path === "" ? !href.startsWith("#") : !linkablePaths.includes(path)) throw new TextFault(`unknown link ${href}`, raw);
  return href;
}

/** The context of a run of text: its language, and the character before it. */
interface Place {
  language: string;
  before: string;
}

function plain(text: string, raw: string, { language, before }: Place): string {
  if (/&#?\w+;/.test(text)) throw new TextFault("write the character itself instead of an HTML entity", raw);
  return curlQuotes(checked(text).replace(/\n/g, " "), language, before);
}

function inlineOf(token: MarkedToken, place: Place): Inline | Inline[] {
  const { language, before } = place;
  switch (token.type) {
    case "text":
      return token.tokens ? compileInline(token.tokens, language, before) : plain(token.text, token.raw, place);
    case "escape":
      return token.text;
    case "strong":
      return { type: "strong", content: compileInline(token.tokens, language, before) };
    case "em":
      return { type: "emphasis", content: compileInline(token.tokens, language, before) };
    case "codespan":
      return { type: "code", text: checked(token.text) };
    case "br":
      return { type: "break" };
    case "link":
      return { type: "link", to: checkedLink(token.href, token.raw), content: compileInline(token.tokens, language, before) };
    case "html":
      throw new TextFault(`HTML is not allowed: ${token.raw.trim()}`, token.raw);
    default:
      throw new TextFault(`${token.type} is not allowed here`, token.raw);
  }
}

/** The last character so far. For an element it returns a letter, because most elements end in one. */
function lastCharacter(content: readonly Inline[], before: string): string {
  const last = content.at(-1);
  if (last === undefined) return before;
  if (typeof last === "string") return last.at(-1) ?? before;
  return last.type === "break" ? " " : "x";
}

/** Throws TextFault for Markdown that the format does not support. */
export function compileInline(tokens: readonly Token[], language: string, before = ""): Inline[] {
  const content: Inline[] = [];
  for (const token of tokens) {
    for (const next of [inlineOf(token as MarkedToken, { language, before: lastCharacter(content, before) })].flat()) {
      const last = content.at(-1);
      if (typeof next === "string" && typeof last === "string") content[content.length - 1] = last + next;
      else content.push(next);
    }
  }
  return content;
}

/** The text without markup. */
export function plainText(content: readonly Inline[]): string {
  return content
    .map((part) => {
      if (typeof part === "string") return part;
      if (part.type === "break") return " ";
      return part.type === "code" ? part.text : plainText(part.content);
    })
    .join("");
}
