import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { WalletMosaic } from "#client/components/wallet-mosaic.tsx";
import { nextCredits } from "#client/lib/next-credits.ts";
import { usagePath } from "#client/lib/usage-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { Wallet } from "#contract/credits/wallet.ts";
import styles from "./billing.module.css";
import { useSubscription } from "./subscription-store.ts";
import { refreshWallet, useWallet } from "./wallet-store.ts";

/** Says where more credits come from and when, or that a plan is needed. Null until the check is known. */
function useMoreCredits(check: SubscriptionCheck | null): string | null {
  const { t } = useTranslation("billing");
  const { credits, date } = useFormat();
  if (!check || check.subscription_tier === "none") return null;
  const next = nextCredits(check);
  switch (next?.kind) {
    case "on":
      return t("wallet.next", { credits: credits(next.credits), date: date(next.at) });
    case "ends":
      return t("wallet.ends", { date: date(next.at) });
    case "unpaid":
      return t("wallet.afterPayment");
    default:
      return null;
  }
}

/** When a subscription that is not renewed ends; its plan's credits end with it. */
function planEnd(check: SubscriptionCheck | null): string | null {
  return check?.cancel_at_period_end ? check.subscription_end : null;
}

function Contents({ wallet }: { wallet: Wallet }) {
  const { t } = useTranslation("billing");
  const { number, credits } = useFormat();
  const check = useSubscription((state) => state.check);
  const more = useMoreCredits(check);
  if (wallet.grants.length === 0 && !check?.subscribed) {
    return <EmptyState title={t("wallet.empty")}>{t("wallet.emptyText")}</EmptyState>;
  }
  return (
    <>
      <div className={styles.balance}>
        <p className={styles.figure}>
          <strong>{number(wallet.available)}</strong> {t("wallet.available")}
          {wallet.held > 0 && <span className={styles.soft}>{t("wallet.held", { credits: credits(wallet.held) })}</span>}
        </p>
        {more !== null && <p className={styles.more}>{more}</p>}
      </div>
      <div className={styles.actions}>
        <LinkButton href={paths.aiModels} variant={wallet.available > 0 ? "primary" : "secondary"}>
          {t("wallet.chat")}
        </LinkButton>
        {check?.status === "active" && <LinkButton href={`${paths.pricing}#packs`}>{t("wallet.buyPack")}</LinkButton>}
      </div>
      {wallet.frozen && (
        <Alert
          tone="danger"
          action={
            <LinkButton size="small" href={paths.contact}>
              {t("wallet.frozenAction")}
            </LinkButton>
          }
        >
          {t("wallet.frozen")}
        </Alert>
      )}
      {wallet.balance < 0 && (
        <Alert
          tone="warning"
          action={
            <LinkButton size="small" href={`${usagePath}?kind=clawback#history`}>
              {t("wallet.debtWhy")}
            </LinkButton>
          }
        >
          {t("wallet.debt", { credits: credits(-wallet.balance) })}
        </Alert>
      )}
      {wallet.grants.length > 0 && (
        <WalletMosaic
          grants={wallet.grants}
          now={new Date(wallet.serverTime)}
          planEndsAt={planEnd(check)}
          hasPlan={check === null || (check.subscribed && check.subscription_tier !== "none")}
        />
      )}
    </>
  );
}

/** Shows the person's credits as a mosaic with a field for each grant. */
export function WalletPanel() {
  const { t } = useTranslation(["billing", "common"]);
  const { status, wallet } = useWallet();
  useEffect(() => void refreshWallet(), []);
  const again = (
    <Button size="small" onClick={() => void refreshWallet()}>
      {t("common:retry")}
    </Button>
  );
  return (
    <section className={styles.part} aria-labelledby="wallet-title">
      <div className={styles.head}>
        <h2 id="wallet-title">{t("billing:wallet.title")}</h2>
      </div>
      {status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("billing:wallet.failed")}
        </Alert>
      )}
      {wallet ? <Contents wallet={wallet} /> : status !== "failed" && <Spinner label={t("billing:wallet.loading")} />}
    </section>
  );
}
