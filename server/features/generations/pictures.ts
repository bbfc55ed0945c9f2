/**
 * Answers that are pictures. The model is asked for each picture by itself, so that each is delivered, fails and is charged alone. A picture
 * is decoded and encoded again, stored as a file of the person, and told; only then does it count as delivered.
 */
import { pictureLimits } from "#domain/pictures.ts";
import type { PictureOptions, PicturePart } from "../../contract/generations/generations.ts";
import type { Deps } from "../../deps.ts";
import type { ModelUsage, PictureWish } from "../../providers/models/protocol.ts";
import { ModelOutage } from "../../providers/models/protocol.ts";
import { withPictures } from "../files/picture-library.ts";
import { keepOutput, promptOf, shortened } from "./outputs.ts";
import { readReferences } from "./references.ts";
import type { RunningAnswer } from "./running-answer.ts";
import type { UpstreamEnd, UpstreamTimings } from "./upstream.ts";
import { askModel, nothingMade } from "./upstream.ts";

const decodingSeconds = 20;
/** Previews are in the answer's log, so they are small: a few kilobytes each. */
const previewSide = 320;
const previewQuality = 55;
/** Twice as many as the largest size that we ask for. */
const mostPixels = 2 * 1536 * 1024;

interface CheckedPicture {
  bytes: Buffer;
  width: number;
  height: number;
}

/** What is kept was encoded by us. Throws a ModelOutage if the provider's bytes are not a whole picture. */
async function checkPicture(bytes: Uint8Array): Promise<CheckedPicture> {
  return withPictures(async (open) => {
    const { data, info } = await open(bytes, { limitInputPixels: mostPixels, failOn: "error", sequentialRead: true })
      .timeout({ seconds: decodingSeconds })
      .png()
      .toBuffer({ resolveWithObject: true })
      .catch(() => {
        throw new ModelOutage("provider_garbage", "what the provider sent is not a picture");
      });
    return { bytes: data, width: info.width, height: info.height };
  });
}

/** Undefined if the provider's bytes are not a picture: a preview is not worth a failure. */
async function previewAddress(bytes: Uint8Array): Promise<string | undefined> {
  return withPictures(async (open) => {
    const small = await open(bytes, { limitInputPixels: mostPixels, failOn: "error" })
      .resize(previewSide, previewSide, { fit: "inside" })
      .timeout({ seconds: decodingSeconds })
      .webp({ quality: previewQuality })
      .toBuffer();
    return `data:image/webp;base64,${small.toString("base64")}`;
  }).catch(() => undefined);
}

/** The prompt is the picture's alternative text and its file's name. */
async function keepPicture(deps: Deps, answer: RunningAnswer, { bytes, width, height }: CheckedPicture): Promise<PicturePart> {
  const { id: fileId } = await keepOutput(deps, answer, { width, height }, bytes);
  return { kind: "picture", fileId, width, height, alternative: shortened(promptOf(answer), pictureLimits.alternative) };
}

/** Shows previews in their order, and none that a later one has overtaken. */
function previewsOf(answer: RunningAnswer, place: number): (bytes: Uint8Array) => void {
  let told = 0;
  let working = false;
  return (bytes) => {
    if (working || told >= pictureLimits.previews) return;
    working = true;
    told += 1;
    void previewAddress(bytes).then((address) => {
      working = false;
      if (address !== undefined) answer.addPreview(place, address);
    });
  };
}

async function makePicture(
  deps: Deps,
  answer: RunningAnswer,
  place: number,
  picture: PictureWish,
  timings: UpstreamTimings,
): Promise<UpstreamEnd> {
  const { model, messages, userId } = answer.start;
  const end = await askModel(deps.models, {
    model,
    personId: userId,
    messages,
    picture,
    signal: answer.controller.signal,
    timings,
    onText: () => {},
    onSources: () => {},
    onPreview: previewsOf(answer, place),
  });
  if (!end.picture) return end;
  try {
    const checked = await checkPicture(end.picture);
    deps.models.report(model, userId, true);
    answer.addPicture(place, await keepPicture(deps, answer, checked));
    return end;
  } catch (error) {
    if (error instanceof ModelOutage) deps.models.report(model, userId, false);
    return { ...end, failure: error instanceof ModelOutage ? error.code : "picture_not_kept", error };
  }
}

const sum = (figures: readonly (number | null)[]) =>
  figures.some((figure) => figure !== null) ? figures.reduce<number>((total, figure) => total + (figure ?? 0), 0) : null;

/** What all calls took together. A call that failed says nothing about its tokens. */
function usageOf(ends: readonly UpstreamEnd[]): ModelUsage {
  const told = (figure: keyof ModelUsage) => sum(ends.map((end) => end[figure]));
  return {
    promptTokens: told("promptTokens"),
    pictureTokens: told("pictureTokens"),
    completionTokens: told("completionTokens"),
    thinkingTokens: null,
    searches: null,
    costMicroDollars: told("costMicroDollars"),
  };
}

/** Asks for all pictures at once. The failure is that of the first picture that failed, whether or not others were delivered. Never throws. */
export async function makePictures(
  deps: Deps,
  answer: RunningAnswer,
  options: PictureOptions,
  timings: UpstreamTimings,
): Promise<UpstreamEnd> {
  const { count, size, quality, background } = options;
  const references = await readReferences(deps, answer.start.userId, options).catch((error: unknown) => error as Error);
  if (references instanceof Error) return { ...nothingMade, failure: "reference_unreadable", error: references };
  const wish: PictureWish = { size, quality, background, ...references };
  const ends = await Promise.all(Array.from({ length: count }, (_, place) => makePicture(deps, answer, place, wish, timings)));
  const failed = ends.find(({ failure }) => failure !== undefined);
  return {
    ...nothingMade,
    ...usageOf(ends),
    failure: failed?.failure,
    filterReason: failed?.filterReason ?? null,
    error: failed?.error,
    concluded: ends.every(({ concluded }) => concluded),
  };
}
