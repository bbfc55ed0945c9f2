import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { RichText } from "#client/components/rich-text.tsx";
import { nextCredits } from "#client/lib/next-credits.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { plans } from "#domain/plans.ts";

/** For subscribers: what is left, when more arrives, what changes, and where to cancel. */
export function OwnPlan({ own }: { own: SubscriptionCheck }) {
  const { t, ready } = useTranslation(["billing", "change"], { useSuspense: false });
  const format = useFormat();
  if (!ready) return null;
  const available = format.credits(own.credits);
  const { plan_to_come: coming } = own;
  // The name includes the billing interval, because that may be the only change.
  const named = coming && t(`change:named.${coming.interval}`, { plan: plans[coming.plan].name });
  const account = { account: <Link href={paths.profile} /> };
  if (own.cancel_at_period_end && own.subscription_end) return t("mine.ends", { available, date: format.date(own.subscription_end) });
  const next = nextCredits(own);
  if (next?.kind === "unpaid") return <RichText text={t("mine.unpaid", { available })} elements={account} />;
  return (
    <>
      {next?.kind === "on" && `${t("mine.next", { available, monthly: format.credits(next.credits), date: format.date(next.at) })} `}
      <RichText text={coming ? t("mine.coming", { date: format.date(coming.from), plan: named }) : t("mine.change")} elements={account} />
    </>
  );
}
