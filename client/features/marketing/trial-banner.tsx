import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "wouter";
import { IconButton, LinkButton } from "#client/components/button.tsx";
import { trialPath } from "#client/lib/trial-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import { trialCredits, trialDays } from "#domain/plans.ts";
import styles from "./trial-banner.module.css";

/** boot.js reads it before the first paint, so that a hidden banner takes no space. It lasts for the visit. */
const hiddenKey = "trialHidden";

export function hideTrialBanner(): void {
  document.documentElement.dataset.trialHidden = "";
  try {
    sessionStorage.setItem(hiddenKey, "yes");
  } catch {
    // If storage is blocked, the banner is shown again at the next full load.
  }
  // The focused button is gone, so the page gets the focus.
  document.getElementById("content")?.focus({ preventScroll: true });
}

/** Spec §2, "Optional banner". `action` draws what starts the trial, with the class it is given. */
export function TrialBanner({ action }: { action: (className: string) => ReactNode }) {
  const { t } = useTranslation("trial");
  const format = useFormat();
  const credits = t("text", { count: trialCredits, formatted: format.number(trialCredits) });
  return (
    <section className={styles.banner} aria-label={t("label")}>
      <div className={styles.inner}>
        <p className={styles.text}>
          <strong className={styles.title}>{t("title", { count: trialDays })}</strong> {credits}
        </p>
        {action(styles.action ?? "")}
        <IconButton label={t("hide")} className={styles.hide ?? ""} onClick={hideTrialBanner}>
          <X size={18} aria-hidden="true" />
        </IconButton>
      </div>
    </section>
  );
}

/** For visitors: their way to the trial begins with an account. */
export function VisitorTrialBanner() {
  const { t } = useTranslation("trial");
  const [location] = useLocation();
  if (location === paths.auth) return null;
  const action = (className: string) => (
    <LinkButton href={trialPath} size="small" className={className}>
      {t("action")}
    </LinkButton>
  );
  return <TrialBanner action={action} />;
}
