import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { useRepairText } from "#client/components/use-repair-text.ts";
import type { PaymentCheck } from "#contract/billing/doctor.ts";
import styles from "./person.module.css";

/** What a check of somebody's payments has mended. */
export function CheckResult({ check: { complete, items } }: { check: PaymentCheck }) {
  const { t } = useTranslation("doctor");
  const textOf = useRepairText();
  return (
    <>
      {!complete && <Alert tone="warning">{t("incomplete")}</Alert>}
      {complete && items.length === 0 && <Alert tone="good">{t("right")}</Alert>}
      {items.length > 0 && (
        <Alert tone={items.some(({ kind }) => kind === "left") ? "warning" : "good"} title={t("mended")}>
          <ul className={styles.items}>
            {items.map((item) => (
              <li key={JSON.stringify(item)}>{textOf(item)}</li>
            ))}
          </ul>
        </Alert>
      )}
    </>
  );
}
