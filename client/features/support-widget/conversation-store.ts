import i18next from "i18next";
import { create } from "zustand";
import { sessionStore } from "#client/lib/session-store.ts";
import { fallbackLanguage } from "#domain/languages.ts";
import type { KeywordsOf, Topic } from "./topics.ts";
import { topicOf } from "./topics.ts";

/** Spec §2: how long the typing indicator shows before a canned answer. */
const typingMs = 500;

/** One turn of the conversation. An answer is stored as its topic, so that it follows a change of language or price. */
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

/** People also ask in English in other languages, so the English keywords count too. */
const keywordsOf: KeywordsOf = (name) => {
  const key = `support:keywords.${name}` as const;
  return `${i18next.t(key)},${i18next.t(key, { lng: fallbackLanguage })}`;
};

/** Kept until the page is closed or its person signs out; the panel can be closed and opened again. */
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
      await i18next.loadNamespaces(["support", "pricing", "plans", "trial"]);
      // i18next does not reject if a fetch fails.
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

// The next person on this device must not see the previous person's questions. A visitor who signs in keeps theirs.
sessionStore.subscribe(({ user }, { user: before }) => {
  if (before !== null && user?.id !== before.id) useConversation.setState({ turns: [] });
});
