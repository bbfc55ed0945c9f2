import { useEffect, useRef, useState } from "react";
import type { Draft } from "#client/offline/drafts.ts";
import { readDraft, writeDraft, writeDrafts } from "#client/offline/drafts.ts";
import { forgetGivenPrompt, readGivenPrompt } from "#client/offline/given-prompt.ts";
import type { ArrivingDrafts } from "./arriving-draft.ts";
import { arrivingDrafts } from "./arriving-draft.ts";
import { newThreadKey } from "./thread.ts";

const emptyDraft: Draft = { text: "", modelId: null, unsettledKey: null };
/** The key of the draft that was replaced by a prompt from the address. */
const asideKey = "aside";

interface Held {
  threadKey: string;
  draft: Draft;
  /** The person has begun to type, so the draft read from the device comes too late. */
  touched: boolean;
}

function untouched(threadKey: string, text: string, modelId: string | null): Held {
  return { threadKey, draft: { ...emptyDraft, text, modelId }, touched: false };
}

export interface DraftOptions {
  userId: string;
  threadKey: string;
  /** The prompt in the address, for a new conversation. */
  givenPrompt: string | null;
  givenModelId: string | null;
  /** Called once the prompt and the model are saved on the device: the address no longer needs them. */
  onTaken: () => void;
}

export interface Drafting {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  /** Repeats a change that was made to the draft on the device, which may have been read a moment before. */
  follow: (by: (draft: Draft) => Draft) => void;
  /** Puts an example into the composer. A draft that was there is put aside. */
  fill: (text: string) => void;
  /** The draft that was put aside; null if there is none. */
  aside: Draft | null;
  /** Restores the draft that was put aside, and puts the present one aside in its place. */
  bringBack: () => void;
}

/** The composer's first content. A new conversation gets the prompt from the address, or the one that waited on the device. */
async function openDrafts(userId: string, threadKey: string, text: string | null, modelId: string | null): Promise<ArrivingDrafts> {
  const kept = await readDraft(userId, threadKey);
  if (threadKey !== newThreadKey) return { draft: kept, aside: undefined };
  const waiting = await readGivenPrompt(userId);
  const given = text === null && waiting ? { ...waiting, modelId: modelId ?? waiting.modelId } : { text: text ?? "", modelId };
  const arrived = arrivingDrafts(kept, await readDraft(userId, asideKey), given);
  if (arrived.draft && arrived.draft !== kept)
    await writeDrafts(userId, { [asideKey]: arrived.aside ?? emptyDraft, [threadKey]: arrived.draft });
  // Only after the write: if the page is closed before this, the same prompt arrives again and changes nothing.
  await forgetGivenPrompt(userId);
  return arrived;
}

/** The draft of the shown thread and functions to change it. A change is on the screen at once, and saved on the device right after. */
export function useDraft({ userId, threadKey, givenPrompt, givenModelId, onTaken }: DraftOptions): Drafting {
  const givenText = threadKey === newThreadKey ? givenPrompt : null;
  const [held, setHeld] = useState<Held>(() => untouched(threadKey, givenText ?? "", threadKey === newThreadKey ? givenModelId : null));
  const [aside, setAside] = useState<Draft | null>(null);
  const latest = useRef(held);
  const example = useRef<string>(undefined);
  const taken = useRef(onTaken);
  taken.current = onTaken;
  const opened = useRef<Promise<void>>(undefined);
  // The composer stays mounted when the thread changes, or a phone's keyboard would close with every first answer.
  const own = held.threadKey === threadKey ? held : { threadKey, draft: emptyDraft, touched: false };

  function show(next: Held): void {
    latest.current = next;
    setHeld(next);
  }

  useEffect(() => {
    let current = true;
    opened.current = openDrafts(userId, threadKey, givenText, givenModelId).then((arrived) => {
      if (!current) return;
      setAside(arrived.aside ?? null);
      if (givenText !== null || (threadKey === newThreadKey && givenModelId !== null)) taken.current();
      const { current: now } = latest;
      if (!arrived.draft || (now.threadKey === threadKey && now.touched)) return;
      latest.current = { threadKey, draft: arrived.draft, touched: false };
      setHeld(latest.current);
    });
    return () => {
      current = false;
    };
  }, [userId, threadKey, givenText, givenModelId]);

  function changed(by: (draft: Draft) => Draft): void {
    // Read from the ref, because a send and a key press may both change it before the next render.
    const before = latest.current.threadKey === threadKey ? latest.current.draft : emptyDraft;
    const draft = by(before);
    // Without a change nothing is written: while a question is on its way, the device holds its draft instead of this one.
    if (draft === before) return;
    show({ threadKey, draft, touched: true });
    void writeDraft(userId, threadKey, latest.current.draft);
  }
  const change = (part: Partial<Draft>) => changed((draft) => ({ ...draft, ...part }));

  function fill(text: string): void {
    const isOwn = latest.current.threadKey === threadKey && latest.current.draft.text !== example.current;
    const before = isOwn ? latest.current.draft : { ...emptyDraft, modelId: own.draft.modelId };
    const arrived = arrivingDrafts(before, aside ?? undefined, { text, modelId: null });
    example.current = text;
    if (!arrived.draft) return;
    setAside(arrived.aside ?? null);
    show({ threadKey, draft: arrived.draft, touched: true });
    void writeDrafts(userId, { [asideKey]: arrived.aside ?? emptyDraft, [threadKey]: arrived.draft });
  }

  function bringBack(): void {
    if (!aside) return;
    const before = own.draft;
    const swapped = before.text.trim() === "" ? emptyDraft : before;
    setAside(swapped === emptyDraft ? null : before);
    show({ threadKey, draft: aside, touched: true });
    void writeDrafts(userId, { [asideKey]: swapped, [threadKey]: aside });
  }

  const follow = (by: (draft: Draft) => Draft) => void opened.current?.then(() => changed(by));

  return { draft: own.draft, change, follow, fill, aside, bringBack };
}
