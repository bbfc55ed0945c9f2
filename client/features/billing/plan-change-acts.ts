/** What a subscriber can do to the plan. Each act shows the new state at once; the person's other pages hear of it from the server. */
import i18next from "i18next";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { formatDate } from "#client/lib/format.ts";
import { showToast, useInterface } from "#client/lib/interface-store.ts";
import type { PlanChangePreview } from "#contract/billing/plan-change.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { BillingInterval, PlanKey, PriceId } from "#domain/plans.ts";
import { useSubscription } from "./subscription-store.ts";

/** A plan with one of its prices. */
export interface Sold {
  plan: PlanKey;
  interval: BillingInterval;
}

/** The texts of these acts and of their dialogs. */
export const changeTexts = ["change", "order", "auth", "errors", "refusals"] as const;

/** Shows the check that the answer brought. */
function noteCheck(check: SubscriptionCheck): void {
  useSubscription.setState({ status: "ready", check, lastKnown: { check, checkedAtMs: Date.now() } });
}

const day = (timestamp: string) => ({ date: formatDate(timestamp, i18next.language) });

let lastToast: number | undefined;

/** Says what has just become of the plan, instead of what an act before made of it. */
function sayOfPlan(said: { title: string; text?: string }): void {
  // What an earlier one said of the plan no longer holds.
  if (lastToast !== undefined) useInterface.getState().dismissToast(lastToast);
  showToast({ tone: "good", ...said });
  lastToast = useInterface.getState().toasts.at(-1)?.id;
}

/** Throws ApiProblem, NetworkProblem. */
export async function confirmChange(priceId: PriceId, { effectiveAt, amountCents }: PlanChangePreview): Promise<void> {
  noteCheck(await api("POST /api/billing/plan-change", { body: { priceId, effectiveAt, amountCents } }));
  sayOfPlan({ title: i18next.t("change:dialog.done", day(effectiveAt)), text: i18next.t("change:dialog.doneText") });
}

/** Takes the planned change back, and says so, or why not. */
export async function undoChange(): Promise<void> {
  try {
    noteCheck(await api("DELETE /api/billing/plan-change"));
    await i18next.loadNamespaces(changeTexts);
    sayOfPlan({ title: i18next.t("change:undone") });
  } catch (error) {
    await i18next.loadNamespaces(changeTexts);
    const text = problemText(error instanceof ApiProblem ? error.code : "network");
    showToast({ tone: "danger", title: i18next.t("change:undoFailed"), text });
  }
}

/** Throws ApiProblem, NetworkProblem. */
export async function cancelPlan(): Promise<void> {
  const check = await api("POST /api/billing/cancellation");
  noteCheck(check);
  if (check.subscription_end === null) return;
  sayOfPlan({
    title: i18next.t("change:cancel.done", day(check.subscription_end)),
    text: i18next.t("change:cancel.doneText"),
  });
}

/** Throws ApiProblem, NetworkProblem. */
export async function resumePlan(): Promise<void> {
  noteCheck(await api("DELETE /api/billing/cancellation"));
  sayOfPlan({ title: i18next.t("change:ending.resumed") });
}
