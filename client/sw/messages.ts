/** What pages ask of the service worker, and what it answers. */

/** Where other apps send what is shared with the product; answered by the service worker alone. */
export const sharePath = "/share";

/** `base` pages come with every language in use, `visited` ones with reading, `saved` ones on the reader's word. */
export type Keeping = "base" | "visited" | "saved";

export interface KeptPage {
  path: string;
  language: string;
  keeping: Keeping;
  /** Of the document, without the product's name. */
  title: string;
  bytes: number;
  /** Milliseconds of this device's clock. */
  keptAtMs: number;
}

export interface SaveOutcome {
  saved: string[];
  failed: string[];
}

export type WorkerMessage =
  | { type: "SKIP_WAITING" }
  /** A page has started, or its language has changed: this is the reader's. */
  | { type: "LANGUAGE"; language: string }
  /** An address was opened without the browser loading it. */
  | { type: "VISITED"; path: string; language: string }
  | { type: "SAVE"; paths: readonly string[]; language: string }
  | { type: "REMOVE"; path: string }
  | { type: "CLEAR" }
  | { type: "LIST" };

/** What comes back through the message's port; the others are not answered. */
export interface Replies {
  SAVE: SaveOutcome;
  REMOVE: KeptPage[];
  CLEAR: KeptPage[];
  LIST: KeptPage[];
}
