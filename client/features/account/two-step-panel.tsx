import { lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import type { Act } from "#client/components/use-act.ts";
import { useAct } from "#client/components/use-act.ts";
import { api } from "#client/lib/api.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Factors, TotpSetUp } from "#contract/auth/factors.ts";
import { hourMs } from "#domain/clock.ts";
import { factorResetWaitMs } from "#domain/periods.ts";
import styles from "./account.module.css";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { notLater } from "./not-later.ts";
import { Reading } from "./reading.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";
import { tellSecurityNews } from "./security-news.ts";
import { useHeadingFocus } from "./use-heading-focus.ts";
import { useRead } from "./use-read.ts";

/** With its own chunk: it alone draws a QR code. */
const loadSetUp = async () => ({ default: (await import("./set-up-app.tsx")).SetUpApp });
const SetUpApp = lazy(loadSetUp);

/** From here on the person is told to make new codes. */
const fewCodes = 3;

type Step = { name: "rest" } | { name: "setUp"; setUp: TotpSetUp } | { name: "codes"; codes: readonly string[]; isNew: boolean };

interface OffProps {
  act: Act<"setUp">;
  onBegun: (setUp: TotpSetUp) => void;
}

function Off({ act, onBegun }: OffProps) {
  const { t } = useTranslation("account");
  async function begin(): Promise<void> {
    const [setUp] = await Promise.all([withStepUp(() => api("POST /api/account/factors/totp")), loadSetUp()]);
    if (setUp) onBegun(setUp);
  }
  return (
    <>
      {act.note}
      <div className={styles.actions}>
        <Button
          variant="primary"
          busy={act.busy === "setUp"}
          busyLabel={t("twoStep.preparing")}
          aria-disabled={act.waitSeconds > 0}
          onClick={() => void act.run("setUp", begin)}
        >
          {t("twoStep.setUp")}
        </Button>
      </div>
    </>
  );
}

function Facts({ totp, left, readAt }: { totp: NonNullable<Factors["totp"]>; left: number; readAt: Date }) {
  const { t } = useTranslation("account");
  const { date, relative } = useFormat();
  return (
    <>
      <p className={styles.detail}>
        <span>{t("twoStep.since", { date: date(totp.since) })}</span>
        {totp.lastUsedAt !== null && <span>{t("twoStep.lastUsed", { when: relative(notLater(totp.lastUsedAt, readAt), readAt) })}</span>}
        <span>{t("twoStep.codesLeft", { count: left })}</span>
      </p>
      {left <= fewCodes && <Alert tone="warning">{t("twoStep.few", { hours: factorResetWaitMs / hourMs })}</Alert>}
    </>
  );
}

type Question = "renew" | "turnOff";

function On({ onCodes, onOff }: { onCodes: (codes: readonly string[]) => void; onOff: () => void }) {
  const { t } = useTranslation("account");
  const act = useAct<Question>();
  const [asked, setAsked] = useState<Question>();
  const ask = (question: Question | undefined) => {
    act.clear();
    setAsked(question);
  };
  async function renew(): Promise<void> {
    const answer = await withStepUp(() => api("POST /api/account/factors/recovery-codes"));
    if (answer) onCodes(answer.recoveryCodes);
  }
  async function turnOff(): Promise<void> {
    const done = await withStepUp(() => api("DELETE /api/account/factors/totp"));
    if (done === undefined) return;
    ask(undefined);
    onOff();
  }
  const common = { onClose: () => ask(undefined), refusal: act };
  return (
    <>
      <div className={styles.actions}>
        <Button onClick={() => ask("renew")}>{t("twoStep.renew.action")}</Button>
        <Button onClick={() => ask("turnOff")}>{t("twoStep.turnOff.action")}</Button>
      </div>
      <ConfirmDialog
        {...common}
        open={asked === "renew"}
        title={t("twoStep.renew.title")}
        action={{
          label: t("twoStep.renew.submit"),
          busyLabel: t("twoStep.renew.busy"),
          busy: act.busy === "renew",
          run: () => void act.run("renew", renew),
        }}
      >
        {t("twoStep.renew.text")}
      </ConfirmDialog>
      <ConfirmDialog
        {...common}
        open={asked === "turnOff"}
        title={t("twoStep.turnOff.title")}
        action={{
          label: t("twoStep.turnOff.action"),
          busyLabel: t("twoStep.turnOff.busy"),
          busy: act.busy === "turnOff",
          run: () => void act.run("turnOff", turnOff),
        }}
      >
        {t("twoStep.turnOff.text")}
      </ConfirmDialog>
    </>
  );
}

const readFactors = () => api("GET /api/account/factors");

/** Turns the second factor on and off. Codes of an authenticator app, and recovery codes that stand in for it. */
export function TwoStepPanel({ email }: { email: string }) {
  const { t } = useTranslation(["account", "errors", "refusals"]);
  const { state, look } = useRead(readFactors);
  const act = useAct<"setUp">();
  const [step, setStep] = useState<Step>({ name: "rest" });
  const { heading, focusHeading } = useHeadingFocus();
  const isOn = state.status === "known" && state.value.totp !== null;

  function rest(said?: string): void {
    setStep({ name: "rest" });
    tellSecurityNews();
    if (said !== undefined) showToast({ title: said });
    focusHeading();
  }
  function show(codes: readonly string[], isNew: boolean): void {
    setStep({ name: "codes", codes, isNew });
    tellSecurityNews();
  }

  const title = (
    <>
      {t("account:twoStep.title")}
      {state.status === "known" && <Badge tone={isOn ? "good" : "neutral"}>{t(isOn ? "account:twoStep.on" : "account:twoStep.off")}</Badge>}
    </>
  );
  return (
    <Panel name="two-step" title={title} heading={heading} lead={[t("account:twoStep.lead")]}>
      {step.name === "rest" && (
        <Reading state={state} look={look} label={t("account:twoStep.title")} rows={1} failed={t("account:twoStep.loadFailed")}>
          {({ totp, recoveryCodesLeft }, readAt) =>
            totp === null ? (
              <Off act={act} onBegun={(setUp) => setStep({ name: "setUp", setUp })} />
            ) : (
              <>
                <Facts totp={totp} left={recoveryCodesLeft} readAt={readAt} />
                <On onCodes={(codes) => show(codes, true)} onOff={() => rest(t("account:twoStep.turnOff.done"))} />
              </>
            )
          }
        </Reading>
      )}
      {step.name === "setUp" && (
        <div className={styles.narrow}>
          <Suspense fallback={<Spinner label={t("account:twoStep.preparing")} />}>
            <SetUpApp
              setUp={step.setUp}
              onDone={(codes) => show(codes, false)}
              onCancel={() => rest()}
              onSpent={(error) => {
                rest();
                act.refuse(error);
              }}
            />
          </Suspense>
        </div>
      )}
      {step.name === "codes" && (
        <div className={styles.narrow}>
          <RecoveryCodes codes={step.codes} email={email} onKept={() => rest(step.isNew ? undefined : t("account:twoStep.turnedOn"))} />
        </div>
      )}
    </Panel>
  );
}
