import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Card } from "#client/components/card.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { LedgerPage } from "#contract/billing.ts";
import { findModel } from "#domain/models.ts";
import styles from "./ledger.module.css";
import { loadOlderLines, useWallet } from "./wallet-store.ts";

type LedgerLine = LedgerPage["lines"][number];

function Line({ line }: { line: LedgerLine }) {
  const { t } = useTranslation("billing");
  const { number, dateTime } = useFormat();
  const model = line.modelId === null ? undefined : (findModel(line.modelId)?.name ?? line.modelId);
  const what = model === undefined ? t(`ledger.kind.${line.kind}`) : t("ledger.kind.captureModel", { model });
  return (
    <tr>
      <td className={styles.when}>{dateTime(line.occurredAt)}</td>
      <td className={styles.what}>{what}</td>
      <td className={styles.change} data-gain={line.credits > 0 || undefined}>
        {line.credits > 0 ? `+${number(line.credits)}` : number(line.credits)}
      </td>
      <td className={styles.balance}>{number(line.balanceAfter)}</td>
    </tr>
  );
}

/** Promise 4: the history that makes the balance, line by line down to the number shown. */
export function LedgerPanel() {
  const { t } = useTranslation("billing");
  const { number } = useFormat();
  const { lines, wallet, nextCursor, loadingOlder } = useWallet();
  const [failed, setFailed] = useState(false);
  if (lines === null || wallet === null) return null;

  const older = () => {
    setFailed(false);
    loadOlderLines().catch(() => setFailed(true));
  };
  return (
    <Card as="section" className={styles.ledger ?? ""} aria-labelledby="ledger-title">
      <h2 id="ledger-title">{t("ledger.title")}</h2>
      <p className={styles.lead}>{lines.length === 0 ? t("ledger.empty") : t("ledger.lead")}</p>
      {lines.length > 0 && (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">{t("ledger.when")}</th>
              <th scope="col">{t("ledger.what")}</th>
              <th scope="col">{t("ledger.change")}</th>
              <th scope="col">{t("ledger.balance")}</th>
            </tr>
          </thead>
          <tbody>
            <tr className={styles.sum}>
              <th scope="row" colSpan={3}>
                {t("ledger.sum")}
              </th>
              <td>{number(wallet.balance)}</td>
            </tr>
            {lines.map((line) => (
              <Line key={line.id} line={line} />
            ))}
          </tbody>
        </table>
      )}
      {failed && <p role="alert">{t("ledger.failed")}</p>}
      {nextCursor !== null ? (
        <Button busy={loadingOlder} onClick={older}>
          {t("ledger.older")}
        </Button>
      ) : (
        lines.length > 0 && <p className={styles.lead}>{t("ledger.oldest")}</p>
      )}
    </Card>
  );
}
