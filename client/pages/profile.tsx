import { useTranslation } from "react-i18next";
import { useSearchParams } from "wouter";
import { AccountPage } from "#client/features/account/account-page.tsx";
import { AccountPanel } from "#client/features/account/account-panel.tsx";
import { StepUpDialog } from "#client/features/account/step-up-dialog.tsx";
import { CheckoutReturn } from "#client/features/billing/checkout-return.tsx";
import { LedgerPanel } from "#client/features/billing/ledger-panel.tsx";
import { SubscriptionPanel } from "#client/features/billing/subscription-panel.tsx";
import { useSubscription } from "#client/features/billing/subscription-store.ts";
import { useCheckoutReturn } from "#client/features/billing/use-checkout-return.ts";
import { WalletPanel } from "#client/features/billing/wallet-panel.tsx";
import { ThemeChoice } from "#client/features/frame/theme-choice.tsx";
import { InstallButton } from "#client/features/install/install-button.tsx";
import { LanguageSwitch } from "#client/features/language/language-switch.tsx";
import { useSession } from "#client/lib/use-session.ts";
import { paths } from "#client/paths.ts";
import styles from "./profile.module.css";

export function ProfilePage() {
  const { t } = useTranslation("account");
  const { user } = useSession();
  const [search] = useSearchParams();
  const sessionId = search.get("checkout") === "success" ? search.get("session_id") : null;
  const back = useCheckoutReturn(sessionId, user?.id);
  // Don't say "no plan" while a payment is being processed. A subscription that waits for the person (status incomplete) is shown.
  const subscriptionKnown = useSubscription(({ check }) => back === null || back.step === "paid" || check?.status === "incomplete");
  const preferences = (
    <>
      <LanguageSwitch />
      <ThemeChoice />
      <InstallButton />
    </>
  );
  return (
    <AccountPage section="overview" title={t("title")} returnTo={search.size > 0 ? `${paths.profile}?${search}` : paths.profile}>
      {(signedIn) => (
        <>
          {back && <CheckoutReturn view={back} />}
          <AccountPanel user={signedIn} preferences={preferences} />
          <StepUpDialog email={signedIn.email} />
          {subscriptionKnown && (
            <>
              <div className={styles.columns}>
                <SubscriptionPanel />
                <WalletPanel />
              </div>
              <LedgerPanel />
            </>
          )}
        </>
      )}
    </AccountPage>
  );
}
