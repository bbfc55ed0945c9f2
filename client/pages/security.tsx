import { useTranslation } from "react-i18next";
import { AccountPage } from "#client/features/account/account-page.tsx";
import { StepUpDialog } from "#client/features/account/step-up-dialog.tsx";
import { paths } from "#client/paths.ts";

export function SecurityPage() {
  const { t } = useTranslation("account");
  const title = t("securityTitle");
  return (
    <AccountPage section="security" title={title} returnTo={paths.security}>
      {(user) => (
        <>
          <h1>{title}</h1>
          <StepUpDialog email={user.email} />
        </>
      )}
    </AccountPage>
  );
}
