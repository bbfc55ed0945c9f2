import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import type { Draft } from "#client/offline/drafts.ts";
import styles from "./given-prompt.module.css";

/** Says that a prompt from the address replaced an earlier draft, and restores it. */
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
