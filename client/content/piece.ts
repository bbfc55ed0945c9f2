import type { LanguageCode } from "#domain/languages.ts";
import type { Model } from "#domain/models.ts";
import type { PieceKind, PieceName } from "./names.ts";

/** A run of text. Strings may contain numbers such as `{{price:starter}}` until to-read.ts fills them in. */
export type Inline =
  | string
  | { type: "strong" | "emphasis"; content: Inline[] }
  | { type: "code"; text: string }
  | { type: "link"; to: string; content: Inline[] }
  | { type: "break" };

export type Alignment = "left" | "center" | "right" | null;

/** What a prompt card says of its model. */
export type PromptModel = Pick<Model, "id" | "name" | "category" | "credits" | "unit">;

export type Block =
  /** `line` is the text of an item in a tight list, where a paragraph would have too much space around it. */
  | { type: "paragraph" | "line"; content: Inline[] }
  | { type: "heading"; level: 2 | 3; id: string; content: Inline[] }
  | { type: "list"; start: number | null; items: Block[][] }
  /** Headers are plain text, because narrow screens show each row as a list and repeat the header in every cell. */
  | { type: "table"; align: Alignment[]; head: string[]; rows: Inline[][][] }
  | { type: "quote"; blocks: Block[] }
  | { type: "prompt"; model: PromptModel; text: string }
  | { type: "widget"; name: WidgetName };

export const widgetNames = ["roi-calculator"] as const;
export type WidgetName = (typeof widgetNames)[number];

export interface Heading {
  id: string;
  level: 2 | 3;
  /** Plain text, without markup. */
  text: string;
}

/** The metadata of a piece, without its body. */
export interface PieceMetadata {
  name: PieceName;
  language: LanguageCode;
  kind: PieceKind;
  title: string;
  description: string;
  /** ISO dates without a time. */
  published: string;
  updated: string;
  related: PieceName[];
  words: number;
  /** In minutes, for a slow reader; at least 1. */
  readingMinutes: number;
}

/** "{{formatted}} credits" in each plural form of a language. */
export type CreditForms = Partial<Readonly<Record<Intl.LDMLPluralRule, string>>>;

/** What a recommendation of a piece shows. */
export type Recommendation = Pick<PieceMetadata, "name" | "language" | "kind" | "title" | "description">;

export interface Piece extends PieceMetadata {
  /** In the piece's language. The interface's texts are in the reader's language, which may differ. */
  creditForms: CreditForms;
  /** The first paragraph. */
  lead: Inline[];
  headings: Heading[];
  blocks: Block[];
}

/** A piece as the client fetches it, with everything its page shows. */
export interface PieceToRead extends Omit<Piece, "creditForms"> {
  /** What to read next, in the piece's language if it exists in it. */
  recommended: Recommendation[];
}

/** How a piece reads from that day on, the first of an edition of the catalogue: what differs from the first edition. */
export interface PieceChange {
  from: string;
  fields: Partial<PieceToRead>;
  blocks: [index: number, block: Block][];
}

/** The parts of a piece that say something of models, which is still to be filled in (fill-models.ts). */
export interface ModelSlots {
  creditForms: CreditForms;
  fields: Partial<PieceToRead>;
  blocks: [index: number, block: Block][];
}

/** A piece as it reads in the first edition of the catalogue, and its changes in later ones, in order. */
export interface PieceVersions {
  piece: PieceToRead;
  changes: PieceChange[];
}
