import { X } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useLocation } from "wouter";
import { IconButton, LinkButton } from "#client/components/button.tsx";
import { classNames } from "#client/components/class-names.ts";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { paths, signUpPath } from "#client/paths.ts";
import { trialCredits, trialDays } from "#domain/plans.ts";
import styles from "./trial-banner.module.css";

/** Read by boot.js before the first paint, so that what was hidden never takes room. Lasts as long as the visit. */
const hiddenKey = "trialHidden";

function hide(): void {
  document.documentElement.dataset.trialHidden = "";
  try {
    sessionStorage.setItem(hiddenKey, "yes");
  } catch {
    // Storage may be closed: it then comes back with the next full load.
  }
  // The button that had the focus is gone; the page is where one goes on.
  document.getElementById("content")?.focus({ preventScroll: true });
}

/**
 * Spec §2, "Optional banner", for visitors, once a trial can be started (`trialOffered`). Part of the page the server sends; the marks boot.js sets on the root hide it
 * from people who are signed in or have hidden it, so that nothing moves after the first paint.
 */
export function TrialBanner({ sessionKnown }: { sessionKnown: boolean }) {
  const { t } = useTranslation("common");
  const format = useFormat();
  const [location] = useLocation();
  if (location === paths.auth) return null;
  const credits = t("trial.text", { count: trialCredits, formatted: format.number(trialCredits) });
  return (
    <section className={classNames(styles.banner, !sessionKnown && styles.unsure)} aria-label={t("trial.label")}>
      <div className={styles.inner}>
        <PriceTiles credits={trialCredits} className={styles.tiles ?? ""} />
        <p className={styles.text}>
          <strong className={styles.title}>{t("trial.title", { count: trialDays })}</strong> {credits}
        </p>
        <LinkButton href={signUpPath} size="small" className={styles.action ?? ""}>
          {t("trial.action")}
        </LinkButton>
        <IconButton label={t("trial.hide")} className={styles.hide ?? ""} onClick={hide}>
          <X size={18} aria-hidden="true" />
        </IconButton>
      </div>
    </section>
  );
}
