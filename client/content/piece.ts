import type { LanguageCode } from "#domain/languages.ts";
import type { PieceKind, PieceName } from "./names.ts";

/** A run of text. Strings may hold figures, `{{price:starter}}`, until to-read.ts writes them out. */
export type Inline =
  | string
  | { type: "strong" | "emphasis"; content: Inline[] }
  | { type: "code"; text: string }
  | { type: "link"; to: string; content: Inline[] }
  | { type: "break" };

export type Alignment = "left" | "center" | "right" | null;

export type Block =
  /** `line` is the text of a tight list's item, where a paragraph would stand too far from its neighbours. */
  | { type: "paragraph" | "line"; content: Inline[] }
  | { type: "heading"; level: 2 | 3; id: string; content: Inline[] }
  | { type: "list"; start: number | null; items: Block[][] }
  /** The heads stand at the cells too where a narrow screen lays a row out as a list, so they are words alone. */
  | { type: "table"; align: Alignment[]; head: string[]; rows: Inline[][][] }
  | { type: "quote"; blocks: Block[] }
  | { type: "prompt"; model: string; text: string }
  | { type: "widget"; name: WidgetName };

export const widgetNames = ["roi-calculator"] as const;
export type WidgetName = (typeof widgetNames)[number];

export interface Heading {
  id: string;
  level: 2 | 3;
  /** As read out: without marks. */
  text: string;
}

/** What is known of a piece without its body. */
export interface PieceMetadata {
  name: PieceName;
  language: LanguageCode;
  kind: PieceKind;
  title: string;
  description: string;
  /** ISO dates, without a time of day. */
  published: string;
  updated: string;
  related: PieceName[];
  words: number;
  /** Minutes, at an unhurried pace; at least 1. */
  readingMinutes: number;
}

/** "{{formatted}} credits" in each plural of a language. */
export type CreditForms = Partial<Readonly<Record<Intl.LDMLPluralRule, string>>>;

/** What stands where a piece is recommended. */
export type Recommendation = Pick<PieceMetadata, "name" | "language" | "kind" | "title" | "description">;

export interface Piece extends PieceMetadata {
  /** The text's language may not be the reader's, whose interface texts are all that is at hand. */
  creditForms: CreditForms;
  /** The first paragraph. */
  lead: Inline[];
  headings: Heading[];
  blocks: Block[];
}

/** As it is fetched: with all that its page shows. */
export interface PieceToRead extends Omit<Piece, "creditForms"> {
  /** What to read next, in the piece's language where it is written in it. */
  recommended: Recommendation[];
}
