import i18next from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import type { Tone } from "#client/components/badge.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Late } from "#client/components/late.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { reasonText } from "#client/i18n/reason-text.ts";
import { accessEnd, isLastPeriod } from "#client/lib/access-end.ts";
import { offeredModels } from "#client/lib/offered-models.ts";
import { trialStateOf } from "#client/lib/trial-state.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useSentences } from "#client/lib/use-sentences.ts";
import { paths } from "#client/paths.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { CreditSupply } from "#domain/credits.ts";
import { creditSupply } from "#domain/credits.ts";
import { monthlyCreditsOf, plans, priceCents } from "#domain/plans.ts";
import { timeLeft } from "#domain/subscription.ts";
import styles from "./billing.module.css";
import { RunningTrial, TrialInsteadOfPlan, TrialName } from "./own-trial.tsx";
import { useSubscription } from "./subscription-store.ts";
import { usePortal } from "./use-portal.ts";

/** What only subscribers need, with its texts. */
async function loadNotices() {
  await i18next.loadNamespaces("change");
  return import("./plan-notices.tsx");
}
const loadNotice = async () => (await loadNotices()).PlanNotice;
const loadSuspended = async () => (await loadNotices()).SuspendedPlan;
const loadActions = async () => (await loadNotices()).PlanActions;

const supplyTone = { plenty: "good", low: "warning", out: "danger" } as const satisfies Record<CreditSupply, Tone>;

type StatusKey = "active" | "inactive" | "pastDue" | "ending";

