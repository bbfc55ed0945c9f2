import { Check, CircleArrowDown } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "wouter";
import { Button } from "#client/components/button.tsx";
import { paths } from "#client/paths.ts";
import { refreshKept, save, useKept } from "./kept-store.ts";
import styles from "./save-control.module.css";

/** The button under a guide's title that saves the page. Not shown if the device can't keep anything. */
export function SaveControl() {
  const { t, i18n, ready } = useTranslation("offline", { useSuspense: false });
  const [path] = useLocation();
  const { status, pages, saving, failed } = useKept();

  useEffect(() => {
    if (useKept.getState().status === "unknown") void refreshKept();
  }, []);

  if (!ready || status === "none") return null;
  const saved = pages.some((page) => page.path === path && page.keeping === "saved");
  const busy = saving.includes(path);
  return (
    <div className={styles.control}>
      {saved ? (
        <p className={styles.saved} role="status">
          <Check size={16} aria-hidden="true" />
          <Link href={paths.offline}>{t("control.saved")}</Link>
        </p>
      ) : (
        <Button size="small" busy={busy} busyLabel={t("control.saving")} onClick={() => void save([path], i18n.language)}>
          <CircleArrowDown size={16} aria-hidden="true" />
          {t("control.save")}
        </Button>
      )}
      {failed.includes(path) && (
        <p className={styles.failed} role="alert">
          {t("control.failed")}
        </p>
      )}
    </div>
  );
}
