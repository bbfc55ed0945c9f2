import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { LinkButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import { trialStateOf } from "#client/lib/trial-state.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useSentences } from "#client/lib/use-sentences.ts";
import { paths } from "#client/paths.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { isInTrial } from "#domain/models.ts";
import { trialCredits, trialDays, trialFileMegabytes } from "#domain/plans.ts";
import styles from "./billing.module.css";
import { PlanOnHold } from "./plan-on-hold.tsx";
import { StartTrial } from "./start-trial.tsx";

function covered(): string[] {
  return offeredModels()
    .filter(isInTrial)
    .map(({ name }) => name);
}

interface Words {
  title: string;
  text: string;
  action: ReactNode;
}

/** What to tell somebody who can't use models now about the trial; null if there is nothing to say, and until the texts are loaded. */
function useWords(check: SubscriptionCheck): Words | null {
  const { t, ready } = useTranslation("trial", { useSuspense: false });
  const { credits, date, list } = useFormat();
  const state = trialStateOf(check);
  if (!ready || state === null) return null;
  const plans = (
    <LinkButton href={paths.pricing} variant={state === "offered" ? "secondary" : "primary"}>
      {t(state === "offered" ? "plans" : "choose")}
    </LinkButton>
  );
  if (state === "offered") {
    const text = t("offer.text", {
      credits: credits(trialCredits),
      models: list(covered()),
      megabytes: trialFileMegabytes,
    });
    const action = (
      <div className={styles.actions}>
        <StartTrial />
        {plans}
      </div>
    );
    return { title: t("title", { count: trialDays }), text, action };
  }
  return { title: t("ended.title"), text: t("ended.text", { date: date(check.trial_end ?? check.server_time) }), action: plans };
}

/** Shown to people who can't ask models now: the offer of the trial, or that it has ended and what to do, or that the plan is on hold. */
export function OwnTrial({ check }: { check: SubscriptionCheck }) {
  const words = useWords(check);
  if (check.status === "suspended") return <PlanOnHold />;
  return (
    words && (
      <Alert title={words.title} action={words.action}>
        {words.text}
      </Alert>
    )
  );
}

/** The same in the account, where a plan would stand. */
export function TrialInsteadOfPlan({ check }: { check: SubscriptionCheck }) {
  const { t } = useTranslation("billing");
  const words = useWords(check);
  if (!words) return null;
  if (trialStateOf(check) === "ended") {
    return (
      <EmptyState title={words.title} action={words.action}>
        {words.text}
      </EmptyState>
    );
  }
  return (
    <EmptyState title={t("subscription.none")} action={words.action}>
      <strong>{words.title}</strong> {words.text}
    </EmptyState>
  );
}

/** "Free trial", where another plan's name would stand. */
export function TrialName() {
  const { t } = useTranslation("trial", { useSuspense: false });
  return t("label");
}

/** What the trial that runs covers, and what becomes of it with a plan. */
export function RunningTrial({ check }: { check: SubscriptionCheck }) {
  const { t, ready } = useTranslation("trial", { useSuspense: false });
  const { date, list } = useFormat();
  const sentences = useSentences();
  if (!ready || check.trial_end === null) return null;
  return (
    <div className={styles.trial}>
      <p className={styles.soft}>
        {sentences(t("running.covers", { models: list(covered()) }), t("running.upgrade", { date: date(check.trial_end) }))}
      </p>
      <LinkButton href={paths.pricing} variant="primary">
        {t("choose")}
      </LinkButton>
    </div>
  );
}

/** One or two sentences among the plans, with the button if the trial can be started. */
export function TrialAmongPlans({ check }: { check: SubscriptionCheck }) {
  const { t, ready } = useTranslation("trial", { useSuspense: false });
  const { credits, date } = useFormat();
  const state = trialStateOf(check);
  if (!ready || state === null || state === "ended") return null;
  if (state === "running") return ` ${t("running.upgrade", { date: date(check.trial_end ?? check.server_time) })}`;
  return (
    <>
      {` ${t("offer.first", { count: trialDays, credits: credits(trialCredits) })} `}
      <StartTrial size="small" className={styles.among ?? ""} />
    </>
  );
}
