import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { withdrawalPath } from "#client/lib/withdrawal-path.ts";
import { paths } from "#client/paths.ts";
import styles from "./footer.module.css";
import { footerLinks } from "./links.ts";
import { Mark } from "./mark.tsx";

interface FooterProps {
  /** Opens the cookie consent again. Passed in by the app, because it is another feature. */
  onCookiePreferences: () => void;
  /** The install button, if installing is possible. Passed in by the app, because it is another feature. */
  install: ReactNode;
}

export function Footer({ onCookiePreferences, install }: FooterProps) {
  const { t } = useTranslation("common");
  return (
    <footer className={styles.footer}>
      <div className={styles.inner}>
        <div className={styles.about}>
          <Mark />
          <p>{t("footer.motto")}</p>
        </div>
        <nav aria-label={t("footer.label")}>
          <ul className={styles.links}>
            {footerLinks.map(({ path, key }) => (
              <li key={path}>
                <Link href={path} className={styles.link}>
                  {t(key)}
                </Link>
              </li>
            ))}
            <li>
              <Link href={withdrawalPath} className={styles.link}>
                {t("footer.withdraw")}
              </Link>
            </li>
            <li>
              <button type="button" className={styles.link} onClick={onCookiePreferences}>
                {t("footer.cookies")}
              </button>
            </li>
          </ul>
        </nav>
        <div className={styles.device}>
          <Link href={paths.offline} className={styles.link}>
            {t("footer.offline")}
          </Link>
          {install}
        </div>
      </div>
    </footer>
  );
}
