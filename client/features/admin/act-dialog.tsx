import type { FormEvent, ReactNode } from "react";
import { Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { TextArea } from "#client/components/field.tsx";
import { useAct } from "#client/components/use-act.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import styles from "./act-dialog.module.css";

const shortestReason = 5;
const longestReason = 500;

interface ActDialogProps {
  title: string;
  action: string;
  /** The act takes something away, so its button is red. */
  danger?: boolean;
  onClose: () => void;
  /** Makes the call. It is run again after a step-up, if the call needs one. The dialog shows the error that it throws. */
  act: (reason: string) => Promise<unknown>;
  /** After the act. */
  onDone: () => void;
  /** Called after a failed try, to read the data again: somebody may have changed it, or the act was done and its answer lost. */
  look?: (() => void) | undefined;
  /** False: something else has to be filled in first. */
  ready?: boolean;
  /** Called before each try, also one that is not sent because something is missing. */
  onTry?: () => void;
  /** Reasons to choose from, each of which can still be changed. */
  reasons?: readonly string[];
  /** Other words for a refusal than its usual ones. */
  wordsOf?: (error: unknown) => string | undefined;
  /** What happens, and the fields besides the reason. */
  children?: ReactNode;
}

function Asking({
  title,
  action,
  danger = false,
  onClose,
  act,
  onDone,
  look,
  ready = true,
  onTry,
  reasons = [],
  wordsOf,
  children,
}: ActDialogProps) {
  const { t } = useTranslation(["admin", "common", "errors", "refusals"]);
  const [reason, setReason] = useState("");
  const [short, setShort] = useState(false);
  const { note, waitSeconds, busy, run } = useAct<"act">();
  const formId = "act";
  // The usual text asks to reload the page, which would lose what the admin has entered.
  const meanwhile = (error: unknown) =>
    error instanceof ApiProblem && error.code === "conflict" ? t("admin:reason.meanwhile") : undefined;

  function submit(event: FormEvent): void {
    event.preventDefault();
    onTry?.();
    const said = reason.trim();
    setShort(said.length < shortestReason);
    if (said.length < shortestReason || !ready) return;
    const attempt = async () => {
      try {
        const done = await withStepUp(async () => ({ answer: await act(said) }));
        if (done) onDone();
      } catch (error) {
        look?.();
        throw error;
      }
    };
    void run("act", attempt, (error) => wordsOf?.(error) ?? meanwhile(error));
  }

  const buttons = (
    <>
      <Button onClick={onClose}>{t("common:cancel")}</Button>
      <Button
        type="submit"
        form={formId}
        variant={danger ? "danger" : "primary"}
        busy={busy !== undefined}
        busyLabel={action}
        aria-disabled={waitSeconds > 0}
      >
        {action}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={title} actions={buttons}>
      <form id={formId} className={styles.form} onSubmit={submit} noValidate>
        {children}
        {note}
        <ReasonField reason={reason} reasons={reasons} isShort={short} set={setReason} />
      </form>
    </Dialog>
  );
}

interface ReasonFieldProps {
  reason: string;
  reasons: readonly string[];
  isShort: boolean;
  set: (reason: string) => void;
}

function ReasonField({ reason, reasons, isShort, set }: ReasonFieldProps) {
  const { t } = useTranslation("admin");
  return (
    <>
      {reasons.length > 0 && (
        <div className={styles.reasons}>
          {reasons.map((each) => (
            <Button key={each} size="small" onClick={() => set(each)}>
              {each}
            </Button>
          ))}
        </div>
      )}
      <TextArea
        label={t("reason.label")}
        hint={t("reason.hint")}
        error={isShort ? t("reason.short") : undefined}
        rows={2}
        maxLength={longestReason}
        value={reason}
        onChange={(event) => set(event.target.value)}
      />
    </>
  );
}

/** Asks why before something is done, since the audit log keeps it. The page stays in view while the dialog's texts are loaded. */
export function ActDialog(props: ActDialogProps) {
  return (
    <Suspense>
      <Asking {...props} />
    </Suspense>
  );
}
