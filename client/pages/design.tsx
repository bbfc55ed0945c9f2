import { useTranslation } from "react-i18next";
import { Page } from "#client/components/page.tsx";
import {
  BadgeSpecimens,
  ButtonSpecimens,
  ChoiceSpecimens,
  FieldSpecimens,
  MessageSpecimens,
  OverlaySpecimens,
} from "#client/features/design/specimens.tsx";
import { ModelSpecimens, TileSpecimens } from "#client/features/design/tile-specimens.tsx";
import { TokenSpecimens } from "#client/features/design/tokens-specimen.tsx";
import styles from "./design.module.css";
import { VisitorSpecimens } from "./design-visitors.tsx";

const sections = [
  ["tiles", ModelSpecimens],
  ["waiting", TileSpecimens],
  ["buttons", ButtonSpecimens],
  ["fields", FieldSpecimens],
  ["choices", ChoiceSpecimens],
  ["badges", BadgeSpecimens],
  ["messages", MessageSpecimens],
  ["above", OverlaySpecimens],
  ["visitors", VisitorSpecimens],
  ["colours", TokenSpecimens],
] as const;

/** Shows every primitive in every state, to look at. Only outside production. */
export function DesignPage() {
  const { t } = useTranslation("design");
  return (
    <Page title={t("title")} className={styles.design ?? ""}>
      <div className={styles.head}>
        <h1>{t("heading")}</h1>
        <p>{t("lead")}</p>
      </div>
      {sections.map(([key, Specimens]) => (
        <section key={key} className={styles.section} aria-labelledby={`design-${key}`}>
          <h2 id={`design-${key}`}>{t(key)}</h2>
          <div className={styles.specimens}>
            <Specimens />
          </div>
        </section>
      ))}
    </Page>
  );
}
