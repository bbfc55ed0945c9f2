import { Fragment, useEffect, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useAct } from "#client/components/use-act.ts";
import { api } from "#client/lib/api.ts";
import { fragmentId } from "#client/lib/fragment.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { withdrawalId } from "#client/lib/withdrawal-path.ts";
import type { Contract, Withdrawals } from "#contract/billing/withdrawals.ts";
import { withdrawalDays } from "#domain/plans.ts";
import { useBillingRead } from "./use-billing-read.ts";
import styles from "./withdrawal.module.css";

const readWithdrawals = () => api("GET /api/billing/withdrawals");

function useSubject({ subject }: Contract): string {
  const { t } = useTranslation("invoices");
  const { credits, planName } = useFormat();
  return subject.kind === "plan"
    ? t(`plan.${subject.interval}`, { plan: planName(subject.plan) })
    : t("pack", { credits: credits(subject.credits) });
}

interface StatementProps {
  contract: Contract;
  from: Pick<Withdrawals, "name" | "email">;
  onClose: () => void;
  onWithdrawn: (contract: Contract) => void;
}

/** The second step: the statement as it will be sent. */
function Statement({ contract, from, onClose, onWithdrawn }: StatementProps) {
  const { t } = useTranslation(["refunds", "common"]);
  const { money, date } = useFormat();
  const { note, waitSeconds, busy, run } = useAct();
  const { id, subject, concludedAt, amountCents } = contract;
  const facts = [
    ...(from.name === null ? [] : [[t("refunds:withdrawal.name"), from.name]]),
    [t("refunds:withdrawal.email"), from.email],
    [t("refunds:withdrawal.contract"), useSubject(contract)],
    [t("refunds:withdrawal.concludedAt"), date(concludedAt)],
    [t("refunds:withdrawal.sum"), money(amountCents)],
  ];
  const actions = (
    <>
      <Button onClick={onClose}>{t("common:cancel")}</Button>
      <Button
        variant="danger"
        busy={busy !== undefined}
        busyLabel={t("refunds:withdrawal.busy")}
        aria-disabled={waitSeconds > 0}
        onClick={() =>
          void run("withdraw", async () => onWithdrawn(await api("POST /api/billing/withdrawals", { body: { contractId: id } })))
        }
      >
        {t("refunds:withdrawal.confirm")}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t("refunds:withdrawal.statement")} actions={actions}>
      <dl className={styles.statement}>
        {facts.map(([term, value]) => (
          <Fragment key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      <p>{t(`refunds:withdrawal.effect.${subject.kind}`)}</p>
      {note}
    </Dialog>
  );
}

function ContractItem({ contract, email, onBegin }: { contract: Contract; email: string; onBegin: () => void }) {
  const { t } = useTranslation("refunds");
  const { money, number, date, dateTime } = useFormat();
  const nameId = useId();
  const { state, concludedAt, until, amountCents, byTransfer, unspentCredits, grantedCredits, withdrawnAt } = contract;
  const figures = { amount: money(amountCents), unspent: number(unspentCredits), granted: number(grantedCredits) };
  return (
    <li className={styles.contract}>
      <p id={nameId} className={styles.what}>
        {useSubject(contract)}
      </p>
      <p className={styles.detail}>{t("withdrawal.period", { concluded: date(concludedAt), until: dateTime(until) })}</p>
      {state === "open" && (
        <>
          <p>{t("withdrawal.open", figures)}</p>
          <Button aria-describedby={nameId} onClick={onBegin}>
            {t("withdrawal.begin")}
          </Button>
        </>
      )}
      {state === "withdrawn" && (
        <Alert tone="good">
          {t(byTransfer ? "withdrawal.withdrawnTransfer" : "withdrawal.withdrawn", {
            ...{ ...figures, email, days: number(withdrawalDays), time: dateTime(withdrawnAt ?? concludedAt) },
          })}
        </Alert>
      )}
      {state === "used" && <p>{t("withdrawal.used")}</p>}
      {(state === "asked" || state === "returned" || state === "disputed") && <p>{t(`moneyBack.${state}`, figures)}</p>}
    </li>
  );
}

/** Whether the address names this panel. If so, scrolls to it as soon as it is ready, and again whenever its link is followed. */
function useSought(ready: boolean): boolean {
  const [sought, setSought] = useState(false);
  useEffect(() => {
    if (!ready) return;
    const look = () => {
      const named = fragmentId(location.hash) === withdrawalId;
      setSought(named);
      // After the panel is drawn.
      if (named) requestAnimationFrame(() => document.getElementById(withdrawalId)?.scrollIntoView());
    };
    look();
    // The router fires pushState when a link of the page is followed.
    const events = ["pushState", "hashchange"];
    for (const event of events) addEventListener(event, look);
    return () => {
      for (const event of events) removeEventListener(event, look);
    };
  }, [ready]);
  return sought;
}

/** The contracts that a person can withdraw from, as the European law gives it to consumers. */
export function WithdrawalPanel() {
  const { t } = useTranslation(["refunds", "invoices", "common", "errors", "refusals"]);
  const { number } = useFormat();
  const [withdrawals, setWithdrawals] = useBillingRead(readWithdrawals);
  const [chosen, setChosen] = useState<Contract>();
  const sought = useSought(withdrawals !== undefined);
  if (!withdrawals || (withdrawals.contracts.length === 0 && !sought)) return null;
  return (
    <Panel
      name={withdrawalId}
      title={t("refunds:withdrawal.title")}
      lead={[t("refunds:withdrawal.lead", { days: number(withdrawalDays) })]}
    >
      {withdrawals.contracts.length === 0 ? (
        <p>{t("refunds:withdrawal.none")}</p>
      ) : (
        <ul className={styles.contracts}>
          {withdrawals.contracts.map((contract) => (
            <ContractItem key={contract.id} contract={contract} email={withdrawals.email} onBegin={() => setChosen(contract)} />
          ))}
        </ul>
      )}
      {chosen && (
        <Statement
          contract={chosen}
          from={withdrawals}
          onClose={() => setChosen(undefined)}
          onWithdrawn={(contract) => {
            setChosen(undefined);
            setWithdrawals(
              (known) => known && { ...known, contracts: known.contracts.map((old) => (old.id === contract.id ? contract : old)) },
            );
          }}
        />
      )}
    </Panel>
  );
}
