import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { usagePath } from "#client/lib/usage-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useLedgerWords } from "#client/lib/use-ledger-words.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Explanation, LedgerFilter } from "#contract/credits/ledger.ts";
import styles from "./explanation.module.css";
import { GrantBar } from "./grant-bar.tsx";
import usage from "./usage.module.css";
import { useExplanation } from "./use-explanation.ts";

type Step = Explanation["grants"][number];
type Part = "spent" | "expired" | "takenBack";

const kindOf: Record<Part, NonNullable<LedgerFilter["kind"]>> = { spent: "capture", expired: "expire", takenBack: "clawback" };

function linesPath(grantId: string, kind?: LedgerFilter["kind"]): string {
  return `${usagePath}?${new URLSearchParams({ grant: grantId, ...(kind && { kind }) })}#history`;
}

function useSigned() {
  const { number } = useFormat();
  return (credits: number) => (credits > 0 ? `+${number(credits)}` : number(credits));
}

function Figure({ mark, label, credits }: { mark?: Part | "moved"; label: ReactNode; credits: number }) {
  const signed = useSigned();
  return (
    <div className={styles.part}>
      <dt>
        {mark && <span className={styles.mark} data-part={mark} />}
        {label}
      </dt>
      <dd>{signed(credits)}</dd>
    </div>
  );
}

/** One grant: what it brought, what became of it with links to the lines, what is left, and the balance so far. */
function GrantStep({ step, largest, balance }: { step: Step; largest: number; balance: number }) {
  const { t } = useTranslation(["usage", "wallet"]);
  const { number } = useFormat();
  const { date, range } = useUtc();
  const words = useLedgerWords(range);
  const parts = (["spent", "expired", "takenBack"] as const).filter((part) => step[part] !== 0);
  return (
    <li className={styles.step}>
      <h3 className={styles.grant}>
        <Link href={linesPath(step.id)}>{words.grant(step)}</Link> <span className={styles.soft}>{date(step.createdAt)}</span>
      </h3>
      <GrantBar step={step} largest={largest} />
      <dl className={styles.parts}>
        <Figure label={t("usage:explain.received")} credits={step.credits} />
        {parts.map((part) => (
          <Figure
            key={part}
            mark={part}
            label={<Link href={linesPath(step.id, kindOf[part])}>{t(`usage:kinds.${kindOf[part]}`)}</Link>}
            credits={-step[part]}
          />
        ))}
        {step.moved !== 0 && (
          <Figure mark="moved" label={t(step.moved < 0 ? "usage:explain.movedOut" : "usage:explain.movedIn")} credits={step.moved} />
        )}
      </dl>
      <p className={styles.left}>
        <span>
          <span className={styles.mark} data-part="free" />
          {t("usage:explain.left")} <strong>{number(step.remaining)}</strong>
          {step.held > 0 && (
            <span className={styles.soft}>
              {" · "}
              <span className={styles.mark} data-part="held" />
              {t("wallet:held", { held: number(step.held) })}
            </span>
          )}
        </span>
        <span className={styles.running}>
          {t("usage:explain.running")} <strong>{number(balance)}</strong>
        </span>
      </p>
    </li>
  );
}

function Steps({ explanation }: { explanation: Explanation }) {
  const { t } = useTranslation("usage");
  const { number } = useFormat();
  const signed = useSigned();
  const { grants, closedCredits, balance, agrees } = explanation;
  if (grants.length === 0 && closedCredits === 0) return <p className={usage.lead}>{t("explain.empty")}</p>;
  const largest = Math.max(...grants.map(({ credits }) => credits));
  const sums = grants.map((_, index) => grants.slice(0, index + 1).reduce((sum, { remaining }) => sum + remaining, 0));
  return (
    <>
      <ol className={styles.steps}>
        {closedCredits > 0 && (
          <li className={styles.step}>
            <h3 className={styles.grant}>{t("explain.closed")}</h3>
            <p className={styles.left}>
              <span className={styles.soft}>
                {signed(closedCredits)} {signed(-closedCredits)}
              </span>
              <span className={styles.running}>
                {t("explain.running")} <strong>{number(0)}</strong>
              </span>
            </p>
          </li>
        )}
        {grants.map((step, index) => (
          <GrantStep key={step.id} step={step} largest={largest} balance={sums[index] ?? 0} />
        ))}
      </ol>
      {agrees ? (
        <Alert tone="good">{t("explain.agrees", { balance: number(balance) })}</Alert>
      ) : (
        <Alert tone="warning">{t("explain.disagrees", { sum: number(sums.at(-1) ?? 0), balance: number(balance) })}</Alert>
      )}
    </>
  );
}

/** Replays how the balance came about, grant by grant. */
export function ExplanationPanel() {
  const { t } = useTranslation(["usage", "common"]);
  const { state, read } = useExplanation();
  const again = (
    <Button size="small" onClick={read}>
      {t("common:retry")}
    </Button>
  );
  return (
    <Panel name="balance" title={t("usage:explain.title")} lead={[t("usage:explain.lead")]}>
      {state.status === "loading" && <Spinner label={t("usage:history.reading")} />}
      {state.status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("usage:explain.failed")}
        </Alert>
      )}
      {state.status === "known" && <Steps explanation={state.explanation} />}
    </Panel>
  );
}
