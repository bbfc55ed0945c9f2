import type { ReactNode } from "react";
import { Button } from "#client/components/button.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { useAct } from "#client/components/use-act.ts";
import styles from "./auth.module.css";
import { StepHeading } from "./step-heading.tsx";

interface StepProps {
  title: string;
  /** May contain `<strong>` around an email address. */
  lead?: string | undefined;
  children?: ReactNode;
}

/** A step: its title, what it is about, and what one can do. A step in the place of another one needs its own `key`. */
export function Step({ title, lead, children }: StepProps) {
  return (
    <>
      <header className={styles.header}>
        <StepHeading>{title}</StepHeading>
        {lead !== undefined && (
          <p className={styles.lead}>
            <RichText text={lead} elements={{ strong: <strong className={styles.address} /> }} />
          </p>
        )}
      </header>
      {children}
    </>
  );
}

interface ActStepProps extends StepProps {
  /** Between the title and the button. */
  details?: ReactNode;
  submit: { label: string; busyLabel: string };
  /** What it throws is shown above the button. */
  act: () => Promise<unknown>;
}

/** A step with one thing to do. Its children are the alternatives to doing it. */
export function ActStep({ details, submit, act, children, ...step }: ActStepProps) {
  const { note, waitSeconds, busy, run } = useAct();
  return (
    <Step {...step}>
      {details}
      {note}
      <div className={styles.ways}>
        <Button
          variant="primary"
          wide
          busy={busy !== undefined}
          busyLabel={submit.busyLabel}
          aria-disabled={waitSeconds > 0}
          onClick={() => void run("act", act)}
        >
          {submit.label}
        </Button>
        {children}
      </div>
    </Step>
  );
}
