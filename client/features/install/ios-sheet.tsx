import { Share, SquarePlus } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import type { IosBrowser } from "./install-store.ts";
import styles from "./ios-sheet.module.css";

function Step({ icon, children }: { icon?: ReactNode; children: ReactNode }) {
  return (
    <li className={styles.step}>
      <p>{children}</p>
      {icon && <span className={styles.icon}>{icon}</span>}
    </li>
  );
}

/** On an iPhone or iPad the person has to install through Apple's own menu. Shows the steps with the menu's own names. */
export function IosSheet({ open, onClose, browser }: { open: boolean; onClose: () => void; browser: IosBrowser }) {
  const { t } = useTranslation("install");
  const done = (
    <Button variant="primary" onClick={onClose}>
      {t("ios.done")}
    </Button>
  );
  return (
    <Dialog open={open} onClose={onClose} title={t("ios.title")} actions={done}>
      <p className={styles.lead}>{t("ios.lead")}</p>
      <ol className={styles.steps}>
        <Step icon={<Share size={22} aria-hidden="true" />}>{t(browser === "safari" ? "ios.shareSafari" : "ios.shareOther")}</Step>
        <Step icon={<SquarePlus size={22} aria-hidden="true" />}>{t("ios.choose")}</Step>
        <Step>{t("ios.confirm")}</Step>
      </ol>
      <p className={styles.note}>{t("ios.note")}</p>
    </Dialog>
  );
}
