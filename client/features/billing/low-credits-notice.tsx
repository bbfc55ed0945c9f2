import { Hourglass, X } from "lucide-react";
import { useTranslation } from "react-i18next";
import { IconButton, LinkButton } from "#client/components/button.tsx";
import styles from "#client/components/page-notice.module.css";
import { useAct } from "#client/components/use-act.ts";
import { api } from "#client/lib/api.ts";
import { nextCredits } from "#client/lib/next-credits.ts";
import { usagePath } from "#client/lib/usage-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useSentences } from "#client/lib/use-sentences.ts";
import { paths } from "#client/paths.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { useSubscription } from "./subscription-store.ts";

/** On every page of a person who has spent the chosen share of the month's plan credits, until they close it or the month is over. */
export function LowCreditsNotice({ check }: { check: SubscriptionCheck }) {
  const { t } = useTranslation(["limits", "errors", "refusals"]);
  const { percent, credits, date } = useFormat();
  const sentences = useSentences();
  const { note, busy, run } = useAct();
  const next = nextCredits(check);
  const when =
    next?.kind === "on"
      ? t("limits:low.next", { date: date(next.at) })
      : next?.kind === "ends" && t("limits:low.ends", { date: date(next.at) });

  async function hide(): Promise<void> {
    await api("POST /api/credits/alert/dismiss");
    // The focused button goes, so the page gets the focus.
    document.getElementById("content")?.focus({ preventScroll: true });
    await useSubscription.getState().refresh();
  }

  return (
    <section className={styles.notice} data-tone="warning" aria-label={t("limits:low.label")}>
      <div className={styles.inner}>
        <Hourglass className={styles.icon} size={18} aria-hidden="true" />
        <p role="status">
          {sentences(
            t("limits:low.spent", { percent: percent(check.spent_percent ?? 0) }),
            t("limits:low.left", { credits: credits(check.credits) }),
            when,
          )}
        </p>
        <div className={styles.actions}>
          <LinkButton size="small" variant="primary" href={`${paths.pricing}#packs`}>
            {t("limits:low.more")}
          </LinkButton>
          <LinkButton size="small" href={`${usagePath}#limits`}>
            {t("limits:low.change")}
          </LinkButton>
        </div>
        <IconButton label={t("limits:low.hide")} aria-disabled={busy !== undefined} onClick={() => void run("hide", hide)}>
          <X size={18} aria-hidden="true" />
        </IconButton>
      </div>
      {note && <div className={styles.note}>{note}</div>}
    </section>
  );
}
