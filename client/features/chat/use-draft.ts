import { useEffect, useRef, useState } from "react";
import type { Draft } from "#client/offline/drafts.ts";
import { readDraft, writeDraft, writeDrafts } from "#client/offline/drafts.ts";
import { forgetGivenPrompt, readGivenPrompt } from "#client/offline/given-prompt.ts";
import type { ArrivingDrafts } from "./arriving-draft.ts";
import { arrivingDrafts } from "./arriving-draft.ts";
import { newThreadKey } from "./thread.ts";

const emptyDraft: Draft = { text: "", modelId: null, unsettledKey: null };
/** Under which the draft is kept that made room for a prompt brought along. */
const asideKey = "aside";

interface Held {
  threadKey: string;
  draft: Draft;
  /** Somebody is typing: what the device kept comes too late. */
  touched: boolean;
}

export interface DraftOptions {
  userId: string;
  threadKey: string;
  /** What the address brought along for a new conversation. */
  givenPrompt: string | null;
  givenModelId: string | null;
  /** Once it is safe on the device: the address need not hold it any more. */
  onTaken: () => void;
}

export interface Drafting {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  /** Puts an example into the composer; what somebody wrote there makes room. */
  fill: (text: string) => void;
  /** A draft that made room for a prompt brought along; null when there is none. */
  aside: Draft | null;
  /** Shows it again; what stands in the composer makes room in turn. */
  bringBack: () => void;
}

/** What the composer of a thread begins with. A new conversation takes the prompt that came along, or waited on the device. */
async function openDrafts(userId: string, threadKey: string, text: string | null, modelId: string | null): Promise<ArrivingDrafts> {
  const kept = await readDraft(userId, threadKey);
  if (threadKey !== newThreadKey) return { draft: kept, aside: undefined };
  const waiting = await readGivenPrompt(userId);
  const given = text === null ? waiting : { text, modelId };
  const arrived = arrivingDrafts(kept, await readDraft(userId, asideKey), given);
  if (given && arrived.draft) await writeDrafts(userId, { [asideKey]: arrived.aside ?? emptyDraft, [threadKey]: arrived.draft });
  // Only now: were the page to end before, the same prompt would arrive once more and change nothing.
  await forgetGivenPrompt(userId);
  return arrived;
}

/** The draft of the thread on show, and how to change it: on the screen at once, on the device right after. */
export function useDraft({ userId, threadKey, givenPrompt, givenModelId, onTaken }: DraftOptions): Drafting {
  const givenText = threadKey === newThreadKey ? givenPrompt : null;
  const [held, setHeld] = useState<Held>(() => ({
    threadKey,
    draft: { ...emptyDraft, text: givenText ?? "", modelId: givenText === null ? null : givenModelId },
    touched: false,
  }));
  const [aside, setAside] = useState<Draft | null>(null);
  const latest = useRef(held);
  const example = useRef<string>(undefined);
  const taken = useRef(onTaken);
  taken.current = onTaken;
  // The composer stays mounted from thread to thread, or a phone's keyboard would close with every first answer.
  const own = held.threadKey === threadKey ? held : { threadKey, draft: emptyDraft, touched: false };

  function show(next: Held): void {
    latest.current = next;
    setHeld(next);
  }

  useEffect(() => {
    let current = true;
    void openDrafts(userId, threadKey, givenText, givenModelId).then((arrived) => {
      if (!current) return;
      setAside(arrived.aside ?? null);
      if (givenText !== null) taken.current();
      const { current: now } = latest;
      if (!arrived.draft || (now.threadKey === threadKey && now.touched)) return;
      latest.current = { threadKey, draft: arrived.draft, touched: false };
      setHeld(latest.current);
    });
    return () => {
      current = false;
    };
  }, [userId, threadKey, givenText, givenModelId]);

  function change(part: Partial<Draft>): void {
    // Read from the ref, not from a render: a send and a key press may both change it before the next one.
    const before = latest.current.threadKey === threadKey ? latest.current.draft : emptyDraft;
    show({ threadKey, draft: { ...before, ...part }, touched: true });
    void writeDraft(userId, threadKey, latest.current.draft);
  }

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

  return { draft: own.draft, change, fill, aside, bringBack };
}
