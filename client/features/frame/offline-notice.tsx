import { CloudOff } from "lucide-react";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { shownEdition } from "#client/lib/shown-edition.ts";
import { useFormat } from "#client/lib/use-format.ts";
import styles from "./offline-notice.module.css";

function subscribe(onChange: () => void): () => void {
  addEventListener("online", onChange);
  addEventListener("offline", onChange);
  return () => {
    removeEventListener("online", onChange);
    removeEventListener("offline", onChange);
  };
}

/**
 * Says that there is no connection, and what still works. The live region is mounted from the start, because screen readers
 * announce only its changes.
 */
export function OfflineNotice() {
  const { t } = useTranslation("common");
  const { date } = useFormat();
  const edition = shownEdition();
  const offline = useSyncExternalStore(
    subscribe,
    () => !navigator.onLine,
    () => false,
  );
  return (
    <div role="status" className={styles.region}>
      {offline && (
        <p className={styles.notice}>
          <CloudOff size={18} aria-hidden="true" />
          <span>
            <strong>{t("offline.title")}.</strong> {t("offline.text")} {edition && t("offline.models", { date: date(`${edition}T12:00`) })}
          </span>
        </p>
      )}
    </div>
  );
}
