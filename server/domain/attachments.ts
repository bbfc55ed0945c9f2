/**
 * What a model reads of the files that are attached to a question. Client and server calculate alike: the client shows it before the
 * question is sent, and the server sends the model no more, so that the fixed price covers the worst case.
 */
import { parametersOf } from "./model-parameters.ts";
import type { Model } from "./models.ts";
import { countTokens, mostTokensPerCounted } from "./tokens.ts";

export const attachmentLimits = {
  /** To one question. */
  files: 5,
  /** For a PDF. */
  pages: 300,
  /** For a document's text: no model has room for more. */
  textBytes: 600_000,
  /** For what goes with one question as it is, pictures and PDFs: providers take requests of about 30 MB, and base64 makes four bytes of three. */
  sentBytes: 15_000_000,
} as const;

/** Around each message, for every provider. */
export const tokensPerMessage = 8;
/** The tokens of a text without pages are counted up to the end of each piece of this size. */
const pieceBytes = 10_000;

/**
 * The most that a provider counts for a picture as we keep it (files.ts): 1,568 pixels a side and 1.6 megapixels are up to 2,100 tokens at
 * Anthropic and fewer at the others.
 */
const seenTokens = 2_500;
/** Providers that take PDFs read a picture of each page beside its text. */
const pageTokens = 2_500;
/** Tokens for the lines that mark where a file begins and ends, without its name. */
const frameTokens = 60;
/** The most tokens that a picture takes. Its name is sent only in its place, for example after it was deleted. */
export const pictureTokens = seenTokens + 300;
/** A beginning that is shorter than this is of no use. */
const leastBytes = 1_000;
/** A PDF with fewer bytes of text a page than this, on average, is a scan, which can't be read as text. */
const scannedBytes = 20;

/** What has to be known of a file. */
export interface Attachable {
  name: string;
  contentType: string;
  /** Of the file. */
  bytes: number;
  /** For a PDF. */
  pages: number | null;
  /** For a document. */
  textBytes: number | null;
  /** Where each page of a PDF ends, counted in bytes of its text. Pages beyond the limit of the text have none. */
  pageEnds: readonly number[] | null;
  /** The most tokens that the text has up to the end of each page or piece. Null for a document that was read before we counted them. */
  tokenEnds: readonly number[] | null;
}

export interface Reading {
  /** `pages`: the PDF itself, with what its pages show. `text`: a document's text, up to `textBytes`. */
  as: "picture" | "pages" | "text" | "sound";
  /** How many pages of a PDF are read. */
  pages: number | null;
  textBytes: number;
  /** Whether only a part of it is read. */
  cut: boolean;
  /** The most tokens that it takes. */
  tokens: number;
}

/** `unreadable`: the model can't read this kind of file. `too_large`: there is no room for it. */
export type ReadingFault = "unreadable" | "too_large";

export const isSound = ({ contentType }: Pick<Attachable, "contentType">) => contentType.startsWith("audio/");

/** In our catalogue, only the models that write down what they hear can hear. We price what they hear by its length. */
export function hears({ unit }: Pick<Model, "unit">): boolean {
  return unit === "minute";
}

export const isPicture = ({ contentType }: Pick<Attachable, "contentType">) => contentType.startsWith("image/");

/** Whether the model reads pictures, as far as we know. */
export function seesPictures(model: Pick<Model, "id" | "own">): boolean {
  return parametersOf(model).inputs?.includes("picture") ?? false;
}

export function takesPdf(model: Pick<Model, "id" | "own">): boolean {
  return parametersOf(model).inputs?.includes("pdf") ?? false;
}

/** `Attachable.tokenEnds` of a text, whose pieces are given. */
export function countPieces(pieces: readonly string[]): number[] {
  let tokens = 0;
  return pieces.map((piece) => {
    tokens += countTokens(piece);
    return tokens;
  });
}

/** The pieces of a text without pages. A character that a border cuts becomes replacement characters (U+FFFD) on both sides. */
export function piecesOf(bytes: Uint8Array): string[] {
  const decoder = new TextDecoder();
  return Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    decoder.decode(bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes)),
  );
}

/** How many tokens a reading takes. Readings stored before we counted tokens name too few, so their bytes decide. */
export function tokensOfReading({ tokens, textBytes }: Pick<Reading, "tokens" | "textBytes">): number {
  return Math.max(tokens, Math.ceil(textBytes / mostTokensPerCounted));
}

