import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { useAct } from "#client/components/use-act.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { plans } from "#domain/plans.ts";
import { CancelDialog, EndDialog } from "./cancel-dialog.tsx";
import { resumePlan, undoChange } from "./plan-change-acts.ts";
import { useNamedPlan } from "./use-named-plan.ts";

/** What is planned for the plan, a change or its end, with the way to take it back. */
export function PlanNotice({ check }: { check: SubscriptionCheck }) {
  const { t } = useTranslation("change");
  const { date, credits } = useFormat();
  const nameOf = useNamedPlan();
  const { busy, note, run } = useAct<"undo" | "resume">();
  const { plan_to_come: coming, cancel_at_period_end: ends, subscription_end: end } = check;
  if (coming)
    return (
      <Alert
        title={t("coming.title", { date: date(coming.from) })}
        action={
          <Button size="small" busy={busy !== undefined} busyLabel={t("undoing")} onClick={() => void run("undo", undoChange)}>
            {t("undo")}
          </Button>
        }
      >
        {t("coming.text", { plan: nameOf(coming), credits: credits(plans[coming.plan].monthlyCredits) })}
      </Alert>
    );
  if (!ends || end === null) return null;
  return (
    <>
      {note}
      <Alert
        tone="warning"
        title={t("ending.title", { date: date(end) })}
        action={
          <Button
            size="small"
            variant="primary"
            busy={busy !== undefined}
            busyLabel={t("ending.resuming")}
            onClick={() => void run("resume", resumePlan)}
          >
            {t("ending.resume")}
          </Button>
        }
      >
        {t("ending.text")}
      </Alert>
    </>
  );
}

/** A plan that gives no access and is not over: the ways out of it are to pay for it, and to end it. */
export function SuspendedPlan({ check, onPay }: { check: SubscriptionCheck; onPay: () => void }) {
  const { t } = useTranslation("change");
  const [ending, setEnding] = useState(false);
  const pays = check.unpaid !== undefined;
  const actions = (
    <>
      {pays && (
        <Button size="small" variant="primary" onClick={onPay}>
          {t("suspended.pay")}
        </Button>
      )}
      <Button size="small" onClick={() => setEnding(true)}>
        {t("suspended.open")}
      </Button>
    </>
  );
  return (
    <>
      <Alert tone="warning" title={t("suspended.title")} action={actions}>
        {t(pays ? "suspended.unpaid" : "suspended.text")}
      </Alert>
      <EndDialog pays={pays} open={ending} onClose={() => setEnding(false)} />
    </>
  );
}

/** The ways to another plan and to none. A plan that ends must be resumed first. */
export function PlanActions({ check }: { check: SubscriptionCheck }) {
  const { t } = useTranslation("change");
  const [cancelling, setCancelling] = useState(false);
  return (
    <>
      {check.status === "active" && !check.cancel_at_period_end && <LinkButton href={paths.pricing}>{t("plans")}</LinkButton>}
      {!check.cancel_at_period_end && (
        <Button variant="quiet" onClick={() => setCancelling(true)}>
          {t("cancel.open")}
        </Button>
      )}
      <CancelDialog check={check} open={cancelling} onClose={() => setCancelling(false)} />
    </>
  );
}
