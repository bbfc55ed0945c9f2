import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Late } from "#client/components/late.tsx";
import { Page } from "#client/components/page.tsx";
import { Section } from "#client/components/section.tsx";
import { useSubscription } from "#client/features/billing/subscription-store.ts";
import { useCheckout } from "#client/features/billing/use-checkout.tsx";
import { usePlanChange } from "#client/features/billing/use-plan-change.tsx";
import { Facts } from "#client/features/marketing/facts.tsx";
import { Hero } from "#client/features/marketing/hero.tsx";
import { PlansSection } from "#client/features/marketing/plans-section.tsx";
import { PriceFirst } from "#client/features/marketing/price-first.tsx";
import { SolutionCards } from "#client/features/marketing/solution-cards.tsx";
import { SubscriptionSummary } from "#client/features/marketing/subscription-summary.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import { trialStateOf } from "#client/lib/trial-state.ts";
import { useSession } from "#client/lib/use-session.ts";
import { paths } from "#client/paths.ts";
import styles from "./home.module.css";

const loadTrial = async () => (await import("#client/features/billing/own-trial.tsx")).OwnTrial;

export function HomePage() {
  const { t } = useTranslation("home");
  const { status, user } = useSession();
  const check = useSubscription((state) => state.check);
  const { start, processing, dialog: order } = useCheckout();
  const { change, undo, dialog } = usePlanChange();
  return (
    <Page className={styles.home ?? ""}>
      <div className={styles.opening}>
        {status !== "signed_out" && (
          <div className={styles.summary}>
            {check?.subscribed && <SubscriptionSummary check={check} />}
            {check && trialStateOf(check) === "ended" && <Late load={loadTrial} check={check} />}
          </div>
        )}
        <Hero signedIn={user !== null} />
      </div>
      <PriceFirst />
      <SolutionCards />
      <Facts />
      <Section id="plans" title={t("pricing.title")} lead={t("pricing.lead", { count: offeredModels().length })}>
        <PlansSection
          onSubscribe={start}
          onChange={change}
          onUndo={undo}
          processing={processing}
          userId={status === "loading" ? undefined : (user?.id ?? null)}
          check={check}
        />
        <p>
          <Link href={paths.pricing}>{t("pricing.more")}</Link>
        </p>
      </Section>
      {order}
      {dialog}
    </Page>
  );
}
