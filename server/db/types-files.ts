import type { Generated, Selectable } from "kysely";

/** What a person attached to a question, or what a model made for them. */
export interface Files {
  id: Generated<string>;
  user_id: string;
  kind: "attachment" | "output";
  /** Where an attachment was sent; null until it is. */
  conversation_id: Generated<string | null>;
  /** The answer that made an output. */
  generation_id: string | null;
  /** In the file storage. */
  stored_name: Generated<string>;
  name: string;
  /** Null while the file is being stored. */
  content_type: Generated<string | null>;
  /** While it is being stored, what is reserved for it. */
  bytes: number;
  width: Generated<number | null>;
  height: Generated<number | null>;
  duration_ms: Generated<number | null>;
  pages: Generated<number | null>;
  /** Business time. */
  created_at: Date;
  reserved_at: Generated<Date>;
}

export type FileRow = Selectable<Files>;

/** The text of a document, read when it was uploaded. */
export interface FileTexts {
  file_id: string;
  text: string;
  /** Where each page of a PDF ends, in bytes of the text. */
  page_ends: number[] | null;
  /** The most tokens it has up to the end of each page, or of each piece (domain/attachments.ts). */
  token_ends: number[] | null;
}

/** How much each person's files take. Triggers write it. */
export interface FileSpace {
  user_id: string;
  bytes: Generated<number>;
}
