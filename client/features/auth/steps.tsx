/** The steps that a mailed link or the first factor leads to on the sign-in page: in one chunk, because a step is needed at once. */
import type { ReactNode } from "react";
import { DisownWay } from "./disown-way.tsx";
import { EmailChange } from "./email-change.tsx";
import { FactorStep } from "./factor-step.tsx";
import { MailedLink } from "./mailed-link.tsx";
import type { MailedToken } from "./mailed-token.ts";
import type { useNextStep } from "./next-step-store.ts";
import { RemoveFactor, ResetLink } from "./reset-link.tsx";
import { ResetPassword } from "./reset-password.tsx";
import { RestoreStep } from "./restore-step.tsx";
import { UndoEmailChange } from "./undo-email-change.tsx";

interface MailedStepProps {
  mailed: MailedToken;
  /** The email of the signed-in person, or null. */
  signedInAs: string | null;
  onEmail: (email: string) => void;
  onDone: () => void;
  onInstead: () => void;
  /** Called with the link that comes next, for example one for a new password. */
  onNext: (mailed: MailedToken) => void;
  /** The sign-in form, with which removing a lost factor begins. */
  signInForm: (notice: ReactNode) => ReactNode;
}

/** What a mailed link is for. */
export function MailedStep({ mailed: { purpose, token }, signedInAs, onEmail, onDone, onInstead, onNext, signInForm }: MailedStepProps) {
  const link = { token, signedInAs, onEmail, onDone, onInstead };
  const signedIn = signedInAs !== null;
  const onRecover = (next: string) => onNext({ purpose: "recover", token: next });
  switch (purpose) {
    case "confirm":
      return <MailedLink {...link} />;
    case "recover":
      return <ResetPassword {...link} />;
    case "change":
      return <EmailChange token={token} signedIn={signedIn} onInstead={onInstead} />;
    case "undo":
      return <UndoEmailChange token={token} signedIn={signedIn} onInstead={onInstead} onUndone={onRecover} />;
    case "disown":
      return <DisownWay token={token} signedIn={signedIn} onInstead={onInstead} onDisowned={onRecover} />;
    default:
      return <ResetLink purpose={purpose} token={token} isSignedIn={signedIn} onInstead={onInstead} signInForm={signInForm} />;
  }
}

interface NextStepProps {
  step: NonNullable<ReturnType<typeof useNextStep>>;
  mailed: MailedToken | null;
  onBack: () => void;
  onDone: () => void;
  /** Called when the person wants to show a code, though a mailed link would remove the second factor. */
  onCode: () => void;
}

/** What a sign-in waits for after the first factor. */
export function NextStep({ step, mailed, onBack, onDone, onCode }: NextStepProps) {
  if (step.status === "deletion_pending") return <RestoreStep pending={step} onBack={onBack} />;
  if (mailed?.purpose === "reset-factors") return <RemoveFactor needed={step} link={mailed.token} onDone={onDone} onCode={onCode} />;
  return <FactorStep key={step.token} needed={step} onBack={onBack} />;
}
