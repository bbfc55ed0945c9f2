import { Minus, Plus } from "lucide-react";
import { useTranslation } from "react-i18next";
import { billingPath } from "#client/lib/billing-path.ts";
import { knownModel } from "#client/lib/known-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { WriteRange } from "#client/lib/use-ledger-words.ts";
import { useLedgerWords } from "#client/lib/use-ledger-words.ts";
import { paths } from "#client/paths.ts";
import type { LedgerLine } from "#contract/credits/ledger.ts";
import styles from "./ledger-lines.module.css";
import { ItemLink, LinkItem } from "./link-item.tsx";
import { ModelPattern } from "./model-pattern.tsx";

/** In which calendar days and times are written: the device's or UTC. */
export interface LedgerCalendar {
  date: (timestamp: string) => string;
  time: (timestamp: string) => string;
  range: WriteRange;
}

interface LedgerLinesProps {
  lines: readonly LedgerLine[];
  calendar: LedgerCalendar;
}

/** Groups the lines by day, in their order. */
function byDay(lines: readonly LedgerLine[], { date }: LedgerCalendar): [string, LedgerLine[]][] {
  const days = new Map<string, LedgerLine[]>();
  for (const line of lines) {
    const day = date(line.occurredAt);
    const ofDay = days.get(day);
    if (ofDay) ofDay.push(line);
    else days.set(day, [line]);
  }
  return [...days];
}

/** What the credits of the line were for: the conversation, or the plan or pack with its invoice. */
function Detail({ line, words }: { line: LedgerLine; words: ReturnType<typeof useLedgerWords> }) {
  const { conversationTitle, grantKind, grantFor, invoice } = line;
  if (conversationTitle !== null) return <span dir="auto"> · {conversationTitle}</span>;
  const grant = words.grant({ kind: grantKind, grantFor });
  return (
    <>
      {grant !== null && ` · ${grant}`}
      {invoice && (
        <>
          {" · "}
          <span className={styles.invoice}>
            <ItemLink href={`${billingPath}#invoices`}>{words.invoice(invoice)}</ItemLink>
          </span>
        </>
      )}
    </>
  );
}

/** One line; it links to the conversation in which the credits were spent, if it still exists, or to the invoices if they were bought. */
function Line({ line, calendar }: { line: LedgerLine; calendar: LedgerCalendar }) {
  const { t } = useTranslation("billing");
  const words = useLedgerWords(calendar.range);
  const { number } = useFormat();
  const model = line.modelId === null ? undefined : knownModel(line.modelId);
  const what = words.what(line);
  return (
    <LinkItem className={styles.line}>
      {model ? (
        <ModelPattern modelId={model.id} category={model.category} className={styles.tile} />
      ) : (
        <span className={styles.plain}>{line.credits > 0 ? <Plus aria-hidden="true" /> : <Minus aria-hidden="true" />}</span>
      )}
      <p className={styles.what}>
        {line.conversationId === null ? what : <ItemLink href={`${paths.aiModels}?conversation=${line.conversationId}`}>{what}</ItemLink>}
      </p>
      <p className={styles.change} data-gain={line.credits > 0 || undefined}>
        {line.credits > 0 ? `+${number(line.credits)}` : number(line.credits)}
      </p>
      <p className={styles.under}>
        <span className={styles.when} data-whole={line.grantKind !== null || undefined}>
          <time dateTime={line.occurredAt}>{calendar.time(line.occurredAt)}</time>
          <Detail line={line} words={words} />
        </span>
        <span className={styles.balance}>
          {t("ledger.balance")} {number(line.balanceAfter)}
        </span>
      </p>
    </LinkItem>
  );
}

/** Lines of the wallet's history, by day. */
export function LedgerLines({ lines, calendar }: LedgerLinesProps) {
  return (
    <div className={styles.days}>
      {byDay(lines, calendar).map(([day, ofDay]) => (
        <section key={day}>
          <h3 className={styles.date}>{day}</h3>
          <ul className={styles.lines}>
            {ofDay.map((line) => (
              <Line key={line.id} line={line} calendar={calendar} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