function statusOf(check: SubscriptionCheck): [StatusKey, Tone] {
  if (check.status === "past_due") return ["pastDue", "danger"];
  if (!check.subscribed) return ["inactive", "neutral"];
  return check.cancel_at_period_end ? ["ending", "warning"] : ["active", "good"];
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The facts of the subscription. `atMs` is when the server sent them, by this device's clock. */
function Facts({ check, atMs }: { check: SubscriptionCheck; atMs: number }) {
  const { t } = useTranslation("billing");
  const onTrial = trialStateOf(check) === "running";
  const { number, credits, date, money, planName, timeLeft: timeLeftText } = useFormat();
  const plan = check.subscription_tier === "none" ? undefined : plans[check.subscription_tier];
  const interval = check.billing_interval ?? "month";
  const isAnnual = interval === "year";
  const end = accessEnd(check);
  const [status, tone] = statusOf(check);
  const supply = creditSupply(check.credits, monthlyCreditsOf(check.subscription_tier));
  // Business time is the server's time plus the time since its answer, because this device's clock may be wrong.
  const now = new Date(Date.parse(check.server_time) + Math.max(0, Date.now() - atMs));
  return (
    <dl className={styles.facts}>
      <Fact name={t("subscription.currentPlan")}>
        <span className={styles.plan}>{onTrial ? <TrialName /> : planName(check.subscription_tier)}</span>
      </Fact>
      <Fact name={t("subscription.status")}>
        <Badge tone={tone}>{t(`subscription.${status}`)}</Badge>
      </Fact>
      <Fact name={t("subscription.availableCredits")}>
        {number(check.credits)} <Badge tone={supplyTone[supply]}>{t(`subscription.supply.${supply}`)}</Badge>
      </Fact>
      {plan && <Fact name={t("subscription.monthlyCredits")}>{credits(plan.monthlyCredits)}</Fact>}
      {end !== null && (
        <Fact name={t(isLastPeriod(check) || onTrial ? "subscription.endsOn" : "subscription.nextBilling")}>{date(end)}</Fact>
      )}
      <Fact name={t("subscription.timeLeft")}>{timeLeftText(timeLeft(end, now))}</Fact>
      {plan && (
        <Fact name={t("subscription.planValue")}>
          {t(isAnnual ? "subscription.perYear" : "subscription.perMonth", {
            price: money(check.price_cents ?? priceCents(plan, interval)),
          })}
          <span className={styles.note}>{t(isAnnual ? "subscription.billedYearly" : "subscription.billedMonthly")}</span>
        </Fact>
      )}
    </dl>
  );
}

/** Says what is wrong with the payment and how to fix it. */
function PaymentNotice({ check, onPay }: { check: SubscriptionCheck; onPay: () => void }) {
  const { t } = useTranslation(["billing", "invoices"]);
  const { date, money } = useFormat();
  const sentences = useSentences();
  const until = check.unpaid?.until;
  if (check.unpaid?.processing)
    return <Alert title={t("billing:subscription.processing")}>{t("billing:subscription.processingText")}</Alert>;
  const dueAt = check.unpaid?.dueAt;
  const pay = (
    <Button size="small" variant="primary" onClick={onPay}>
      {t(dueAt === undefined ? "billing:subscription.payNow" : "invoices:unpaid.open")}
    </Button>
  );
  if (dueAt !== undefined)
    return (
      <Alert tone="warning" action={pay}>
        {sentences(
          t("invoices:unpaid.transfer", { amount: money(check.unpaid?.amountCents ?? 0), date: date(dueAt) }),
          until ? t("invoices:unpaid.until", { date: date(until) }) : false,
        )}
      </Alert>
    );
  if (check.status === "past_due") {
    return (
      <Alert tone="danger" title={t("billing:subscription.paymentFailed")} action={pay}>
        {until && t("billing:subscription.paymentFailedText", { date: date(until) })}
      </Alert>
    );
  }
  if (check.status !== "incomplete") return null;
  return (
    <Alert tone="warning" action={pay}>
      {t("billing:subscription.incomplete")}
    </Alert>
  );
}

function Body({ check, atMs, onPay }: { check: SubscriptionCheck; atMs: number; onPay: () => void }) {
  const { t } = useTranslation("billing");
  const { date } = useFormat();
  const trial = trialStateOf(check);
  if (check.status === "suspended" && !check.subscribed) return <Late load={loadSuspended} check={check} onPay={onPay} />;
  if (trial === "offered" || trial === "ended") return <TrialInsteadOfPlan check={check} />;
  if (!check.subscribed && check.status !== "past_due" && check.status !== "incomplete") {
    const viewPlans = (
      <LinkButton href={paths.pricing} variant="primary">
        {t("subscription.viewPlans")}
      </LinkButton>
    );
    const endedAt = check.status === "canceled" ? check.subscription_end : null;
    return (
      <EmptyState title={endedAt ? t("subscription.over", { date: date(endedAt) }) : t("subscription.none")} action={viewPlans}>
        {t("subscription.noneText", { count: offeredModels().length })}
      </EmptyState>
    );
  }
  return (
    <>
      <PaymentNotice check={check} onPay={onPay} />
      <Facts check={check} atMs={atMs} />
      <Late load={loadNotice} check={check} />
      {trial === "running" && <RunningTrial check={check} />}
    </>
  );
}

/** The subscription with every state of spec §4: checking, refreshing, redirecting, and what can fail. */
export function SubscriptionPanel() {
  const { t } = useTranslation(["billing", "errors", "refusals"]);
  const { relative } = useFormat();
  const { status, check, lastKnown, refresh } = useSubscription();
  const { state: portal, open } = usePortal();
  const shown = status === "failed" ? lastKnown?.check : check;
  const atMs = lastKnown?.checkedAtMs ?? Date.now();
  const changeable = shown?.subscription_tier !== "none" && (shown?.status === "active" || shown?.status === "past_due") ? shown : null;
  const manageable = shown !== undefined && shown !== null && shown.status !== "none";
  return (
    <section className={styles.part} aria-labelledby="subscription-title">
      <div className={styles.head}>
        <h2 id="subscription-title">{t("billing:subscription.title")}</h2>
        {status !== "checking" && status !== "idle" && (
          <Button
            variant="quiet"
            size="small"
            busy={status === "refreshing"}
            busyLabel={t("billing:subscription.refreshing")}
            onClick={() => void refresh()}
          >
            {t("billing:subscription.refresh")}
          </Button>
        )}
      </div>
      {status === "failed" && (
        <Alert tone="warning" title={t("billing:subscription.loadFailed")}>
          {lastKnown
            ? t("billing:subscription.lastKnown", { age: relative(new Date(lastKnown.checkedAtMs), new Date()) })
            : check?.reason && reasonText(check.reason)}
        </Alert>
      )}
      {portal.status === "failed" && (
        <Alert tone="danger" title={t("billing:subscription.portalFailed")}>
          {problemText(portal.code)}
        </Alert>
      )}
      {shown ? (
        <Body check={shown} atMs={atMs} onPay={() => void open(shown.unpaid?.invoiceId)} />
      ) : (
        status !== "failed" && <Spinner label={t("billing:subscription.checking")} />
      )}
      {status !== "checking" && status !== "idle" && (
        <div className={styles.actions}>
          {manageable && (
            <Button busy={portal.status === "opening"} busyLabel={t("billing:subscription.redirecting")} onClick={() => void open()}>
              {t("billing:subscription.manage")}
            </Button>
          )}
          {changeable && <Late load={loadActions} check={changeable} />}
        </div>
      )}
    </section>
  );
}
