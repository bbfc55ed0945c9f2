/** How the next clip is to be asked for. */
import { create } from "zustand";
import type { ClipOptions } from "#contract/generations/media.ts";
import { usualClip } from "#domain/clips.ts";
import type { Reference } from "./picture-wish.ts";
import { sessionStore } from "./session-store.ts";

interface ClipWish {
  options: Pick<ClipOptions, "seconds" | "shape">;
  /** The picture with which it begins. */
  reference: Reference | null;
  /** A picture is chosen but not uploaded yet. True until the device has been read. */
  isPending: boolean;
}

const nothing: ClipWish = { options: usualClip, reference: null, isPending: true };

export const useClipWish = create<ClipWish>(() => nothing);

export function wishClip(change: Partial<ClipWish["options"]>): void {
  useClipWish.setState(({ options }) => ({ options: { ...options, ...change } }));
}

export function beginClipWith(reference: Reference | null): void {
  useClipWish.setState({ reference });
}

/** What is sent. */
export function wishedClip({ options, reference }: ClipWish): ClipOptions {
  return { ...options, ...(reference && { reference: reference.fileId }) };
}

let userId = sessionStore.getState().user?.id;
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  useClipWish.setState(nothing);
});
