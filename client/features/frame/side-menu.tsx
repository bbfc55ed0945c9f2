import type { ReactNode } from "react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Dialog } from "#client/components/dialog.tsx";
import { useInterface } from "#client/lib/interface-store.ts";
import { paths } from "#client/paths.ts";
import { BarLinks } from "./bar-links.tsx";
import styles from "./navigation-bar.module.css";
import { ThemeChoice } from "./theme-choice.tsx";

export interface SideMenuProps {
  isAdmin: boolean;
  languageSwitch: ReactNode;
  install: ReactNode;
  signedIn: boolean;
}

/** The menu with the links on small screens, at the right (spec §2). Fetched once the page is idle. */
export function SideMenu({ isAdmin, languageSwitch, install, signedIn }: SideMenuProps) {
  const { t } = useTranslation("common");
  const { menuOpen, setMenuOpen } = useInterface();
  const close = () => setMenuOpen(false);

  useEffect(() => {
    // A wide screen shows the links in the bar, so an open menu is closed when the screen becomes wide.
    const wide = matchMedia("(min-width: 70rem)");
    const onChange = () => wide.matches && setMenuOpen(false);
    wide.addEventListener("change", onChange);
    return () => wide.removeEventListener("change", onChange);
  }, [setMenuOpen]);

  return (
    <Dialog open={menuOpen} onClose={close} title={t("navigation.menu")} placement="side">
      <nav aria-label={t("navigation.label")}>
        <BarLinks isAdmin={isAdmin} className={styles.column ?? ""} onFollow={close} />
        <ul className={styles.column}>
          <li>
            <Link href={signedIn ? paths.profile : paths.auth} className={styles.link} onClick={close}>
              {t(signedIn ? "navigation.profile" : "navigation.signIn")}
            </Link>
          </li>
        </ul>
      </nav>
      <div className={styles.menuSettings}>
        {languageSwitch}
        <ThemeChoice />
        {install}
      </div>
    </Dialog>
  );
}
