import { Menu } from "lucide-react";
import type { ReactNode } from "react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { IconButton } from "#client/components/button.tsx";
import { Late } from "#client/components/late.tsx";
import { useInterface } from "#client/lib/interface-store.ts";
import { paths } from "#client/paths.ts";
import type { User } from "#contract/auth/sign-in.ts";
import { AccountLink } from "./account-link.tsx";
import { BarLinks } from "./bar-links.tsx";
import { Mark } from "./mark.tsx";
import styles from "./navigation-bar.module.css";
import { SandboxBadge } from "./sandbox-badge.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";
import { useAdmin } from "./use-admin.ts";
import { useHiddenBar } from "./use-hidden-bar.ts";

const loadMenu = async () => (await import("./side-menu.tsx")).SideMenu;

interface NavigationBarProps {
  sessionStatus: "loading" | "signed_out" | "signed_in";
  user: User | null;
  sandboxUrl: string | null;
  /** The language switcher, passed in by the app. */
  languageSwitch: { bar: ReactNode; menu: ReactNode };
  /** The install button, passed in by the app. */
  install: ReactNode;
}

/** Spec §2, "Navigation bar". */
export function NavigationBar({ sessionStatus, user, sandboxUrl, languageSwitch, install }: NavigationBarProps) {
  const { t } = useTranslation("common");
  const bar = useRef<HTMLElement>(null);
  const { menuOpen, setMenuOpen } = useInterface();
  const [menuWanted, setMenuWanted] = useState(false);
  const wantMenu = () => setMenuWanted(true);
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
          <BarLinks isAdmin={isAdmin} className={styles.row ?? ""} />
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
            onPointerEnter={wantMenu}
            onFocus={wantMenu}
            onClick={() => setMenuOpen(true)}
          >
            <Menu size={22} aria-hidden="true" />
          </IconButton>
        </div>
      </div>
      {(menuWanted || menuOpen) && (
        <Late load={loadMenu} isAdmin={isAdmin} languageSwitch={languageSwitch.menu} install={install} signedIn={user !== null} />
      )}
    </header>
  );
}
