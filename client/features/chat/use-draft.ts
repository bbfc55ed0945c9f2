import { useEffect, useRef, useState } from "react";
import type { Draft } from "#client/offline/drafts.ts";
import { readDraft, writeDraft } from "#client/offline/drafts.ts";

const emptyDraft: Draft = { text: "", modelId: null, unsettledKey: null };

interface Held {
  threadKey: string;
  draft: Draft;
  /** Somebody is typing: what the device kept comes too late. */
  touched: boolean;
}

/**
 * The draft of the thread on show, and how to change it: on the screen at once, on the device right after. `given` is a
 * text that came with the address; it goes before what the device kept.
 */
export function useDraft(userId: string, threadKey: string, given: string | null): [Draft, (part: Partial<Draft>) => void] {
  const [held, setHeld] = useState<Held>(() => ({
    threadKey,
    draft: { ...emptyDraft, text: given ?? "" },
    touched: given !== null,
  }));
  const latest = useRef(held);
  // The composer stays mounted from thread to thread, or a phone's keyboard would close with every first answer.
  const own = held.threadKey === threadKey ? held : { threadKey, draft: emptyDraft, touched: false };

  useEffect(() => {
    let current = true;
    void readDraft(userId, threadKey).then((kept) => {
      const { current: now } = latest;
      if (!current || !kept || (now.threadKey === threadKey && now.touched)) return;
      latest.current = { threadKey, draft: kept, touched: false };
      setHeld(latest.current);
    });
    return () => {
      current = false;
    };
  }, [userId, threadKey]);

  function change(part: Partial<Draft>): void {
    // Read from the ref, not from a render: a send and a key press may both change it before the next one.
    const before = latest.current.threadKey === threadKey ? latest.current.draft : emptyDraft;
    latest.current = { threadKey, draft: { ...before, ...part }, touched: true };
    setHeld(latest.current);
    void writeDraft(userId, threadKey, latest.current.draft);
  }

  return [own.draft, change];
}
