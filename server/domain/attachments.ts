/**
 * What a model reads of the files that are attached to a question. Client and server calculate alike: the client says it before the send, and
 * the server keeps to it, so that the fixed price covers the worst case.
 */
import { parametersOf } from "./model-parameters.ts";
import type { Model } from "./models.ts";

export const attachmentLimits = {
  /** To one question. */
  files: 5,
  /** Of a PDF. */
  pages: 300,
  /** Of a document's text: more than any model has room for. */
  textBytes: 600_000,
} as const;

/**
 * We estimate three bytes of UTF-8 for each token and four tokens around each message, for every provider. Latin text has about four bytes
 * in a token and Chinese text about three, so the estimate is rather too high and we send rather too few messages.
 */
export const bytesPerToken = 3;
export const tokensPerMessage = 4;

/**
 * The most that a provider counts for a picture as we keep it (files.ts): 1,568 pixels a side and 1.6 megapixels are up to 2,100 tokens at
 * Anthropic and fewer at the others.
 */
const seenTokens = 2_500;
/** Providers that take PDFs read a picture of each page beside its text. */
const pageTokens = 2_500;
/** For the name of a file, and what says where it begins and ends. */
const frameTokens = 300;
/** The most that a picture takes of a model's room. */
export const pictureTokens = seenTokens + frameTokens;
/** A beginning that is shorter than this is of no use. */
const leastBytes = 1_000;
/** Fewer bytes on a page than this, on the average, and the PDF is pictures of text, which can't be read as text. */
const scannedBytes = 20;

/** What has to be known of a file. */
export interface Attachable {
  contentType: string;
  /** Of a PDF. */
  pages: number | null;
  /** Of a document. */
  textBytes: number | null;
  /** Where each page of a PDF ends, counted in bytes of its text. Pages behind the limit of the text have none. */
  pageEnds: readonly number[] | null;
}

export interface Reading {
  /** `pages`: the PDF itself, with what its pages show. `text`: a document's text, up to `textBytes`. */
  as: "picture" | "pages" | "text" | "sound";
  /** How many pages of a PDF are read. */
  pages: number | null;
  textBytes: number;
  /** Not all of it. */
  cut: boolean;
  /** At most so many go into the question. */
  tokens: number;
}

/** `unreadable`: the model can't read this kind of file. `too_large`: there is no room for it. */
export type ReadingFault = "unreadable" | "too_large";

export const isSound = ({ contentType }: Pick<Attachable, "contentType">) => contentType.startsWith("audio/");

/** Of the models of our catalogue only those hear that write down what they hear. What they hear is priced by its length. */
export function hears({ unit }: Pick<Model, "unit">): boolean {
  return unit === "minute";
}

export const isPicture = ({ contentType }: Pick<Attachable, "contentType">) => contentType.startsWith("image/");

/** By what we know of a model, whether it reads pictures. */
export function seesPictures(model: Pick<Model, "id" | "own">): boolean {
  return parametersOf(model).inputs?.includes("picture") ?? false;
}

export function takesPdf(model: Pick<Model, "id" | "own">): boolean {
  return parametersOf(model).inputs?.includes("pdf") ?? false;
}

export const tokensOfBytes = (bytes: number) => Math.ceil(bytes / bytesPerToken);

function readPicture(model: Pick<Model, "id" | "own">, room: number): Reading | ReadingFault {
  if (!seesPictures(model)) return "unreadable";
  return pictureTokens > room ? "too_large" : { as: "picture", pages: null, textBytes: 0, cut: false, tokens: pictureTokens };
}

function readText({ textBytes, pages, pageEnds }: Attachable, room: number): Reading | ReadingFault {
  const whole = textBytes ?? 0;
  const bytes = Math.min(whole, Math.max((room - frameTokens) * bytesPerToken, 0));
  const read = pageEnds?.filter((end) => end <= bytes).length ?? null;
  const kept = pageEnds ? (pageEnds[(read ?? 0) - 1] ?? 0) : bytes;
  if (kept < Math.min(whole, leastBytes)) return "too_large";
  const cut = read === null ? kept < whole : read < (pages ?? 0);
  return { as: "text", pages: read, textBytes: kept, cut, tokens: tokensOfBytes(kept) + frameTokens };
}

function readDocument(model: Pick<Model, "id" | "own">, file: Attachable, room: number): Reading | ReadingFault {
  const { textBytes, pages, pageEnds } = file;
  if (pages === null) return readText(file, room);
  const bytes = textBytes ?? 0;
  const tokens = tokensOfBytes(bytes) + pages * pageTokens + frameTokens;
  if (takesPdf(model) && tokens <= room && pageEnds?.length === pages) return { as: "pages", pages, textBytes: bytes, cut: false, tokens };
  if (bytes < pages * scannedBytes) return takesPdf(model) ? "too_large" : "unreadable";
  return readText(file, room);
}

const heard: Reading = { as: "sound", pages: null, textBytes: 0, cut: false, tokens: 0 };

/**
 * What the model reads of each file, in their order. Pictures take their room first, since nothing of a picture can be left out; documents share
 * the rest, and are cut where it ends. `promptBytes`: of the question in UTF-8.
 */
export function readAttachments(
  model: Pick<Model, "id" | "inputTokenLimit" | "unit">,
  promptBytes: number,
  files: readonly Attachable[],
): (Reading | ReadingFault)[] {
  let room = model.inputTokenLimit - tokensOfBytes(promptBytes) - tokensPerMessage;
  const readings = new Map<Attachable, Reading | ReadingFault>();
  const take = (file: Attachable, read: Reading | ReadingFault) => {
    readings.set(file, read);
    if (typeof read === "object") room -= read.tokens;
  };
  for (const file of files) if (isPicture(file)) take(file, readPicture(model, room));
  for (const file of files)
    if (isSound(file)) take(file, hears(model) ? heard : "unreadable");
    else if (!isPicture(file)) take(file, hears(model) ? "unreadable" : readDocument(model, file, room));
  return files.map((file) => readings.get(file) ?? "unreadable");
}
