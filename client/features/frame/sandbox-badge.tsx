import { useTranslation } from "react-i18next";
import styles from "./sandbox-badge.module.css";

/** Says on every page that payments, mail and models are stand-ins, and links to their control page. */
export function SandboxBadge({ address }: { address: string }) {
  const { t } = useTranslation("common");
  return (
    <a className={styles.badge} href={address} target="_blank" rel="noreferrer" title={t("sandbox.explain")}>
      {t("sandbox.badge")}
    </a>
  );
}
