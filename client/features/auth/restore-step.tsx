import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { DeletionPending } from "#contract/auth/sign-in.ts";
import { restoreAccount } from "./auth-calls.ts";
import { ActStep } from "./step.tsx";

/** Asks somebody who has deleted their account and signs in whether they want it back. */
export function RestoreStep({ pending, onBack }: { pending: DeletionPending; onBack: () => void }) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const { date } = useFormat();
  return (
    <ActStep
      title={t("steps:restore.title")}
      lead={t("steps:restore.lead", { date: date(pending.deleteAt) })}
      submit={{ label: t("steps:restore.submit"), busyLabel: t("steps:restore.busy") }}
      act={() => restoreAccount(pending.token)}
    >
      <Button wide onClick={onBack}>
        {t("steps:restore.leave")}
      </Button>
    </ActStep>
  );
}
