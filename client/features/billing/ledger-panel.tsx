import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { LinkButton } from "#client/components/button.tsx";
import { LedgerLines } from "#client/components/ledger-lines.tsx";
import { Panel } from "#client/components/panel.tsx";
import { formatRange } from "#client/lib/format-range.ts";
import { usagePath } from "#client/lib/usage-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import styles from "./ledger.module.css";
import { useWallet } from "./wallet-store.ts";

/** The newest lines of the history; the whole of it has a page of its own. */
export function LedgerPanel() {
  const { t, i18n } = useTranslation("billing");
  const format = useFormat();
  const { lines, wallet } = useWallet();
  if (lines === null || wallet === null) return null;
  const sum = lines.length > 0 && (
    <p className={styles.sum}>
      {t("ledger.sum")} <strong>{format.number(wallet.balance)}</strong> · <Link href={`${usagePath}#balance`}>{t("ledger.explain")}</Link>
    </p>
  );
  return (
    <Panel name="ledger" title={t("ledger.title")} lead={[t(lines.length === 0 ? "ledger.empty" : "ledger.lead")]} aside={sum}>
      <LedgerLines lines={lines} calendar={{ ...format, range: (from, until) => formatRange(from, until, i18n.language) }} />
      {lines.length > 0 && <LinkButton href={usagePath}>{t("ledger.all")}</LinkButton>}
    </Panel>
  );
}
