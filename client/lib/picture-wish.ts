/** How the next picture is to be asked for. It is chosen in the chat, and from a picture in the thread or the gallery. */
import { create } from "zustand";
import type { PictureOptions } from "#contract/generations/generations.ts";
import { pictureLimits, usualPicture } from "#domain/pictures.ts";
import { sessionStore } from "./session-store.ts";

/** A picture to begin from. */
export interface Reference {
  fileId: string;
  alternative: string;
  width: number;
  height: number;
}

interface PictureWish {
  options: Pick<PictureOptions, "count" | "size" | "quality" | "background">;
  references: readonly Reference[];
  /** How many further references are chosen but not uploaded yet. Not 0 until the device has been read. */
  pending: number;
  /** The file of the mask that marks what to change in the first reference. */
  mask: string | null;
  /** What a button of a picture has put into the composer; taken by the chat. */
  given: { prompt: string | null; modelId: string | null } | null;
}

const nothing: PictureWish = { options: usualPicture, references: [], pending: 1, mask: null, given: null };

export const usePictureWish = create<PictureWish>(() => nothing);

export function wishOptions(change: Partial<PictureWish["options"]>): void {
  usePictureWish.setState(({ options }) => ({ options: { ...options, ...change } }));
}

export function addReference(reference: Reference): void {
  usePictureWish.setState(({ references }) => ({
    references: [...references.filter(({ fileId }) => fileId !== reference.fileId), reference].slice(0, pictureLimits.references),
  }));
}

/** The mask belongs to the first reference, and is removed with it. */
export function removeReference(fileId: string): void {
  usePictureWish.setState(({ references, mask }) => ({
    references: references.filter((each) => each.fileId !== fileId),
    mask: references[0]?.fileId === fileId ? null : mask,
  }));
}

/** The files that are sent with the wish. */
export function filesOfWish({ references, mask }: Pick<PictureWish, "references" | "mask">): string[] {
  return [...references.map(({ fileId }) => fileId), ...(mask === null ? [] : [mask])];
}

/** Begins anew from this picture. */
export function editPicture(reference: Reference, modelId: string | null): void {
  usePictureWish.setState({ references: [reference], mask: null, given: { prompt: null, modelId } });
}

export function askLike(prompt: string, modelId: string | null): void {
  usePictureWish.setState({ given: { prompt, modelId } });
}

/** What is sent. */
export function wishedPicture({ options, references, mask }: PictureWish): PictureOptions {
  if (references.length === 0) return options;
  return { ...options, references: references.map(({ fileId }) => fileId), ...(mask !== null && { mask }) };
}

/** After a send: the next picture begins from nothing again. */
export function forgetReferences(): void {
  usePictureWish.setState({ references: [], mask: null });
}

let userId = sessionStore.getState().user?.id;
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  usePictureWish.setState(nothing);
});
