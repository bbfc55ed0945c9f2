import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { User } from "#contract/auth/sign-in.ts";
import { Footer } from "./footer.tsx";
import styles from "./frame.module.css";
import { NavigationBar } from "./navigation-bar.tsx";

interface FrameProps {
  sessionStatus: "loading" | "signed_out" | "signed_in";
  user: User | null;
  sandboxUrl: string | null;
  /** The language switcher for the bar and the menu. Passed in by the app, because it is another feature. */
  languageSwitch: { bar: ReactNode; menu: ReactNode };
  /** Above the bar; it scrolls away with the page. Passed in by the app. */
  banner: ReactNode;
  /** Shown above the content, passed in by the app. */
  notice: ReactNode;
  onCookiePreferences: () => void;
  /** The install button for menu and footer. Passed in by the app. */
  install: ReactNode;
  children: ReactNode;
}

/** The frame of every page: skip link, navigation bar, content, footer. */
export function Frame({
  sessionStatus,
  user,
  sandboxUrl,
  languageSwitch,
  banner,
  notice,
  onCookiePreferences,
  install,
  children,
}: FrameProps) {
  const { t } = useTranslation("common");
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#content">
        {t("skipToContent")}
      </a>
      {banner}
      <NavigationBar sessionStatus={sessionStatus} user={user} sandboxUrl={sandboxUrl} languageSwitch={languageSwitch} install={install} />
      <main id="content" className={styles.content} tabIndex={-1}>
        {notice}
        {children}
      </main>
      <Footer onCookiePreferences={onCookiePreferences} install={install} />
    </div>
  );
}
