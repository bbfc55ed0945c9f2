/** Uploads. What is kept of a picture was decoded and encoded again: no metadata, no second format hidden in it, upright, of a size models take. */
import { DomainError } from "#domain/errors.ts";
import type { FileType } from "#domain/files.ts";
import { fileLimits, fileTypeOf, headBytes } from "#domain/files.ts";
import type { FileInfo } from "../../contract/files.ts";
import type { Deps } from "../../deps.ts";
import { withPictures } from "./picture-library.ts";
import type { NewFile } from "./service.ts";
import { storeFile, unsupported } from "./service.ts";

const timeLimitSeconds = 10;
const jpegQuality = 88;

function damaged(): DomainError {
  return new DomainError("file_damaged", "This file is damaged or incomplete");
}

function tooManyPixels(): DomainError {
  return new DomainError("file_too_large", `A picture may have ${fileLimits.megapixels} megapixels`, { megapixels: fileLimits.megapixels });
}

type Prepared = Pick<NewFile, "width" | "height" | "pages"> & { bytes: Uint8Array };

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
    const kept = open(bytes, { limitInputPixels: pixels, failOn: "error", sequentialRead: true })
      .autoOrient()
      .resize(fileLimits.pictureSide, fileLimits.pictureSide, { fit: "inside", withoutEnlargement: true })
      .timeout({ seconds: timeLimitSeconds });
    const encoded = metadata.hasAlpha || metadata.format === "png" ? kept.png() : kept.jpeg({ quality: jpegQuality });
    const { data, info } = await encoded.toBuffer({ resolveWithObject: true }).catch(() => {
      throw damaged();
    });
    return { bytes: data, width: info.width, height: info.height };
  });
}

/** Text has to be text to its end. */
function prepareText(bytes: Uint8Array): Prepared {
  if (bytes.includes(0)) throw unsupported();
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unsupported();
  }
  return { bytes };
}

const preparations: Partial<Record<FileType, (bytes: Uint8Array) => Prepared | Promise<Prepared>>> = {
  "image/png": preparePicture,
  "image/jpeg": preparePicture,
  "image/webp": preparePicture,
  "image/gif": preparePicture,
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
  const prepare = type === undefined || type === "image/heic" ? undefined : preparations[type];
  if (!prepare) throw unsupported();
  const { bytes, ...measures } = await prepare(uploaded);
  return storeFile(deps, { userId, kind: "attachment", name, ...measures }, bytes);
}
