import { useTranslation } from "react-i18next";
import { LinkButton } from "#client/components/button.tsx";
import { Page } from "#client/components/page.tsx";
import { MissingTile } from "#client/features/frame/missing-tile.tsx";
import { paths } from "#client/paths.ts";
import styles from "./message-page.module.css";

export function NotFoundPage() {
  const { t } = useTranslation("common");
  return (
    <Page title={t("notFound.title")} className={styles.message ?? ""}>
      <MissingTile />
      <h1>{t("notFound.title")}</h1>
      <p className={styles.text}>{t("notFound.text")}</p>
      <LinkButton href={paths.home} variant="primary">
        {t("notFound.action")}
      </LinkButton>
    </Page>
  );
}
