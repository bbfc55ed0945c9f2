import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { RichText } from "#client/components/rich-text.tsx";
import { nextCredits } from "#client/lib/next-credits.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import type { SubscriptionCheck } from "#contract/billing.ts";
import { monthlyCreditsOf } from "#domain/plans.ts";

/** For subscribers: what is left, when more arrives, and where to cancel. Nothing here can be bought a second time. */
export function OwnPlan({ own }: { own: SubscriptionCheck }) {
  const { t, ready } = useTranslation("billing", { useSuspense: false });
  const format = useFormat();
  if (!ready) return null;
  const available = format.credits(own.credits);
  const account = { account: <Link href={paths.profile} /> };
  if (own.cancel_at_period_end && own.subscription_end) return t("mine.ends", { available, date: format.date(own.subscription_end) });
  const next = nextCredits(own);
  if (next?.kind === "unpaid") return <RichText text={t("mine.unpaid", { available })} elements={account} />;
  const monthly = format.credits(monthlyCreditsOf(own.subscription_tier));
  return (
    <>
      {next && `${t("mine.next", { available, monthly, date: format.date(next.at) })} `}
      <RichText text={t("mine.change")} elements={account} />
    </>
  );
}
