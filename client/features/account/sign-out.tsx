import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { showToast } from "#client/lib/interface-store.ts";
import { signOut } from "#client/lib/session-refresh.ts";
import { forgetShared } from "#client/offline/forget-person.ts";

/** Stands at the top of every page of the account. */
export function SignOut() {
  const { t } = useTranslation("account");
  async function leave(): Promise<void> {
    // What else is forgotten at a sign-out may be fetched after the page, and a shared picture is seen by whoever comes next.
    forgetShared();
    if (!(await signOut())) showToast({ title: t("signOutFailed"), text: t("signOutFailedText") });
  }
  return (
    <Button size="small" onClick={() => void leave()}>
      {t("signOut")}
    </Button>
  );
}
