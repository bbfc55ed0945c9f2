import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Card } from "#client/components/card.tsx";
import { ItemLink, LinkItem } from "#client/components/link-item.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import type { LedgerPage } from "#contract/billing.ts";
import { findModel } from "#domain/models.ts";
import styles from "./ledger.module.css";
import { loadOlderLines, useWallet } from "./wallet-store.ts";

type LedgerLine = LedgerPage["lines"][number];

/** Groups the lines by the days of this device's calendar, in their order. */
function byDay(lines: readonly LedgerLine[], dayOf: (line: LedgerLine) => string): [string, LedgerLine[]][] {
  const days = new Map<string, LedgerLine[]>();
  for (const line of lines) days.set(dayOf(line), [...(days.get(dayOf(line)) ?? []), line]);
  return [...days];
}

/** One line; it links to the conversation in which the credits were spent, if it still exists. */
function Line({ line }: { line: LedgerLine }) {
  const { t } = useTranslation("billing");
  const { number, time } = useFormat();
  const model = line.modelId === null ? undefined : findModel(line.modelId);
  const name = model?.name ?? line.modelId;
  const what = name === null ? t(`ledger.kind.${line.kind}`) : t("ledger.kind.captureModel", { model: name });
  const words: ReactNode =
    line.conversationId === null ? what : <ItemLink href={`${paths.aiModels}?conversation=${line.conversationId}`}>{what}</ItemLink>;
  return (
    <LinkItem className={styles.line}>
      {model ? <ModelPattern modelId={model.id} category={model.category} className={styles.tile} /> : <span className={styles.plain} />}
      <p className={styles.what}>{words}</p>
      <p className={styles.when}>{time(line.occurredAt)}</p>
      <p className={styles.change} data-gain={line.credits > 0 || undefined}>
        {line.credits > 0 ? `+${number(line.credits)}` : number(line.credits)}
      </p>
      <p className={styles.balance}>
        {t("ledger.balance")} {number(line.balanceAfter)}
      </p>
    </LinkItem>
  );
}

function Day({ name, lines }: { name: string; lines: readonly LedgerLine[] }) {
  return (
    <section className={styles.day}>
      <h3 className={styles.date}>{name}</h3>
      <ul className={styles.lines}>
        {lines.map((line) => (
          <Line key={line.id} line={line} />
        ))}
      </ul>
    </section>
  );
}

/** Promise 4: the history explains the balance, line by line. */
export function LedgerPanel() {
  const { t } = useTranslation("billing");
  const { number, date } = useFormat();
  const { lines, wallet, nextCursor, loadingOlder } = useWallet();
  const [failed, setFailed] = useState(false);
  if (lines === null || wallet === null) return null;

  const older = () => {
    setFailed(false);
    loadOlderLines().catch(() => setFailed(true));
  };
  return (
    <Card as="section" className={styles.ledger ?? ""} aria-labelledby="ledger-title">
      <header className={styles.head}>
        <h2 id="ledger-title">{t("ledger.title")}</h2>
        {lines.length > 0 && (
          <p className={styles.sum}>
            {t("ledger.sum")} <strong>{number(wallet.balance)}</strong>
          </p>
        )}
        <p className={styles.lead}>{lines.length === 0 ? t("ledger.empty") : t("ledger.lead")}</p>
      </header>
      {byDay(lines, (line) => date(line.occurredAt)).map(([name, ofDay]) => (
        <Day key={name} name={name} lines={ofDay} />
      ))}
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