const frameOf = ({ name }: Pick<Attachable, "name">) => frameTokens + countTokens(name);

/** What is left for the files of one question. */
interface Room {
  tokens: number;
  /** For files that go as they are. */
  bytes: number;
}

/** Whether the file itself goes to the model, and not its text. */
export function goesAsItIs(model: Pick<Model, "id" | "own">, { as }: Pick<Reading, "as">): boolean {
  return as === "picture" ? seesPictures(model) : as === "pages" && takesPdf(model);
}

function readPicture(model: Pick<Model, "id" | "own">, file: Attachable, room: Room): Reading | ReadingFault {
  if (!seesPictures(model)) return "unreadable";
  return pictureTokens > room.tokens || file.bytes > room.bytes
    ? "too_large"
    : { as: "picture", pages: null, textBytes: 0, cut: false, tokens: pictureTokens };
}

interface Kept {
  bytes: number;
  tokens: number;
  /** For a PDF. */
  pages: number | null;
}

/** The longest beginning of the text that fits into `room` tokens. */
function beginningOf({ textBytes, pageEnds, tokenEnds }: Attachable, room: number): Kept {
  const whole = textBytes ?? 0;
  if (pageEnds) {
    const ends = tokenEnds ?? pageEnds;
    const pages = ends.filter((end) => end <= room).length;
    return { bytes: pageEnds[pages - 1] ?? 0, tokens: ends[pages - 1] ?? 0, pages };
  }
  const pieces = tokenEnds?.filter((end) => end <= room).length ?? 0;
  const [bytes, tokens] = [Math.min(pieces * pieceBytes, whole), tokenEnds?.[pieces - 1] ?? 0];
  // A byte is at most one token.
  const more = Math.min(whole - bytes, Math.max(room - tokens, 0));
  return { bytes: bytes + more, tokens: tokens + more, pages: null };
}

function readText(file: Attachable, room: number): Reading | ReadingFault {
  const whole = file.textBytes ?? 0;
  const frame = frameOf(file);
  const { bytes, tokens, pages } = beginningOf(file, room - frame);
  if (frame > room || bytes < Math.min(whole, leastBytes)) return "too_large";
  const cut = pages === null ? bytes < whole : pages < (file.pages ?? 0);
  return { as: "text", pages, textBytes: bytes, cut, tokens: tokens + frame };
}

function readDocument(model: Pick<Model, "id" | "own">, file: Attachable, room: Room): Reading | ReadingFault {
  const { textBytes, pages, pageEnds, tokenEnds } = file;
  if (pages === null) return readText(file, room.tokens);
  const bytes = textBytes ?? 0;
  const tokens = (tokenEnds?.at(-1) ?? bytes) + pages * pageTokens + frameOf(file);
  const fits = tokens <= room.tokens && file.bytes <= room.bytes;
  if (takesPdf(model) && fits && pageEnds?.length === pages) return { as: "pages", pages, textBytes: bytes, cut: false, tokens };
  if (bytes < pages * scannedBytes) return takesPdf(model) ? "too_large" : "unreadable";
  return readText(file, room.tokens);
}

const heard: Reading = { as: "sound", pages: null, textBytes: 0, cut: false, tokens: 0 };

/**
 * What the model reads of each file, in their order. Pictures take their room first, since nothing of a picture can be left out; documents share
 * the rest, and are cut where it ends. A PDF whose bytes don't fit beside the others is sent as its text. `promptTokens`: of the question.
 */
export function readAttachments(
  model: Pick<Model, "id" | "inputTokenLimit" | "unit">,
  promptTokens: number,
  files: readonly Attachable[],
): (Reading | ReadingFault)[] {
  const room: Room = { tokens: model.inputTokenLimit - promptTokens - tokensPerMessage, bytes: attachmentLimits.sentBytes };
  const readings = new Map<Attachable, Reading | ReadingFault>();
  const take = (file: Attachable, read: Reading | ReadingFault) => {
    readings.set(file, read);
    if (typeof read !== "object") return;
    room.tokens -= read.tokens;
    if (goesAsItIs(model, read)) room.bytes -= file.bytes;
  };
  for (const file of files) if (isPicture(file)) take(file, readPicture(model, file, room));
  for (const file of files)
    if (isSound(file)) take(file, hears(model) ? heard : "unreadable");
    else if (!isPicture(file)) take(file, hears(model) ? "unreadable" : readDocument(model, file, room));
  return files.map((file) => readings.get(file) ?? "unreadable");
}
