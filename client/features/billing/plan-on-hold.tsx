import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { LinkButton } from "#client/components/button.tsx";
import { paths } from "#client/paths.ts";

/** Shown in place of a composer while the plan is on hold. Until it is paid or ended none other can be ordered: it links to the account. */
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
