import { create } from "zustand";
import { dismissFeedback, isFeedbackDismissed } from "#client/offline/feedback-dismissed.ts";

interface FeedbackState {
  /** Spec §4: hidden at first, shown after a while, then the dialog. Once sent or dismissed, the card never comes back. */
  step: "hidden" | "shown" | "dialog";
  dismissed: boolean;
  /** True once the dialog was opened: its code stays loaded. */
  asked: boolean;
}

export const useFeedback = create<FeedbackState>(() => ({ step: "hidden", dismissed: false, asked: false }));

/** Reads whether feedback was dismissed on this device, possibly in another tab. */
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

/** Called on cancel: shows the card again, unless it was dismissed before. */
export function closeFeedback(): void {
  useFeedback.setState((state) => (state.step === "dialog" ? { step: state.dismissed ? "hidden" : "shown" } : {}));
}

export function endFeedback(): void {
  useFeedback.setState({ step: "hidden", dismissed: true });
  void dismissFeedback();
}
