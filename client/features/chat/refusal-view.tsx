import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import type { NextCredits } from "#client/lib/next-credits.ts";
import { usagePath } from "#client/lib/usage-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import { isInTrial } from "#domain/models.ts";
import styles from "./chat.module.css";
import { lateModule } from "./late-module.ts";
import { mayAnswer } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import type { Refusal } from "./thread.ts";

export interface RefusalViewProps {
  refusal: Refusal;
  /** The model for the next send. */
  model: OfferedModel | undefined;
  nextCredits: NextCredits | null;
  /** Chooses another model for the next send. */
  onUse: (modelId: string) => void;
  onDismiss: () => void;
  /** Sends the same prompt at this price. */
  onAccept: (credits: number) => void;
}

/** Seconds until `atMs`, updated every second. */
function useSecondsUntil(atMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}

function Wait({ untilMs }: { untilMs: number }) {
  const { t } = useTranslation("chat");
  const seconds = useSecondsUntil(untilMs);
  return <>{seconds > 0 ? t("refusal.wait", { count: seconds }) : t("refusal.ready")}</>;
}

/** A model that can't be reached, until it is tried again. */
function OutOfOrder({ untilMs }: { untilMs: number }) {
  const { t } = useTranslation(["chat", "refusals"]);
  const { number } = useFormat();
  const seconds = useSecondsUntil(untilMs);
  const next = seconds > 0 ? t("chat:refusal.nextTry", { seconds: number(seconds) }) : t("chat:refusal.ready");
  return (
    <>
      {problemText("model_unavailable")} {next}
    </>
  );
}

/** The price is another one than was shown, or one about which the person wants to be asked: they accept it here. */
function AcceptPrice({
  code,
  price,
  onAccept,
  onDismiss,
}: { code: string; price: number } & Pick<RefusalViewProps, "onAccept" | "onDismiss">) {
  const { t } = useTranslation(["chat", "refusals"]);
  const { credits } = useFormat();
  const actions = (
    <div className={styles.actions}>
      <Button variant="primary" size="small" onClick={() => onAccept(price)}>
        {t("chat:refusal.accept", { credits: credits(price) })}
      </Button>
      <Button variant="quiet" size="small" onClick={onDismiss}>
        {t("chat:refusal.decline")}
      </Button>
    </div>
  );
  const changed = code === "price_changed";
  return (
    <Alert tone="warning" {...(changed && { title: t("chat:refusal.priceTitle") })} action={actions}>
      {changed ? t("chat:refusal.price", { credits: credits(price) }) : problemText(code, { quotedCredits: price })}
    </Alert>
  );
}

/** Reached only by who set themself a cap. */
function DailyCap({ onDismiss }: Pick<RefusalViewProps, "onDismiss">) {
  const { t } = useTranslation(["chat", "refusals"]);
  const actions = (
    <div className={styles.actions}>
      <LinkButton href={`${usagePath}#limits`} size="small" variant="primary">
        {t("chat:refusal.limits")}
      </LinkButton>
      <Button size="small" variant="quiet" onClick={onDismiss}>
        {t("chat:refusal.dismiss")}
      </Button>
    </div>
  );
  return (
    <Alert tone="warning" action={actions}>
      {problemText("daily_cap_reached")}
    </Alert>
  );
}

/** A model that the free trial does not cover: another one that it does, or a plan. */
function NotInTrial({ model, onUse, plans }: Pick<RefusalViewProps, "model" | "onUse"> & { plans: ReactNode }) {
  const { t } = useTranslation(["chat", "refusals"]);
  const { credits } = useFormat();
  const other = useModels(({ models }) => models.find((one) => one.id !== model?.id && isInTrial(one) && mayAnswer(one)));
  const actions = (
    <div className={styles.actions}>
      {other && (
        <Button size="small" variant="primary" onClick={() => onUse(other.id)}>
          {t("chat:pick.use", { name: other.name, credits: credits(other.credits) })}
        </Button>
      )}
      {plans}
    </div>
  );
  return (
    <Alert tone="warning" action={actions}>
      {problemText("model_not_in_trial")}
    </Alert>
  );
}

const ownTexts: Readonly<Record<string, "refusal.network" | "refusal.networkAgain" | "refusal.stopFailed" | "refusal.busy">> = {
  network: "refusal.network",
  stop_failed: "refusal.stopFailed",
  unexpected: "refusal.busy",
};

const useNoCredits = lateModule(() => import("./no-credits.tsx"));

/** Why the last send was refused, and what the person can do. Shown right above the composer, which has the prompt again. */
export function RefusalView({ refusal, model, nextCredits, onUse, onDismiss, onAccept }: RefusalViewProps) {
  const { t } = useTranslation(["chat", "errors", "refusals", "uploads"]);
  const { code, needed, available, quotedCredits, retryAtMs, again } = refusal;
  const noCredits = useNoCredits(code === "insufficient_credits");
  if ((code === "price_changed" || code === "confirmation_required") && quotedCredits !== undefined) {
    return <AcceptPrice code={code} price={quotedCredits} onAccept={onAccept} onDismiss={onDismiss} />;
  }
  const plans = (
    <LinkButton href={paths.pricing} size="small" variant="primary">
      {t("chat:refusal.upgrade")}
    </LinkButton>
  );
  if (noCredits && needed !== undefined && available !== undefined) {
    return <noCredits.NoCredits needed={needed} available={available} model={model} next={nextCredits} onUse={onUse} />;
  }
  if (code === "daily_cap_reached") return <DailyCap onDismiss={onDismiss} />;
  if (code === "model_not_in_trial") return <NotInTrial model={model} onUse={onUse} plans={plans} />;
  const dismiss = (
    <Button size="small" variant="quiet" onClick={onDismiss}>
      {t("chat:refusal.dismiss")}
    </Button>
  );
  if (code === "model_unavailable" && retryAtMs !== undefined) {
    return (
      <Alert tone="warning" action={dismiss}>
        <OutOfOrder untilMs={retryAtMs} />
      </Alert>
    );
  }
  const own = code === "network" && again ? "refusal.networkAgain" : ownTexts[code];
  return (
    <Alert tone="warning" action={code === "subscription_required" ? plans : dismiss}>
      {retryAtMs !== undefined ? <Wait untilMs={retryAtMs} /> : own ? t(`chat:${own}`) : problemText(code)}
    </Alert>
  );
}
