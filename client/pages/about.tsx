import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Page } from "#client/components/page.tsx";
import { Section } from "#client/components/section.tsx";
import { Audience } from "#client/features/marketing/audience.tsx";
import { Counted } from "#client/features/marketing/counted.tsx";
import { Facts } from "#client/features/marketing/facts.tsx";
import { Fairness } from "#client/features/marketing/fairness.tsx";
import { FirstStep } from "#client/features/marketing/first-step.tsx";
import { WorkedExample } from "#client/features/marketing/worked-example.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useSession } from "#client/lib/use-session.ts";
import { paths } from "#client/paths.ts";
import { plans } from "#domain/plans.ts";
import styles from "./about.module.css";

export function AboutPage() {
  const { t } = useTranslation(["about", "home", "pricing"]);
  const format = useFormat();
  const signedIn = useSession((state) => state.user !== null);
  const { name, monthlyCredits } = plans.starter;
  return (
    <Page title={t("title")} description={t("description")} className={styles.about ?? ""}>
      <header className={styles.opening}>
        <h1>{t("heading")}</h1>
        <p className={styles.lead}>{t("lead")}</p>
        <p className={styles.origin}>{t("origin")}</p>
      </header>
      <Section id="example" title={t("example.title")} lead={t("example.lead", { plan: name, credits: format.credits(monthlyCredits) })}>
        <WorkedExample />
      </Section>
      <Section id="audience" title={t("audience.title")}>
        <Audience />
      </Section>
      <Section id="promise" title={t("promise.title")} lead={t("pricing:fairness.lead")}>
        <Fairness />
      </Section>
      <Section id="counted" title={t("counted.title")}>
        <Counted />
      </Section>
      <Section id="claims" title={t("claims")}>
        <Facts />
      </Section>
      <Section id="sandbox" title={t("sandbox.title")} lead={t("sandbox.text")} />
      <Section id="next" title={t("next.title")}>
        <FirstStep signedIn={signedIn}>
          <Link href={paths.pricing}>{t("next.plans")}</Link>
        </FirstStep>
      </Section>
    </Page>
  );
}
