import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { LinkButton } from "#client/components/button.tsx";
import { paths } from "#client/paths.ts";

/** Where a model can't be asked: another plan can't be ordered before this one is paid or ended, so this leads there and not to the plans. */
export function PlanOnHold() {
  const { t, ready } = useTranslation("change", { useSuspense: false });
  if (!ready) return null;
  const account = (
    <LinkButton href={paths.profile} variant="primary">
      {t("suspended.toAccount")}
    </LinkButton>
  );
  return (
    <Alert tone="warning" title={t("suspended.title")} action={account}>
      {t("suspended.noAccess")}
    </Alert>
  );
}
