import { useTranslation } from "react-i18next";
import { AccountPage } from "#client/features/account/account-page.tsx";
import { StepUpDialog } from "#client/features/account/step-up-dialog.tsx";
import { paths } from "#client/paths.ts";

export function OwnDataPage() {
  const { t } = useTranslation("account");
  const title = t("dataTitle");
  return (
    <AccountPage section="data" title={title} returnTo={paths.ownData}>
      {(user) => (
        <>
          <h1>{title}</h1>
          <StepUpDialog email={user.email} />
        </>
      )}
    </AccountPage>
  );
}
