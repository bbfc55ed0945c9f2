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

/** boot.js reads it before the first paint, so that a hidden banner takes no space. It lasts for the visit. */
const hiddenKey = "trialHidden";

function hide(): void {
  document.documentElement.dataset.trialHidden = "";
  try {
    sessionStorage.setItem(hiddenKey, "yes");
  } catch {
    // If storage is blocked, the banner is shown again at the next full load.
  }
  // The focused button is gone, so the page gets the focus.
  document.getElementById("content")?.focus({ preventScroll: true });
}

/**
 * Spec §2, "Optional banner", for visitors, once trials are offered (`trialOffered`). It is in the prerendered HTML. boot.js's
 * marks hide it from people who are signed in or have closed it, so that nothing shifts after the first paint.
 */
export function TrialBanner({ sessionKnown }: { sessionKnown: boolean }) {
  const { t } = useTranslation("trial");
  const format = useFormat();
  const [location] = useLocation();
  if (location === paths.auth) return null;
  const credits = t("text", { count: trialCredits, formatted: format.number(trialCredits) });
  return (
    <section className={classNames(styles.banner, !sessionKnown && styles.unsure)} aria-label={t("label")}>
      <div className={styles.inner}>
        <PriceTiles credits={trialCredits} className={styles.tiles ?? ""} />
        <p className={styles.text}>
          <strong className={styles.title}>{t("title", { count: trialDays })}</strong> {credits}
        </p>
        <LinkButton href={signUpPath} size="small" className={styles.action ?? ""}>
          {t("action")}
        </LinkButton>
        <IconButton label={t("hide")} className={styles.hide ?? ""} onClick={hide}>
          <X size={18} aria-hidden="true" />
        </IconButton>
      </div>
    </section>
  );
}
