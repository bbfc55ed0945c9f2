/**
 * Makes the two kept sizes from an uploaded picture. It is decoded and encoded again, so nothing of the file itself is ever served: no
 * metadata, no second format hidden in it, no animation. Memory and time are bounded by the picture's pixels, the number at once
 * and a time limit.
 */
import type { SharpOptions } from "sharp";
import type { Crop } from "#domain/avatars.ts";
import { avatarLimits, avatarSizes, centreCrop } from "#domain/avatars.ts";
import { DomainError } from "#domain/errors.ts";
import type { OpenPicture } from "../files/picture-library.ts";
import { withPictures } from "../files/picture-library.ts";

export interface Picture {
  small: Buffer;
  large: Buffer;
}

const timeLimitSeconds = 10;
const quality = 82;

/** AVIF is AV1 in a HEIF container. */
const formats: readonly (string | undefined)[] = ["jpeg", "png", "webp", "heif", "gif"];

export function unsupportedPicture(): DomainError {
  return new DomainError("picture_unsupported", "Choose a picture in the form of JPEG, PNG, WebP, AVIF or GIF");
}

export function pictureTooLarge(): DomainError {
  const { megabytes, megapixels } = avatarLimits;
  return new DomainError("picture_too_large", `A picture may have ${megabytes} MB and ${megapixels} megapixels`);
}

function damagedPicture(): DomainError {
  return new DomainError("picture_damaged", "The picture is damaged or incomplete. Choose another one");
}

/** Width and height of the upright picture. It reads only the header, so the caller has to check the limit of pixels. */
async function measure(open: OpenPicture, bytes: Buffer): Promise<{ width: number; height: number }> {
  if (bytes.length === 0) throw unsupportedPicture();
  const metadata = await open(bytes, { limitInputPixels: false })
    .metadata()
    .catch(() => {
      throw unsupportedPicture();
    });
  if (!formats.includes(metadata.format) || (metadata.format === "heif" && metadata.compression !== "av1")) throw unsupportedPicture();
  const { width, height } = metadata.autoOrient;
  if (width * height > avatarLimits.megapixels * 1_000_000) throw pictureTooLarge();
  return { width, height };
}

/** Throws `picture_unsupported`, `picture_too_large`, `picture_damaged`, and `validation_failed` for a crop that is not within the picture. */
export async function makePicture(bytes: Buffer, wanted: Crop | undefined): Promise<Picture> {
  return withPictures(async (open) => {
    const options: SharpOptions = { limitInputPixels: avatarLimits.megapixels * 1_000_000, failOn: "error", sequentialRead: true };
    const { width, height } = await measure(open, bytes);
    const { left, top, side } = wanted ?? centreCrop(width, height);
    if (left + side > width || top + side > height) throw new DomainError("validation_failed", "The crop is not within the picture");
    const region = { left, top, width: side, height: side };
    const large = await open(bytes, options)
      .autoOrient()
      .extract(region)
      .resize(avatarSizes.large, avatarSizes.large)
      .timeout({ seconds: timeLimitSeconds })
      .webp({ quality })
      .toBuffer()
      .catch(() => {
        throw damagedPicture();
      });
    const small = await open(large, options).resize(avatarSizes.small, avatarSizes.small).webp({ quality }).toBuffer();
    return { small, large };
  });
}
