import { useTranslation } from "react-i18next";
import { Link, useLocation } from "wouter";
import { LinkButton } from "#client/components/button.tsx";
import { Page } from "#client/components/page.tsx";
import { MissingTile } from "#client/features/frame/missing-tile.tsx";
import { paths } from "#client/paths.ts";
import styles from "./message-page.module.css";

/** Longer addresses are cut off. */
const longestAddress = 60;

/** The pages people most often look for. */
const elsewhere = [
  { path: paths.aiModels, key: "navigation.aiModels" },
  { path: paths.pricing, key: "footer.pricing" },
  { path: paths.blog, key: "footer.blog" },
  { path: paths.about, key: "navigation.about" },
  { path: paths.profile, key: "navigation.profile" },
] as const;

function shorten(address: string): string {
  return address.length > longestAddress ? `${address.slice(0, longestAddress)}…` : address;
}

/** Says which address does not exist and offers other pages. */
export function NotFoundPage() {
  const { t } = useTranslation(["not-found", "common"]);
  const [address] = useLocation();
  const report = new URLSearchParams({ category: "bug", message: shorten(address) });
  return (
    <Page title={t("title")} indexable={false} className={styles.message ?? ""}>
      <MissingTile />
      <h1>{t("title")}</h1>
      <p className={styles.text}>{t("text", { address: shorten(address) })}</p>
      <LinkButton href={paths.home} variant="primary">
        {t("action")}
      </LinkButton>
      <nav className={styles.elsewhere} aria-labelledby="elsewhere">
        <p id="elsewhere">{t("elsewhere")}</p>
        <ul>
          {elsewhere.map(({ path, key }) => (
            <li key={path}>
              <Link href={path}>{t(`common:${key}`)}</Link>
            </li>
          ))}
        </ul>
      </nav>
      <p>
        <Link href={`${paths.contact}?${report}`}>{t("report")}</Link>
      </p>
    </Page>
  );
}
