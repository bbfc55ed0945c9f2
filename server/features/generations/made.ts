/**
 * What a model for words learns of the answers before that are pictures, a clip or speech: a line in place of the answer, and the latest
 * pictures themselves, if it sees pictures and its fixed price leaves room for them (docs/decisions/0097-models-for-words-see-pictures-that-were-made.md).
 */
import { pictureTokens, seesPictures } from "#domain/attachments.ts";
import { fileLimits } from "#domain/files.ts";
import type { Model } from "#domain/models.ts";
import type { PicturePart } from "../../contract/generations/generations.ts";
import type { ClipPart } from "../../contract/generations/media.ts";
import type { SoundPart } from "../../contract/generations/sounds.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Attachment } from "../../db/types-answers.ts";
import { findOutputs } from "../files/service.ts";
import type { ChatMessage } from "./history.ts";

/** A part of an answer that has no words, as it is stored. */
export type Made = PicturePart | ClipPart | SoundPart;

/** A message of a branch. `estimate`: the tokens of it and of all that came after it. */
export interface BranchMessage extends ChatMessage {
  estimate: number;
  /** What was made, for an answer that has no words. */
  made?: readonly Made[];
}

/** No line below is longer. An answer without words counts as this many bytes. */
export const madeBytes = 120;

/** Stands for an answer that the model can't read, so that it knows that there was one. */
export function lineOf(made: readonly Made[]): string {
  const [first] = made;
  if (first?.kind === "clip")
    return `[The answer was a video clip of ${Math.round(first.durationMs / 1_000)} seconds, made for the prompt above]`;
  if (first?.kind === "sound") return "[The answer was speech: the text above, read aloud]";
  return made.length === 1
    ? "[The answer was a picture, made for the prompt above]"
    : `[The answer was ${made.length} pictures, made for the prompt above]`;
}

/** Whether providers count it like an attached picture, which we make this small. */
function isSmall({ width, height }: PicturePart): boolean {
  return Math.max(width, height) <= fileLimits.pictureSide && width * height <= fileLimits.keptPixels;
}

async function findPictures(executor: Executor, userId: string, pictures: readonly PicturePart[]): Promise<Attachment[]> {
  const ids = pictures.map(({ fileId }) => fileId);
  const found = new Map((await findOutputs(executor, userId, ids)).map((file) => [file.id, file]));
  const reading = { as: "picture", pages: null, textBytes: 0, cut: false, tokens: pictureTokens } as const;
  return ids.flatMap((fileId) => {
    const file = found.get(fileId);
    if (!file) return [];
    const { name, contentType, bytes, width, height } = file;
    return [{ fileId, name, contentType, bytes, width, height, pages: null, reading }];
  });
}

interface Shown {
  /** The messages of the branch that still fit. */
  messages: ChatMessage[];
  /** The pictures of the answer right before the new question. */
  pictures: Attachment[];
}

/**
 * Puts the latest pictures that a model made in front of the question that follows them, since providers take no pictures within answers. As
 * many as fit beside their own question go, and the oldest messages make room for them. `budget`: the tokens for all of it.
 */
export async function showMade(
  executor: Executor,
  userId: string,
  model: Model,
  branch: readonly BranchMessage[],
  budget: number,
): Promise<Shown> {
  const at = branch.findLastIndex(({ made }) => made?.some(({ kind }) => kind === "picture"));
  const wanted = branch[at]?.made?.filter((part) => part.kind === "picture").filter(isSmall) ?? [];
  const room = Math.floor((budget - (branch[at - 1]?.estimate ?? budget)) / pictureTokens);
  const isShown = room > 0 && seesPictures(model);
  const pictures = isShown ? await findPictures(executor, userId, wanted.slice(0, room)) : [];
  const left = budget - pictures.length * pictureTokens;
  const messages = branch.map(
    ({ role, content, attachments, made }, index): ChatMessage => ({
      role,
      content: made ? lineOf(made) : content,
      ...(attachments && { attachments }),
      ...(index === at + 1 && pictures.length > 0 && { pictures }),
    }),
  );
  return {
    messages: messages.filter((_, index) => (branch[index]?.estimate ?? 0) <= left),
    pictures: at === branch.length - 1 ? pictures : [],
  };
}
