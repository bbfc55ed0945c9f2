/** What a person can do about a refusal of the server's: loaded with the first one. */
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import type { NextCredits } from "#client/lib/next-credits.ts";
import { usagePath } from "#client/lib/usage-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { isInTrial } from "#domain/models.ts";
import styles from "./chat.module.css";
import { mayAnswer } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import { NoCredits } from "./no-credits.tsx";
import { RoomLink } from "./room-link.tsx";
import type { Refusal } from "./thread.ts";
import { useSecondsUntil } from "./use-seconds-until.ts";

export interface RefusalProps {
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

/** A model that can't be reached, until it is tried again. */
function OutOfOrder({ untilMs }: { untilMs: number }) {
  const { t } = useTranslation(["chat", "dialogs", "refusals"]);
  const { number } = useFormat();
  const seconds = useSecondsUntil(untilMs);
  const next = seconds > 0 ? t("dialogs:refusal.nextTry", { seconds: number(seconds) }) : t("chat:refusal.ready");
  return (
    <>
      {problemText("model_unavailable")} {next}
    </>
  );
}

/** The price is another one than was shown, or one about which the person wants to be asked: they accept it here. */
function AcceptPrice({ code, price, onAccept, onDismiss }: { code: string; price: number } & Pick<RefusalProps, "onAccept" | "onDismiss">) {
  const { t } = useTranslation(["chat", "dialogs", "refusals"]);
  const { credits } = useFormat();
  const actions = (
    <div className={styles.actions}>
      <Button variant="primary" size="small" onClick={() => onAccept(price)}>
        {t("chat:refusal.accept", { credits: credits(price) })}
      </Button>
      <Button variant="quiet" size="small" onClick={onDismiss}>
        {t("dialogs:refusal.decline")}
      </Button>
    </div>
  );
  const changed = code === "price_changed";
  return (
    <Alert tone="warning" {...(changed && { title: t("dialogs:refusal.priceTitle") })} action={actions}>
      {changed ? t("dialogs:refusal.price", { credits: credits(price) }) : problemText(code, { quotedCredits: price })}
    </Alert>
  );
}

interface WayOutProps extends Pick<RefusalProps, "onDismiss"> {
  code: "daily_cap_reached" | "storage_full";
  /** Leads to where the person can change it. */
  way: ReactNode;
}

/** A refusal whose reason the person can change elsewhere. */
function WayOut({ code, way, onDismiss }: WayOutProps) {
  const { t } = useTranslation(["chat", "refusals"]);
  const actions = (
    <div className={styles.actions}>
      {way}
      <Button size="small" variant="quiet" onClick={onDismiss}>
        {t("chat:refusal.dismiss")}
      </Button>
    </div>
  );
  return (
    <Alert tone="warning" action={actions}>
      {problemText(code)}
    </Alert>
  );
}

/** Only people who have set themselves a daily cap can reach it. */
function DailyCap({ onDismiss }: Pick<RefusalProps, "onDismiss">) {
  const { t } = useTranslation("dialogs");
  const way = (
    <LinkButton href={`${usagePath}#limits`} size="small" variant="primary">
      {t("refusal.limits")}
    </LinkButton>
  );
  return <WayOut code="daily_cap_reached" {...{ way, onDismiss }} />;
}

/** The person's storage is full, so the model's file would not fit. Links to the list in which files can be deleted. */
function NoRoom({ onDismiss }: Pick<RefusalProps, "onDismiss">) {
  return <WayOut code="storage_full" way={<RoomLink code="storage_full" />} onDismiss={onDismiss} />;
}

/** A model that the free trial does not cover: another one that it does, or a plan. */
function NotInTrial({ model, onUse, plans }: Pick<RefusalProps, "model" | "onUse"> & { plans: ReactNode }) {
  const { t } = useTranslation(["chat", "dialogs", "refusals"]);
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

interface RefusalWaysProps extends RefusalProps {
  plans: ReactNode;
  dismiss: ReactNode;
  /** What is shown of a refusal that has no way of its own. */
  why: ReactNode;
}

export function RefusalWays({ refusal, model, nextCredits, onUse, onDismiss, onAccept, plans, dismiss, why }: RefusalWaysProps) {
  const { code, needed, available, quotedCredits, retryAtMs } = refusal;
  if ((code === "price_changed" || code === "confirmation_required") && quotedCredits !== undefined) {
    return <AcceptPrice code={code} price={quotedCredits} onAccept={onAccept} onDismiss={onDismiss} />;
  }
  if (code === "insufficient_credits" && needed !== undefined && available !== undefined) {
    return <NoCredits needed={needed} available={available} model={model} next={nextCredits} onUse={onUse} />;
  }
  if (code === "daily_cap_reached") return <DailyCap onDismiss={onDismiss} />;
  if (code === "storage_full") return <NoRoom onDismiss={onDismiss} />;
  if (code === "model_not_in_trial") return <NotInTrial model={model} onUse={onUse} plans={plans} />;
  if (code === "model_unavailable" && retryAtMs !== undefined) {
    return (
      <Alert tone="warning" action={dismiss}>
        <OutOfOrder untilMs={retryAtMs} />
      </Alert>
    );
  }
  return why;
}
