import { Megaphone, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#client/components/button.tsx";
import styles from "#client/components/page-notice.module.css";
import { useFormat } from "#client/lib/use-format.ts";
import type { Environment } from "#contract/catalogue.ts";
import { noticeTextFor } from "#domain/settings.ts";

/** The team's notice to everybody. After a person has closed it, it appears again when the page is reloaded or the text changes. */
export function TeamNotice({ notice }: { notice: NonNullable<Environment["notice"]> }) {
  const { t, i18n } = useTranslation("notice");
  const { dateTime } = useFormat();
  const [closed, setClosed] = useState<string>();
  const { tone, until } = notice;
  const { language, text } = noticeTextFor(notice, i18n.language);
  if (closed === text) return null;
  function close(): void {
    setClosed(text);
    // The focused button goes, so the page gets the focus.
    document.getElementById("content")?.focus({ preventScroll: true });
  }
  return (
    <section className={styles.notice} data-tone={tone} aria-label={t("label")}>
      <div className={styles.inner}>
        <Megaphone className={styles.icon} size={18} aria-hidden="true" />
        <p role="status">
          <span lang={language}>{text}</span> {t("until", { time: dateTime(until) })}
        </p>
        <IconButton className={styles.close} label={t("close")} onClick={close}>
          <X size={18} aria-hidden="true" />
        </IconButton>
      </div>
    </section>
  );
}
