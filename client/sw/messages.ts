/** The messages from pages to the service worker, and its replies. */

/** The address to which other apps send shared texts. Only the service worker answers it. */
export const sharePath = "/share";

/**
 * The cache in which shared files wait for the chat to take them, each with its name and the time it arrived. After `waitMs` they are
 * deleted: whoever uses this device by then may be another person.
 */
export const sharedFiles = { cache: "shared-files", name: "x-name", cameAt: "x-came-at", waitMs: 60 * 60_000 } as const;

/** Whether a shared file is a recording. Its name counts too, because apps give recordings all kinds of types. */
export function isRecording({ name, type }: Pick<File, "name" | "type">): boolean {
  return type.startsWith("audio/") || /\.(mp3|wav|m4a|aac|ogg|oga|opus|webm)$/i.test(name);
}

/**
 * Why a page is kept: `base` pages come with every language in use, `visited` pages were opened, and `saved` pages were saved
 * by the reader.
 */
export type Keeping = "base" | "visited" | "saved";

export interface KeptPage {
  path: string;
  language: string;
  keeping: Keeping;
  /** The document's title, without the product's name. */
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
  /** A page has started or changed its language; this is the reader's language. */
  | { type: "LANGUAGE"; language: string }
  /** An address was opened by client-side navigation. */
  | { type: "VISITED"; path: string; language: string }
  | { type: "SAVE"; paths: readonly string[]; language: string }
  | { type: "REMOVE"; path: string }
  | { type: "CLEAR" }
  | { type: "LIST" };

/** The replies through the message's port; other messages get none. */
export interface Replies {
  SAVE: SaveOutcome;
  REMOVE: KeptPage[];
  CLEAR: KeptPage[];
  LIST: KeptPage[];
}
