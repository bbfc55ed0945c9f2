import type { MarkedToken, Token } from "marked";
import { TextFault } from "./faults.ts";
import { unknownFigures } from "./figures.ts";
import { linkablePaths } from "./names.ts";
import type { Inline } from "./piece.ts";

/** Refuses figures no catalogue knows. */
export function checked(text: string): string {
  const [unknown] = unknownFigures(text);
  if (unknown !== undefined) throw new TextFault(`unknown placeholder ${unknown}`, text);
  return text;
}

/** Links stay in the product: `/pricing`, `/blog/name#section`, or `#section` of the same piece. */
function checkedLink(href: string, raw: string): string {
  const [path = ""] = href.split("#");
  if (path === "" ? !href.startsWith("#") : !linkablePaths.includes(path)) throw new TextFault(`unknown link ${href}`, raw);
  return href;
}

function plain(text: string, raw: string): string {
  if (/&#?\w+;/.test(text)) throw new TextFault("write the character itself instead of an HTML entity", raw);
  return checked(text);
}

function inlineOf(token: MarkedToken): Inline | Inline[] {
  switch (token.type) {
    case "text":
      return token.tokens ? compileInline(token.tokens) : plain(token.text, token.raw);
    case "escape":
      return token.text;
    case "strong":
      return { type: "strong", content: compileInline(token.tokens) };
    case "em":
      return { type: "emphasis", content: compileInline(token.tokens) };
    case "codespan":
      return { type: "code", text: checked(token.text) };
    case "br":
      return { type: "break" };
    case "link":
      return { type: "link", to: checkedLink(token.href, token.raw), content: compileInline(token.tokens) };
    case "html":
      throw new TextFault(`HTML is not allowed: ${token.raw.trim()}`, token.raw);
    default:
      throw new TextFault(`${token.type} is not allowed here`, token.raw);
  }
}

/** Throws TextFault for what the format has no place for. */
export function compileInline(tokens: readonly Token[]): Inline[] {
  const content: Inline[] = [];
  for (const next of tokens.flatMap((token) => inlineOf(token as MarkedToken))) {
    const last = content.at(-1);
    if (typeof next === "string" && typeof last === "string") content[content.length - 1] = last + next.replace(/\n/g, " ");
    else content.push(typeof next === "string" ? next.replace(/\n/g, " ") : next);
  }
  return content;
}

/** Without marks, as it is read out. */
export function plainText(content: readonly Inline[]): string {
  return content
    .map((part) => {
      if (typeof part === "string") return part;
      if (part.type === "break") return " ";
      return part.type === "code" ? part.text : plainText(part.content);
    })
    .join("");
}
