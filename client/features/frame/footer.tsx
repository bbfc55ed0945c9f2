import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import styles from "./footer.module.css";
import { footerLinks } from "./links.ts";
import { Mark } from "./mark.tsx";

interface FooterProps {
  /** Opens the consent to cookies again: another feature, so the app says how. */
  onCookiePreferences: () => void;
}

export function Footer({ onCookiePreferences }: FooterProps) {
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
              <button type="button" className={styles.link} onClick={onCookiePreferences}>
                {t("footer.cookies")}
              </button>
            </li>
          </ul>
        </nav>
      </div>
    </footer>
  );
}
