import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import type { NextCredits } from "#client/lib/next-credits.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import styles from "./chat.module.css";
import { payableModel } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";

interface NoCreditsProps {
  needed: number;
  available: number;
  /** The model that was asked; undefined if it is not known any more. */
  model: OfferedModel | undefined;
  next: NextCredits | null;
  onUse: (modelId: string) => void;
}

/**
 * Spec §8: the credits needed and the credits available. Offers what is possible: a model that the credits still pay, and the day of the
 * next credits.
 */
export function NoCredits({ needed, available, model, next, onUse }: NoCreditsProps) {
  const { t } = useTranslation(["chat", "dialogs"]);
  const { credits, date } = useFormat();
  const { models } = useModels();
  const other = payableModel(models, model, available);
  const onTrial = next?.kind === "trial";
  const account = next === null || next.kind === "on" || onTrial ? null : paths.profile;
  const when =
    next &&
    (next.kind === "unpaid"
      ? t("dialogs:noCredits.unpaid")
      : next.kind === "trial"
        ? t("dialogs:noCredits.trial")
        : next.kind === "on"
          ? t("dialogs:noCredits.next", { date: date(next.at) })
          : t("dialogs:noCredits.ends", { date: date(next.at) }));
  // Those whose plan is paid can buy a pack, and change to a larger plan.
  const sold = next !== null && next.kind !== "unpaid" && !onTrial;
  const actions = (other || account || sold || onTrial) && (
    <div className={styles.actions}>
      {other && (
        <Button variant="primary" size="small" onClick={() => onUse(other.id)}>
          {t("chat:pick.use", { name: other.name, credits: credits(other.credits) })}
        </Button>
      )}
      {sold && (
        <LinkButton href={`${paths.pricing}#packs`} size="small">
          {t("chat:noCredits.packs")}
        </LinkButton>
      )}
      {(sold || onTrial) && (
        <LinkButton href={paths.pricing} size="small" variant={onTrial && !other ? "primary" : "secondary"}>
          {t("chat:refusal.upgrade")}
        </LinkButton>
      )}
      {account && (
        <LinkButton href={account} size="small">
          {t("dialogs:noCredits.account")}
        </LinkButton>
      )}
    </div>
  );
  return (
    <Alert tone="warning" title={t("dialogs:refusal.creditsTitle")} action={actions}>
      <p>{t("dialogs:noCredits.text", { needed: credits(needed), available: credits(available) })}</p>
      <p>
        {when && `${when} `}
        {!onTrial && t("dialogs:noCredits.larger")}
      </p>
    </Alert>
  );
}
