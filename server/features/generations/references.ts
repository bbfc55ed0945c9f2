/** The pictures that a request begins from: files of the person, made as small as the provider's price allows for. */
import { clipLimits } from "#domain/clips.ts";
import { DomainError } from "#domain/errors.ts";
import { pictureLimits } from "#domain/pictures.ts";
import type { PictureOptions } from "../../contract/generations/generations.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { ValidationError } from "../../http/problem.ts";
import type { PictureWish } from "../../providers/models/protocol.ts";
import { withPictures } from "../files/picture-library.ts";
import { findFile, openFile } from "../files/service.ts";

const mostBytes = 30 * 1024 * 1024;
const mostPixels = 50_000_000;
const decodingSeconds = 20;

/** Throws `validation_failed` if a reference is not a picture of this person, or a mask has nothing to mask. */
export async function checkReferences(
  executor: Executor,
  userId: string,
  { references = [], mask }: Pick<PictureOptions, "references" | "mask">,
): Promise<void> {
  if (mask !== undefined && references.length === 0)
    throw new ValidationError([{ field: "picture", message: "A mask needs a picture to begin from" }]);
  for (const id of [...references, ...(mask === undefined ? [] : [mask])]) {
    const file = await findFile(executor, userId, id).catch((error: unknown) => {
      if (error instanceof DomainError) return undefined;
      throw error;
    });
    if (!file?.contentType.startsWith("image/"))
      throw new ValidationError([{ field: "picture", message: "One of the pictures to begin from is not there any more" }]);
  }
}

async function readBytes(deps: Deps, userId: string, id: string): Promise<Buffer> {
  const { content, bytes } = await openFile(deps, userId, id);
  if (bytes > mostBytes) {
    content.destroy();
    throw new Error("a picture to begin from is too large");
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

interface Prepared {
  png: Buffer;
  width: number;
  height: number;
}

async function prepare(bytes: Buffer, side: number = pictureLimits.referencePixels): Promise<Prepared> {
  return withPictures(async (open) => {
    const { data, info } = await open(bytes, { limitInputPixels: mostPixels, failOn: "error" })
      .autoOrient()
      .resize(side, side, { fit: "inside", withoutEnlargement: true })
      .timeout({ seconds: decodingSeconds })
      .png()
      .toBuffer({ resolveWithObject: true });
    return { png: data, width: info.width, height: info.height };
  });
}

/** Scales the mask to the size of the first reference. What the person has painted over is transparent in it. */
async function prepareMask(bytes: Buffer, { width, height }: Prepared): Promise<Buffer> {
  return withPictures((open) =>
    open(bytes, { limitInputPixels: mostPixels, failOn: "error" })
      .resize(width, height, { fit: "fill" })
      .ensureAlpha()
      .timeout({ seconds: decodingSeconds })
      .png()
      .toBuffer(),
  );
}

/** The picture with which a clip begins. Throws if it can't be read. */
export async function readFirstPicture(deps: Deps, userId: string, reference: string | undefined): Promise<Buffer | undefined> {
  if (reference === undefined) return undefined;
  return (await prepare(await readBytes(deps, userId, reference), clipLimits.picturePixels)).png;
}

/** Throws if one of them can't be read. */
export async function readReferences(
  deps: Deps,
  userId: string,
  { references = [], mask }: PictureOptions,
): Promise<Pick<PictureWish, "references" | "mask">> {
  const prepared: Prepared[] = [];
  for (const id of references) prepared.push(await prepare(await readBytes(deps, userId, id)));
  const [first] = prepared;
  const pngs = prepared.map(({ png }) => png);
  return mask === undefined || !first
    ? { references: pngs }
    : { references: pngs, mask: await prepareMask(await readBytes(deps, userId, mask), first) };
}
