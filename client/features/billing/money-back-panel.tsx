import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useAct } from "#client/components/use-act.ts";
import { api } from "#client/lib/api.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { MoneyBack } from "#contract/billing/money-back.ts";
import { moneyBackDays, moneyBackUsedPercent, withdrawalDays } from "#domain/plans.ts";
import styles from "./money-back.module.css";
import { useBillingRead } from "./use-billing-read.ts";

/** Null if the person has paid nothing. */
const readMoneyBack = async () => (await api("GET /api/billing/money-back")).moneyBack;

function useRule() {
  const { t } = useTranslation("refunds");
  const { percent, number } = useFormat();
  return ({ spentCredits, allowedCredits }: MoneyBack) => [
    t("moneyBack.rule", { days: number(moneyBackDays), share: percent(moneyBackUsedPercent) }),
    t("moneyBack.spent", { spent: number(spentCredits), allowed: number(allowedCredits) }),
  ];
}

interface AskingProps {
  moneyBack: MoneyBack;
  onClose: () => void;
  onAsked: (asked: MoneyBack) => void;
}

/** The second step: the sum, and what becomes of plan and credits. */
function Asking({ moneyBack, onClose, onAsked }: AskingProps) {
  const { t } = useTranslation(["refunds", "common"]);
  const { money, number } = useFormat();
  const { note, waitSeconds, busy, run } = useAct();
  const amount = money(moneyBack.amountCents);
  async function ask(): Promise<void> {
    const asked = await withStepUp(() => api("POST /api/billing/money-back"));
    if (asked) onAsked(asked);
  }
  const actions = (
    <>
      <Button onClick={onClose}>{t("common:cancel")}</Button>
      <Button
        variant="danger"
        busy={busy !== undefined}
        busyLabel={t("refunds:moneyBack.busy")}
        aria-disabled={waitSeconds > 0}
        onClick={() => void run("ask", ask)}
      >
        {t("refunds:moneyBack.confirm", { amount })}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t("refunds:moneyBack.ask", { amount })} actions={actions}>
      <ul className={styles.points}>
        <li>
          {t(moneyBack.byTransfer ? "refunds:moneyBack.moneyTransfer" : "refunds:moneyBack.money", {
            amount,
            days: number(withdrawalDays),
          })}
        </li>
        <li>{t("refunds:moneyBack.plan")}</li>
        <li>{t("refunds:moneyBack.credits")}</li>
      </ul>
      {note}
    </Dialog>
  );
}

/** Whether the first payment can be taken back, and why not. The page must show a StepUpDialog. */
export function MoneyBackPanel() {
  const { t } = useTranslation(["refunds", "common", "errors", "refusals"]);
  const { money, date } = useFormat();
  const [moneyBack, setMoneyBack] = useBillingRead(readMoneyBack);
  const [asking, setAsking] = useState(false);
  const rule = useRule();
  if (!moneyBack) return null;
  const { state, amountCents, until } = moneyBack;
  const figures = { amount: money(amountCents), date: date(until) };
  return (
    <Panel name="money-back" title={t("refunds:moneyBack.title")} lead={rule(moneyBack)}>
      {state === "open" ? (
        <>
          <p>{t("refunds:moneyBack.open", figures)}</p>
          <div>
            <Button onClick={() => setAsking(true)}>{t("refunds:moneyBack.begin", figures)}</Button>
          </div>
        </>
      ) : (
        <Alert tone={state === "asked" || state === "returned" ? "good" : "info"}>{t(`refunds:moneyBack.${state}`, figures)}</Alert>
      )}
      {asking && (
        <Asking
          moneyBack={moneyBack}
          onClose={() => setAsking(false)}
          onAsked={(asked) => {
            setAsking(false);
            setMoneyBack(asked);
          }}
        />
      )}
    </Panel>
  );
}
