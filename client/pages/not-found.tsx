import { useTranslation } from "react-i18next";
import { Link, useLocation } from "wouter";
import { LinkButton } from "#client/components/button.tsx";
import { Page } from "#client/components/page.tsx";
import { MissingTile } from "#client/features/frame/missing-tile.tsx";
import { paths } from "#client/paths.ts";
import styles from "./message-page.module.css";

/** An address longer than this says nothing more to anybody. */
const longestAddress = 60;

function shorten(address: string): string {
  return address.length > longestAddress ? `${address.slice(0, longestAddress)}…` : address;
}

/** Says which address leads nowhere, and where one may have wanted to go. */
export function NotFoundPage() {
  const { t } = useTranslation("common");
  const [address] = useLocation();
  return (
    <Page title={t("notFound.title")} className={styles.message ?? ""}>
      <MissingTile />
      <h1>{t("notFound.title")}</h1>
      <p className={styles.text}>{t("notFound.text", { address: shorten(address) })}</p>
      <LinkButton href={paths.home} variant="primary">
        {t("notFound.action")}
      </LinkButton>
      <nav className={styles.elsewhere} aria-labelledby="elsewhere">
        <p id="elsewhere">{t("notFound.elsewhere")}</p>
        <ul>
          <li>
            <Link href={paths.aiModels}>{t("navigation.aiModels")}</Link>
          </li>
          <li>
            <Link href={paths.pricing}>{t("footer.pricing")}</Link>
          </li>
          <li>
            <Link href={paths.profile}>{t("navigation.profile")}</Link>
          </li>
        </ul>
      </nav>
    </Page>
  );
}
