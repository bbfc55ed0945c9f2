import { useTranslation } from "react-i18next";
import { Link, useLocation } from "wouter";
import { paths } from "#client/paths.ts";
import { barLinks } from "./links.ts";
import styles from "./navigation-bar.module.css";

/** The links of the navigation bar: a row in the bar, a column in the menu. */
export function BarLinks({ isAdmin, className, onFollow }: { isAdmin: boolean; className: string; onFollow?: () => void }) {
  const { t } = useTranslation("common");
  const [location] = useLocation();
  const links = isAdmin ? [...barLinks, { path: paths.admin, key: "navigation.admin" } as const] : barLinks;
  return (
    <ul className={className}>
      {links.map(({ path, key }) => (
        <li key={path}>
          <Link
            href={path}
            className={styles.link}
            aria-current={location === path ? "page" : undefined}
            {...(onFollow && { onClick: onFollow })}
          >
            {t(key)}
          </Link>
        </li>
      ))}
    </ul>
  );
}
