import { useCallback, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { api } from "#client/lib/api.ts";
import { passkeySupport } from "#client/lib/passkeys.ts";
import { useStepUpQuestion } from "#client/lib/step-up.ts";
import type { StepUpWay } from "#contract/account/step-up.ts";
import { minuteMs } from "#domain/clock.ts";
import { stepUpMs } from "#domain/periods.ts";
import styles from "./account.module.css";
import { LoadFailed } from "./load-failed.tsx";
import type { WayProps } from "./step-up-ways.tsx";
import { stepUpWays } from "./step-up-ways.tsx";

function isUsable(way: StepUpWay): boolean {
  // A server that is newer than this page may offer another.
  return Object.hasOwn(stepUpWays, way) && (way !== "passkey" || passkeySupport() === "yes");
}

/** The form of one way. It appears after the dialog has opened, or replaces another form, so it takes the focus. */
function FormOf({ way, ...proof }: WayProps & { way: StepUpWay }) {
  const { t } = useTranslation("account");
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => area.current?.querySelector<HTMLElement>("input:not([hidden]), button")?.focus(), []);
  const Form = stepUpWays[way];
  return (
    <div ref={area} className={styles.form}>
      <p>{t(`stepUp.ways.${way}.lead`, { minutes: stepUpMs / minuteMs })}</p>
      <Form {...proof} />
    </div>
  );
}

/** One of the person's ways, and buttons for the others. */
function Ways({ ways, ...proof }: WayProps & { ways: readonly [StepUpWay, ...StepUpWay[]] }) {
  const { t } = useTranslation("account");
  const [chosen, setChosen] = useState(ways[0]);
  return (
    <>
      <FormOf key={chosen} way={chosen} {...proof} />
      <div className={styles.actions}>
        {ways
          .filter((way) => way !== chosen)
          .map((way) => (
            <Button key={way} wide onClick={() => setChosen(way)}>
              {t(`stepUp.ways.${way}.use`)}
            </Button>
          ))}
      </div>
    </>
  );
}

function StepUp(props: WayProps) {
  const { t } = useTranslation("account");
  const [ways, setWays] = useState<readonly StepUpWay[] | "failed">();

  const look = useCallback(() => {
    setWays(undefined);
    api("GET /api/account/step-up").then(
      ({ ways }) => setWays(ways.filter(isUsable)),
      () => setWays("failed"),
    );
  }, []);
  useEffect(look, [look]);

  if (ways === undefined) return <Spinner label={t("stepUp.title")} />;
  const [first, ...others] = ways === "failed" ? [] : ways;
  if (first) return <Ways ways={[first, ...others]} {...props} />;
  return <LoadFailed onRetry={look}>{t("stepUp.failed")}</LoadFailed>;
}

/** Asks for a factor when a call of this page needs one (step-up.ts). */
export function StepUpDialog({ email }: { email: string }) {
  const { t } = useTranslation("account");
  const question = useStepUpQuestion();
  return (
    <Dialog open={question !== undefined} onClose={() => question?.answer(false)} title={t("stepUp.title")}>
      <div className={styles.form}>
        <StepUp email={email} onProved={() => question?.answer(true)} />
      </div>
    </Dialog>
  );
}
