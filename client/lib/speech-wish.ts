/** In which voice the next text is read, by model, and how fast people listen. */
import { create } from "zustand";
import { sessionStore } from "./session-store.ts";

interface SpeechWish {
  voices: Readonly<Record<string, string>>;
  speed: number;
}

export const speeds = [0.75, 1, 1.25, 1.5, 2] as const;

const nothing: SpeechWish = { voices: {}, speed: 1 };
export const useSpeechWish = create<SpeechWish>(() => nothing);

export function wishVoice(modelId: string, voice: string): void {
  useSpeechWish.setState(({ voices }) => ({ voices: { ...voices, [modelId]: voice } }));
}

let userId = sessionStore.getState().user?.id;
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  useSpeechWish.setState(nothing);
});
