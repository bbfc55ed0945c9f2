import { useRef } from "react";
import { beginClipWith, useClipWish, wishedClip } from "#client/lib/clip-wish.ts";
import { forgetReferences, usePictureWish, wishedPicture } from "#client/lib/picture-wish.ts";
import type { Draft } from "#client/offline/drafts.ts";
import { writeDraft } from "#client/offline/drafts.ts";
import { keepLastModel } from "#client/offline/last-model.ts";
import type { AttachedFile } from "#contract/generations.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { checkPrompt } from "#domain/rules.ts";
import { askAgain } from "./ask-again.ts";
import { sendPrompt, threadOf } from "./chat-store.ts";
import type { OfferedModel } from "./models-store.ts";
import type { Again, Refusal } from "./thread.ts";

interface SendingOptions {
  userId: string;
  threadKey: string;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  /** The files of the draft, and what the model reads of them. */
  attached: readonly AttachedFile[];
  /** Called with the id of the conversation, which may be new, once the server has accepted the prompt. */
  onStarted: (conversationId: string) => void;
}

export interface Sending {
  /** Sends the draft to `model` at the price shown, or at a new price that the person has just accepted. */
  sendDraft: (model: OfferedModel, acceptedCredits?: number) => Promise<void>;
  /** Sends a prompt that did not come from the composer, at the price shown. Resolves to false if the server refused it. */
  sendAgain: (again: Again, credits: number) => Promise<boolean>;
  /** Sends a prompt again that was refused for its price, at the price that the person has accepted. */
  accept: (refusal: Refusal | null, model: OfferedModel | undefined, credits: number) => Promise<void>;
}

/**
 * Sends prompts and keeps the draft until the server has accepted it. While we don't know whether it has, the draft keeps the
 * idempotency key, so that sending the same prompt again leads to one answer and one charge.
 */
export function useSending({ userId, threadKey, draft, change, attached, onStarted }: SendingOptions): Sending {
  const written = useRef(draft);
  written.current = draft;

  async function sendDraft(model: OfferedModel, acceptedCredits?: number): Promise<void> {
    const { text, files = [] } = draft;
    // A file that was added in this moment is not known to be read yet.
    if (checkPrompt(text) !== undefined || attached.length < files.length) return;
    const idempotencyKey = (acceptedCredits === undefined ? draft.unsettledKey : null) ?? crypto.randomUUID();
    const kept: Draft = { text, modelId: model.id, unsettledKey: idempotencyKey, files };
    change({ text: "", files: [] });
    // The composer is empty for the next prompt; the device keeps this one until the server has accepted it.
    await writeDraft(userId, threadKey, kept);
    const picture = model.unit === "image" ? wishedPicture(usePictureWish.getState()) : undefined;
    const taken = await sendPrompt({
      threadKey,
      modelId: model.id,
      prompt: text.trim(),
      attached,
      picture,
      clip: model.unit === "clip" ? wishedClip(useClipWish.getState()) : undefined,
      quotedCredits: acceptedCredits ?? quoteCredits(model, { images: picture?.count ?? 1 }),
      confirmed: acceptedCredits !== undefined,
      idempotencyKey,
      onStarted: (conversationId) => {
        void writeDraft(userId, threadKey, { ...written.current, modelId: null, unsettledKey: null });
        void keepLastModel(userId, model.id);
        if (picture) forgetReferences();
        if (model.unit === "clip") beginClipWith(null);
        onStarted(conversationId);
      },
    });
    if (taken) return;
    const since = written.current.text;
    // The key belongs to a send with other options, which this page does not know any more.
    if (threadOf(threadKey).refusal?.code === "idempotency_conflict") kept.unsettledKey = null;
    change({ ...kept, files: [...files, ...(written.current.files ?? [])], text: since === "" ? text : `${text}\n\n${since}` });
  }

  async function sendAgain(again: Again, credits: number, confirmed = false): Promise<boolean> {
    return askAgain(again, { threadKey, quotedCredits: credits, confirmed, onStarted });
  }

  async function accept(refusal: Refusal | null, model: OfferedModel | undefined, credits: number): Promise<void> {
    if (refusal?.again) await sendAgain(refusal.again, credits, true);
    else if (model) await sendDraft(model, credits);
  }

  return { sendDraft, sendAgain, accept };
}
