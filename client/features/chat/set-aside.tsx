import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import type { Draft } from "#client/offline/drafts.ts";
import styles from "./given-prompt.module.css";

/** Says that an earlier draft made room for a prompt brought along, and brings it back. */
export function SetAside({ aside, onBringBack }: { aside: Draft | null; onBringBack: () => void }) {
  const { t } = useTranslation("chat");
  if (!aside) return null;
  return (
    <div className={styles.aside}>
      <p role="status">{t("given.aside")}</p>
      <Button size="small" onClick={onBringBack}>
        {t("given.bringBack")}
      </Button>
    </div>
  );
}
