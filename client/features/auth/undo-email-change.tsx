import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { ApiProblem } from "#client/lib/api.ts";
import { dayMs } from "#domain/clock.ts";
import { undoEmailMs } from "#domain/periods.ts";
import styles from "./auth.module.css";
import { lookAtUndo, undoEmailChange } from "./auth-calls.ts";
import { LinkBusy, LinkFailed, useLink } from "./mailed-link-parts.tsx";
import { StepHeading } from "./step-heading.tsx";

interface UndoEmailChangeProps {
  token: string;
  /** Called with the token of a link for a new password, once the address is back. */
  onUndone: (token: string) => void;
  signedIn: boolean;
  /** Called when the person goes on without the link. */
  onInstead: () => void;
}

/** Opens the link that gives an account its earlier address back. Nothing happens before the person has asked for it here. */
export function UndoEmailChange({ token, onUndone, ...way }: UndoEmailChangeProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const title = t("steps:undo.title");
  const { state, look, fail } = useLink(token, lookAtUndo);
  const { note, waitSeconds, refuse, clear } = useRefusal();
  const [busy, setBusy] = useState(false);

  async function undo(): Promise<void> {
    if (busy || waitSeconds > 0) return;
    clear();
    setBusy(true);
    try {
      onUndone(await undoEmailChange(token));
    } catch (error) {
      setBusy(false);
      if (error instanceof ApiProblem && error.code === "link_invalid") fail(error);
      else refuse(error);
    }
  }

  if (state.step === "looking") return <LinkBusy title={title} />;
  if (state.step === "failed")
    return (
      <LinkFailed code={state.code} title={title} spent={t("steps:undo.spent", { days: undoEmailMs / dayMs })} onAgain={look} {...way} />
    );
  return (
    <>
      <header className={styles.header}>
        <StepHeading>{title}</StepHeading>
        <p className={styles.lead}>
          <RichText text={t("steps:undo.lead", { email: state.link.email })} elements={{ strong: <strong className={styles.address} /> }} />
        </p>
      </header>
      <div className={styles.form}>
        {note}
        <Button
          variant="primary"
          wide
          busy={busy}
          busyLabel={t("steps:undo.busy")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void undo()}
        >
          {t("steps:undo.submit")}
        </Button>
      </div>
    </>
  );
}
