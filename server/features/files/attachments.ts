/** Uploads. What is kept of a picture was decoded and encoded again: no metadata, no second format hidden in it, upright, of a size models take. */
import type { Sharp } from "sharp";
import { attachmentLimits, countPieces, piecesOf } from "#domain/attachments.ts";
import { DomainError } from "#domain/errors.ts";
import type { FileType } from "#domain/files.ts";
import { fileLimits, fileTypeOf, headBytes } from "#domain/files.ts";
import type { FileInfo } from "../../contract/files.ts";
import type { Deps } from "../../deps.ts";
import { withPictures } from "./picture-library.ts";
import { readPdf } from "./read-pdf.ts";
import type { NewFile } from "./service.ts";
import { storeFile, unsupported } from "./service.ts";

const timeLimitSeconds = 10;
const jpegQuality = 88;
const clearBytes = 3_000_000;

function damaged(): DomainError {
  return new DomainError("file_damaged", "This file is damaged or incomplete");
}

function tooManyPixels(): DomainError {
  return new DomainError("file_too_large", `A picture may have ${fileLimits.megapixels} megapixels`, { megapixels: fileLimits.megapixels });
}

function tooManyPages(): DomainError {
  const { pages } = attachmentLimits;
  return new DomainError("file_pages", `A PDF may have ${pages} pages`, { pages });
}

type Prepared = Pick<NewFile, "width" | "height" | "pages" | "text"> & { bytes: Uint8Array };

async function preparePicture(bytes: Uint8Array): Promise<Prepared> {
  return withPictures(async (open) => {
    const metadata = await open(bytes, { limitInputPixels: false })
      .metadata()
      .catch(() => {
        throw damaged();
      });
    const { width, height } = metadata.autoOrient;
    const pixels = fileLimits.megapixels * 1_000_000;
    if (width * height > pixels) throw tooManyPixels();
    const scale = Math.min(1, Math.sqrt(fileLimits.keptPixels / (width * height)));
    const kept = open(bytes, { limitInputPixels: pixels, failOn: "error", sequentialRead: true })
      .autoOrient()
      .resize(Math.ceil(Math.min(width * scale, fileLimits.pictureSide)), Math.ceil(Math.min(height * scale, fileLimits.pictureSide)), {
        fit: "inside",
        withoutEnlargement: true,
      })
      .timeout({ seconds: timeLimitSeconds });
    const encode = (as: Sharp) =>
      as.toBuffer({ resolveWithObject: true }).catch(() => {
        throw damaged();
      });
    // Not every provider takes WebP, so a transparent picture is kept as PNG, unless that is too large for some of them.
    const clear = metadata.hasAlpha ? await encode(kept.clone().png({ palette: true })) : undefined;
    const isSmall = clear !== undefined && clear.data.length <= clearBytes;
    const { data, info } = isSmall ? clear : await encode(kept.flatten({ background: "white" }).jpeg({ quality: jpegQuality }));
    return { bytes: data, width: info.width, height: info.height };
  });
}

/** Checks the whole text: so far only its first bytes were looked at. */
function prepareText(bytes: Uint8Array): Prepared {
  if (bytes.includes(0)) throw unsupported();
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unsupported();
  }
  const text = textWithin(bytes, attachmentLimits.textBytes);
  return { bytes, text: { text, pageEnds: null, tokenEnds: countPieces(piecesOf(Buffer.from(text))) } };
}

/** The beginning of the text that fits into `limit` bytes. */
function textWithin(bytes: Uint8Array, limit: number): string {
  // Decoding as a stream leaves out a last character that is not complete.
  return new TextDecoder("utf-8").decode(bytes.subarray(0, limit), { stream: true });
}

async function preparePdf(bytes: Uint8Array): Promise<Prepared> {
  const read = await readPdf(bytes);
  if (!("fault" in read)) {
    const { pages, ...text } = read;
    return { bytes, pages, text };
  }
  if (read.fault === "pages") throw tooManyPages();
  if (read.fault === "encrypted") throw new DomainError("file_encrypted", "This PDF is protected by a password");
  if (read.fault === "exhausting") throw new DomainError("file_exhausting", "This PDF takes too much time or memory to read");
  throw damaged();
}

const preparations: Partial<Record<FileType, (bytes: Uint8Array) => Prepared | Promise<Prepared>>> = {
  "image/png": preparePicture,
  "image/jpeg": preparePicture,
  "image/webp": preparePicture,
  "image/gif": preparePicture,
  "application/pdf": preparePdf,
  "text/plain": prepareText,
};

/** Throws `file_unsupported`, `file_damaged`, `file_too_large` (its pixels), and what `storeFile` throws. */
export async function addAttachment(
  deps: Pick<Deps, "db" | "storage" | "clock">,
  userId: string,
  name: string,
  uploaded: Uint8Array,
): Promise<FileInfo> {
  const type = fileTypeOf(uploaded.subarray(0, headBytes));
  if (type === "image/heic") throw new DomainError("file_heic", "Pictures in the form of HEIC or AVIF can't be read");
  const prepare = type && preparations[type];
  if (!prepare) throw unsupported();
  const { bytes, ...measures } = await prepare(uploaded);
  return storeFile(deps, { userId, kind: "attachment", name, ...measures }, bytes);
}
