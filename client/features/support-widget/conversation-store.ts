import i18next from "i18next";
import { create } from "zustand";
import { sessionStore } from "#client/lib/session-store.ts";
import { fallbackLanguage } from "#domain/languages.ts";
import type { KeywordsOf, Topic } from "./topics.ts";
import { topicOf } from "./topics.ts";

/** Spec §2: how long the typing indicator shows before a canned answer. */
const typingMs = 500;

/** What was said; answers are kept as what they are about, so that they follow a change of language or price. */
export type Turn = { id: number } & ({ from: "visitor"; text: string } | { from: "support"; topic: Topic | "failed" });

interface ConversationState {
  turns: readonly Turn[];
  typing: boolean;
  /** A question in the visitor's words, or one of the suggested ones with its topic. */
  ask: (text: string, topic?: Topic) => Promise<void>;
}

let lastId = 0;
function nextId(): number {
  lastId += 1;
  return lastId;
}

/** People write English in every language's window, so its words count too. */
const keywordsOf: KeywordsOf = (name) => {
  const key = `support:keywords.${name}` as const;
  return `${i18next.t(key)},${i18next.t(key, { lng: fallbackLanguage })}`;
};

/** Lasts as long as the page, or until its person signs out: the panel may be closed and opened again. */
export const useConversation = create<ConversationState>()((set) => ({
  turns: [],
  typing: false,
  ask: async (text, topic) => {
    const add = (turn: Turn) => set((state) => ({ turns: [...state.turns, turn] }));
    add({ id: nextId(), from: "visitor", text });
    set({ typing: true });
    const pause = new Promise((resolve) => setTimeout(resolve, typingMs));
    let answer: Topic | "failed";
    try {
      await i18next.loadNamespaces(["support", "pricing", "plans", "later"]);
      // A fetch that failed does not reject.
      if (!["support:unknown", "pricing:title", "plans:plan.subscribe"].every((key) => i18next.exists(key)))
        throw new Error("Its texts could not be fetched.");
      answer = topic ?? topicOf(text, keywordsOf);
    } catch (error) {
      console.error("The support answer could not be found.", error);
      answer = "failed";
    }
    await pause;
    set({ typing: false });
    add({ id: nextId(), from: "support", topic: answer });
  },
}));

// Whoever signs in next on this device must find nothing of the person before; what a visitor asked stays theirs.
sessionStore.subscribe(({ user }, { user: before }) => {
  if (before !== null && user?.id !== before.id) useConversation.setState({ turns: [] });
});
