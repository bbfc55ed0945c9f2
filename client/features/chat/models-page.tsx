import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { ModelPicker } from "./model-picker.tsx";
import styles from "./models-page.module.css";
import { useModels } from "./models-store.ts";

/** The catalogue for people who can't use it yet: all models, and how to get access. */
export function ModelsPage({ gate, waiting }: { gate: ReactNode; waiting: ReactNode }) {
  const { t } = useTranslation("chat");
  const { models, status } = useModels();
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1>{t("title")}</h1>
        <p className={styles.lead}>{t("lead", { count: models.filter(({ off }) => off === null).length })}</p>
      </header>
      {gate}
      {waiting}
      {status === "failed" && <Alert>{t("models.availabilityUnknown")}</Alert>}
      <ModelPicker models={models} chosen={null} />
    </div>
  );
}
