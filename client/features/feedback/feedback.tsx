import { useEffect } from "react";
import { FeedbackCard } from "./feedback-card.tsx";
import { FeedbackDialog } from "./feedback-dialog.tsx";
import { useFeedback } from "./feedback-store.ts";

interface FeedbackProps {
  /** Whether the card may be shown on this page. */
  card: boolean;
  owner: string | null | undefined;
  email: string | undefined;
}

/** The card, and the dialog it opens (spec §2). */
export function Feedback({ card, owner, email }: FeedbackProps) {
  const { step, dismissed } = useFeedback();
  useEffect(() => {
    // The button that opened the dialog disappeared with the card, so the page gets the focus.
    if (dismissed && document.activeElement === document.body) document.getElementById("content")?.focus({ preventScroll: true });
  }, [dismissed]);
  return (
    <>
      {card && !dismissed && step !== "hidden" && <FeedbackCard />}
      <FeedbackDialog open={step === "dialog"} owner={owner} email={email} />
    </>
  );
}
