import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Card } from "#client/components/card.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { WalletMosaic } from "#client/components/wallet-mosaic.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { Wallet } from "#contract/billing.ts";
import styles from "./billing.module.css";
import { refreshWallet, useWallet } from "./wallet-store.ts";

function Contents({ wallet }: { wallet: Wallet }) {
  const { t } = useTranslation("billing");
  const { number, credits } = useFormat();
  if (wallet.grants.length === 0) return <EmptyState title={t("wallet.empty")}>{t("wallet.emptyText")}</EmptyState>;
  return (
    <>
      <p className={styles.figure}>
        <strong>{number(wallet.available)}</strong> {t("wallet.available")}
        {wallet.held > 0 && <span className={styles.soft}>{t("wallet.held", { credits: credits(wallet.held) })}</span>}
      </p>
      {wallet.frozen && <Alert tone="danger">{t("wallet.frozen")}</Alert>}
      {wallet.balance < 0 && <Alert tone="warning">{t("wallet.debt", { credits: credits(-wallet.balance) })}</Alert>}
      <WalletMosaic grants={wallet.grants} now={new Date(wallet.serverTime)} />
    </>
  );
}

/** What one owns, as a mosaic in which every grant is a field. */
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
    <Card as="section" className={styles.card ?? ""} aria-labelledby="wallet-title">
      <h2 id="wallet-title">{t("billing:wallet.title")}</h2>
      {status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("billing:wallet.failed")}
        </Alert>
      )}
      {wallet ? <Contents wallet={wallet} /> : status !== "failed" && <Spinner label={t("billing:wallet.loading")} />}
    </Card>
  );
}
