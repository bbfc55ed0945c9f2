import { create } from "zustand";
import { dismissFeedback, isFeedbackDismissed } from "#client/offline/feedback-dismissed.ts";

interface FeedbackState {
  /** Spec §4: hidden, shown after a while, then the dialog; sent or dismissed, the card stays away for good. */
  step: "hidden" | "shown" | "dialog";
  dismissed: boolean;
  /** The dialog has been asked for once: its code is needed from then on. */
  asked: boolean;
}

export const useFeedback = create<FeedbackState>(() => ({ step: "hidden", dismissed: false, asked: false }));

/** Reads whether it was dismissed on this device before, in this tab or another. */
export async function recallDismissal(): Promise<void> {
  if (await isFeedbackDismissed()) useFeedback.setState({ dismissed: true });
}

export async function showFeedbackCard(): Promise<void> {
  await recallDismissal();
  useFeedback.setState((state) => (state.step === "hidden" && !state.dismissed ? { step: "shown" } : {}));
}

export function openFeedback(): void {
  useFeedback.setState({ step: "dialog", asked: true });
}

/** Cancelled: the card is there again, unless it has been dismissed before. */
export function closeFeedback(): void {
  useFeedback.setState((state) => (state.step === "dialog" ? { step: state.dismissed ? "hidden" : "shown" } : {}));
}

export function endFeedback(): void {
  useFeedback.setState({ step: "hidden", dismissed: true });
  void dismissFeedback();
}
