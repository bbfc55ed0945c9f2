import { useRef } from "react";
import { beginClipWith, useClipWish, wishedClip } from "#client/lib/clip-wish.ts";
import { forgetReferences, usePictureWish, wishedPicture } from "#client/lib/picture-wish.ts";
import type { Draft } from "#client/offline/drafts.ts";
import { writeDraft } from "#client/offline/drafts.ts";
import { keepLastModel } from "#client/offline/last-model.ts";
import type { AttachedFile } from "#contract/generations/generations.ts";
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
  /** For a model that writes down: it goes instead of the prompt and its files, which stay in the composer. */
  recording: AttachedFile | undefined;
  /** What the send costs, as it is shown. */
  price: number;
  /** The voice that a text is read in. */
  voice: string | undefined;
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

/** What goes to the model, what stays in the composer, and how the composer is filled again if the server does not take it. */
interface Taking {
  sent: { prompt: string; attached: readonly AttachedFile[] };
  left: Pick<Draft, "text" | "files">;
  back(since: Draft): Pick<Draft, "text" | "files">;
}

/** Undefined if there is nothing to be sent yet. */
function takeFrom(model: OfferedModel, { draft, attached, recording }: SendingOptions): Taking | undefined {
  const { text, files = [] } = draft;
  if (model.unit === "minute") {
    if (!recording) return undefined;
    // Words and other files stay for the next question.
    const left = { text, files: files.filter(({ id }) => id !== recording.fileId) };
    return { sent: { prompt: recording.name, attached: [recording] }, left, back: (since) => ({ text: since.text, files }) };
  }
  // A file that was added in this moment is not known to be read yet.
  if (checkPrompt(text) !== undefined || attached.length < files.length) return undefined;
  return {
    sent: { prompt: text.trim(), attached },
    left: { text: "", files: [] },
    back: (since) => ({
      files: [...files, ...(since.files ?? [])],
      text: since.text === "" ? text : `${text}\n\n${since.text}`,
    }),
  };
}

/**
 * Sends prompts and keeps the draft until the server has accepted it. While we don't know whether it has, the draft keeps the
 * idempotency key, so that sending the same prompt again leads to one answer and one charge.
 */
export function useSending(options: SendingOptions): Sending {
  const { userId, threadKey, draft, change, price, voice, onStarted } = options;
  const written = useRef(draft);
  written.current = draft;

  async function sendDraft(model: OfferedModel, acceptedCredits?: number): Promise<void> {
    const taking = takeFrom(model, options);
    if (!taking) return;
    const { sent, left, back } = taking;
    const { text, files = [] } = draft;
    const idempotencyKey = (acceptedCredits === undefined ? draft.unsettledKey : null) ?? crypto.randomUUID();
    const kept: Draft = { text, modelId: model.id, unsettledKey: idempotencyKey, files };
    change(left);
    // The composer is empty for the next prompt; the device keeps this one until the server has accepted it.
    await writeDraft(userId, threadKey, kept);
    const picture = model.unit === "image" ? wishedPicture(usePictureWish.getState()) : undefined;
    const taken = await sendPrompt({
      threadKey,
      modelId: model.id,
      ...sent,
      picture,
      clip: model.unit === "clip" ? wishedClip(useClipWish.getState()) : undefined,
      speech: model.unit === "thousand_characters" && voice !== undefined ? { voice } : undefined,
      quotedCredits: acceptedCredits ?? price,
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
    change({ ...kept, ...back({ ...written.current, text: since }) });
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
