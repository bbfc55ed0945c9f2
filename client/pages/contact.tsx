import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Page } from "#client/components/page.tsx";
import { Heading } from "#client/components/section.tsx";
import { ContactForm } from "#client/features/contact/contact-form.tsx";
import { useSession } from "#client/lib/use-session.ts";
import { paths } from "#client/paths.ts";
import styles from "./contact.module.css";

export function ContactPage() {
  const { t } = useTranslation("contact");
  const { status, user } = useSession();
  return (
    <Page title={t("title")} description={t("description")} className={styles.contact ?? ""}>
      <Heading as="h1" title={t("heading")} lead={t("lead")} />
      <div className={styles.columns}>
        <ContactForm owner={status === "loading" ? undefined : (user?.id ?? null)} email={user?.email} />
        <aside className={styles.aside} aria-labelledby="elsewhere">
          <h2 id="elsewhere">{t("aside.title")}</h2>
          <dl>
            <dt>
              <Link href={paths.pricing}>{t("aside.pricing")}</Link>
            </dt>
            <dd>{t("aside.pricingText")}</dd>
            <dt>
              <Link href={paths.profile}>{t("aside.profile")}</Link>
            </dt>
            <dd>{t("aside.profileText")}</dd>
            <dt>
              <Link href={paths.gettingStarted}>{t("aside.guide")}</Link>
            </dt>
            <dd>{t("aside.guideText")}</dd>
          </dl>
        </aside>
      </div>
    </Page>
  );
}
