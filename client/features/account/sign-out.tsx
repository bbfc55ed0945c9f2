import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { showToast } from "#client/lib/interface-store.ts";
import { signOut } from "#client/lib/session-refresh.ts";
import { sharedFiles } from "#client/sw/messages.ts";

/** Stands at the top of every page of the account. */
export function SignOut() {
  const { t } = useTranslation("account");
  async function leave(): Promise<void> {
    // client/offline/forget-person.ts does so, too, but comes after the page, and a shared picture is seen by whoever comes next.
    void globalThis.caches?.delete(sharedFiles.cache);
    if (!(await signOut())) showToast({ title: t("signOutFailed"), text: t("signOutFailedText") });
  }
  return (
    <Button size="small" onClick={() => void leave()}>
      {t("signOut")}
    </Button>
  );
}
