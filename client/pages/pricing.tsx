import { useTranslation } from "react-i18next";
import { useSearchParams } from "wouter";
import { Late } from "#client/components/late.tsx";
import { Page } from "#client/components/page.tsx";
import { Heading, Section } from "#client/components/section.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { useSubscription } from "#client/features/billing/subscription-store.ts";
import { useCheckout } from "#client/features/billing/use-checkout.tsx";
import { usePlanChange } from "#client/features/billing/use-plan-change.tsx";
import { Fairness } from "#client/features/marketing/fairness.tsx";
import { Faq } from "#client/features/marketing/faq.tsx";
import { PackList } from "#client/features/marketing/pack-list.tsx";
import { PlanFinder } from "#client/features/marketing/plan-finder.tsx";
import { PlansSection } from "#client/features/marketing/plans-section.tsx";
import { PriceTable } from "#client/features/marketing/price-table.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import { useSession } from "#client/lib/use-session.ts";
import { packMonths } from "#domain/plans.ts";
import styles from "./pricing.module.css";

const loadCancelled = async () => (await import("#client/features/billing/checkout-cancelled.tsx")).CheckoutCancelled;

const loadTrial = async () => (await import("#client/features/billing/own-trial.tsx")).TrialAmongPlans;

export function PricingPage() {
  const { t } = useTranslation("pricing");
  const { status, user } = useSession();
  const check = useSubscription((state) => state.check);
  const { start, processing, dialog: order } = useCheckout();
  const { change, undo, dialog } = usePlanChange();
  const [search] = useSearchParams();
  const mayBuyPacks = check?.status === "active";
  return (
    <Page title={t("title")} className={styles.pricing ?? ""}>
      <div className={styles.opening}>
        <Heading as="h1" title={t("heading")} lead={t("lead", { count: offeredModels().length })} />
        {search.get("checkout") === "cancelled" && (
          <div className={styles.cancelled}>
            <Late load={loadCancelled} />
          </div>
        )}
        <VisuallyHidden as="h2">{t("plansHeading")}</VisuallyHidden>
        <PlansSection
          onSubscribe={start}
          onChange={change}
          onUndo={undo}
          processing={processing}
          userId={status === "loading" ? undefined : (user?.id ?? null)}
          check={check}
          trial={user && check && <Late load={loadTrial} check={check} />}
        />
      </div>
      <Section id="finder" title={t("finder.title")} lead={t("finder.lead")}>
        <PlanFinder />
      </Section>
      <Section id="fairness" title={t("fairness.title")} lead={t("fairness.lead")}>
        <Fairness />
      </Section>
      <Section id="prices" title={t("table.title")} lead={t("table.lead")}>
        <PriceTable />
      </Section>
      <div className={styles.pair}>
        <Section id="packs" title={t("packs.title")} lead={t("packs.lead", { count: packMonths })}>
          <PackList onBuy={mayBuyPacks ? (pack) => void start(pack, "pack") : undefined} processing={processing} />
          {!mayBuyPacks && <p className={styles.note}>{t("packs.note")}</p>}
        </Section>
        <Section id="questions" title={t("faq.title")}>
          <Faq />
        </Section>
      </div>
      {order}
      {dialog}
    </Page>
  );
}
