import { Menu } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "wouter";
import { IconButton } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { useInterface } from "#client/lib/interface-store.ts";
import { paths } from "#client/paths.ts";
import type { User } from "#contract/auth.ts";
import { AccountLink } from "./account-link.tsx";
import { barLinks } from "./links.ts";
import { Mark } from "./mark.tsx";
import styles from "./navigation-bar.module.css";
import { SandboxBadge } from "./sandbox-badge.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";
import { useAdmin } from "./use-admin.ts";
import { useHiddenBar } from "./use-hidden-bar.ts";

interface NavigationBarProps {
  sessionStatus: "loading" | "signed_out" | "signed_in";
  user: User | null;
  sandboxUrl: string | null;
  /** The language switcher, put in by the app. */
  languageSwitch: { bar: ReactNode; menu: ReactNode };
  /** The way to the home screen, put in by the app. */
  install: ReactNode;
}

/** Spec §2, "Navigation bar". */
export function NavigationBar({ sessionStatus, user, sandboxUrl, languageSwitch, install }: NavigationBarProps) {
  const { t } = useTranslation("common");
  const bar = useRef<HTMLElement>(null);
  const { menuOpen, setMenuOpen } = useInterface();
  const hidden = useHiddenBar(bar, menuOpen);
  const isAdmin = useAdmin(user?.id ?? null);

  return (
    <header ref={bar} className={styles.bar} data-hidden={hidden || undefined}>
      <div className={styles.inner}>
        <Link href={paths.home} className={styles.brand}>
          <Mark />
          <span className={styles.name}>Tessera</span>
        </Link>
        {sandboxUrl && <SandboxBadge address={sandboxUrl} />}
        <nav className={styles.wide} aria-label={t("navigation.label")}>
          <Links isAdmin={isAdmin} className={styles.row ?? ""} />
        </nav>
        <div className={styles.end}>
          <div className={styles.settings}>
            {languageSwitch.bar}
            <ThemeSwitch />
          </div>
          <AccountLink sessionStatus={sessionStatus} user={user} />
          <IconButton
            label={t("navigation.openMenu")}
            className={styles.opener ?? ""}
            aria-haspopup="dialog"
            aria-expanded={menuOpen}
            onClick={() => setMenuOpen(true)}
          >
            <Menu size={22} aria-hidden="true" />
          </IconButton>
        </div>
      </div>
      <SideMenu isAdmin={isAdmin} languageSwitch={languageSwitch.menu} install={install} signedIn={user !== null} />
    </header>
  );
}

function Links({ isAdmin, className, onFollow }: { isAdmin: boolean; className: string; onFollow?: () => void }) {
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

interface SideMenuProps {
  isAdmin: boolean;
  languageSwitch: ReactNode;
  install: ReactNode;
  signedIn: boolean;
}

/** On small screens the links live here, at the right (spec §2). */
function SideMenu({ isAdmin, languageSwitch, install, signedIn }: SideMenuProps) {
  const { t } = useTranslation("common");
  const { menuOpen, setMenuOpen } = useInterface();
  const close = () => setMenuOpen(false);

  useEffect(() => {
    // A screen turned wide shows the links in the bar: an open menu would stand beside them.
    const wide = matchMedia("(min-width: 70rem)");
    const onChange = () => wide.matches && setMenuOpen(false);
    wide.addEventListener("change", onChange);
    return () => wide.removeEventListener("change", onChange);
  }, [setMenuOpen]);

  return (
    <Dialog open={menuOpen} onClose={close} title={t("navigation.menu")} placement="side">
      <nav aria-label={t("navigation.label")}>
        <Links isAdmin={isAdmin} className={styles.column ?? ""} onFollow={close} />
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
        <ThemeSwitch labelled />
        {install}
      </div>
    </Dialog>
  );
}
