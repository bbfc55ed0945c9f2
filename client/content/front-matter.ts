import { parse, YAMLParseError } from "yaml";
import { TextFault } from "./faults.ts";
import { fillIn } from "./figure.ts";
import { allFigures, unknownFigures } from "./figures.ts";
import type { PieceKind, PieceName } from "./names.ts";
import { isPieceName, kindOf } from "./names.ts";
import { curlQuotes } from "./quotes.ts";

/** Search results cut off longer titles. */
const titleMax = 60;
/** Search results cut off longer descriptions; shorter ones waste the space. */
const descriptionMin = 120;
const descriptionMax = 155;

export interface FrontMatter {
  kind: PieceKind;
  title: string;
  description: string;
  published: string;
  updated: string;
  related: PieceName[];
}

type Field = keyof FrontMatter;
const fields: readonly Field[] = ["kind", "title", "description", "published", "updated", "related"];

function fieldFault(message: string, field: string): TextFault {
  return new TextFault(message, `\n${field}:`);
}

function textOf(values: Record<string, unknown>, field: Field, language: string, shortest: number, longest: number): string {
  const value = values[field];
  if (typeof value !== "string" || value.trim() === "") throw fieldFault(`${field} is missing`, field);
  const [unknown] = unknownFigures(value);
  if (unknown !== undefined) throw fieldFault(`${field}: unknown placeholder ${unknown}`, field);
  // A price in credits needs the interface's plurals, which are not loaded here.
  if (value.includes("{{cost:")) throw fieldFault(`${field} can't hold a price in credits`, field);
  const text = curlQuotes(fillIn(allFigures, value.trim(), { language, credits: String }), language);
  const length = [...text].length;
  if (length > longest || length < shortest) {
    throw fieldFault(`${field} has ${length} characters; ${shortest} to ${longest} are allowed`, field);
  }
  return text;
}

function dateOf(values: Record<string, unknown>, field: Field): string {
  const value = values[field];
  const isDate = typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value) && new Date(value).toJSON()?.startsWith(value);
  if (!isDate) throw fieldFault(`${field} is no date like 2026-09-14`, field);
  return value;
}

function relatedOf(values: Record<string, unknown>, name: PieceName): PieceName[] {
  const value = values.related ?? [];
  if (!Array.isArray(value)) throw fieldFault("related is no list", "related");
  return value.map((other: unknown) => {
    if (typeof other !== "string" || !isPieceName(other)) throw fieldFault(`related: there is no ${other}`, "related");
    if (other === name) throw fieldFault("related names the piece itself", "related");
    return other;
  });
}

/** Quotes the values, so that a writer may use a colon in a title without knowing YAML. */
function quoted(source: string): string {
  return source.replace(
    /^(title|description): *(?!["'>|])(\S.*)$/gm,
    (_, field: string, text: string) => `${field}: ${JSON.stringify(text.trim())}`,
  );
}

function valuesOf(source: string): unknown {
  try {
    return parse(quoted(source));
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    // YAML notices an unclosed quote only at the end, so report the last line with content.
    const upToFault = source.split("\n").slice(0, error.linePos?.[0].line ?? 1);
    const line = upToFault.findLast((text) => text.trim() !== "") ?? "";
    throw new TextFault(error.message.replace(/ at line [\s\S]*$/, ""), `\n${line}`);
  }
}

/** `language` is the language of the text; numbers in title and description are formatted in it. Throws TextFault. */
export function readFrontMatter(source: string, name: PieceName, language: string): FrontMatter {
  const values = valuesOf(source);
  if (typeof values !== "object" || values === null) throw fieldFault("the front matter is empty", "---");
  const known = values as Record<string, unknown>;
  const extra = Object.keys(known).find((key) => !fields.some((field) => field === key));
  if (extra !== undefined) throw fieldFault(`unknown field ${extra}`, extra);
  const kind = kindOf(name);
  if (known.kind !== kind) throw fieldFault(`kind has to be ${kind}`, "kind");
  const [published, updated] = [dateOf(known, "published"), dateOf(known, "updated")];
  if (updated < published) throw fieldFault("updated lies before published", "updated");
  return {
    kind,
    title: textOf(known, "title", language, 1, titleMax),
    description: textOf(known, "description", language, descriptionMin, descriptionMax),
    published,
    updated,
    related: relatedOf(known, name),
  };
}
