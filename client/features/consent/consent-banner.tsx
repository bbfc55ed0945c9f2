import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Button } from "#client/components/button.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { showToast } from "#client/lib/interface-store.ts";
import { useFootBar } from "#client/lib/use-foot-bar.ts";
import type { UserConsent } from "#client/offline/consent.ts";
import { paths } from "#client/paths.ts";
import styles from "./consent.module.css";
import { chooseConsent, useConsent } from "./consent-store.ts";
import { Preferences } from "./preferences.tsx";

type Choice = Omit<UserConsent, "timestamp">;

const all: Choice = { tos: true, privacy: true, cookies: true };
const none: Choice = { tos: false, privacy: false, cookies: false };

/** Returns the focus to where it was when the banner was opened, or to the page. */
function giveFocusBack(banner: HTMLElement | null, opener: Element | null): void {
  if (!banner?.contains(document.activeElement)) return;
  const target = opener instanceof HTMLElement && opener !== document.body ? opener : document.getElementById("content");
  target?.focus({ preventScroll: true });
}

/** The consent bar at the bottom of the window. It blocks nothing, and declining is as easy as accepting (spec §2, §4). */
export function ConsentBanner() {
  const { t } = useTranslation("consent");
  const reopened = useConsent((state) => state.reopened);
  const [detailed, setDetailed] = useState(reopened);
  const banner = useRef<HTMLElement>(null);
  const opener = useRef<Element>(null);
  useFootBar(banner, "--consent-height");

  useEffect(() => {
    if (!reopened) return;
    opener.current = document.activeElement;
    setDetailed(true);
    banner.current?.focus();
  }, [reopened]);

  async function choose(choice: Choice): Promise<void> {
    giveFocusBack(banner.current, opener.current);
    const kept = await chooseConsent(choice);
    if (kept !== "kept") showToast({ title: t("unkept.title"), text: t("unkept.text") });
  }

  function show(view: "short" | "detailed"): void {
    setDetailed(view === "detailed");
    // The pressed button is gone, so the bar gets the focus and is read out from its name on.
    banner.current?.focus();
  }

  return (
    <section
      ref={banner}
      className={styles.banner}
      aria-labelledby="consent-title"
      data-consent={detailed ? "detailed" : "short"}
      tabIndex={-1}
    >
      <div className={styles.inner}>
        {detailed ? (
          <Preferences onBack={() => show("short")} onDecline={() => void choose(none)} onSave={(choice) => void choose(choice)} />
        ) : (
          <>
            <div className={styles.words}>
              <h2 id="consent-title" className={styles.title}>
                {t("title")}
              </h2>
              <p>
                <RichText text={t("text")} elements={{ terms: <Link href={paths.terms} />, privacy: <Link href={paths.privacy} /> }} />
              </p>
            </div>
            <div className={styles.actions}>
              <Button size="small" variant="quiet" onClick={() => show("detailed")}>
                {t("manage")}
              </Button>
              <Button size="small" onClick={() => void choose(none)}>
                {t("decline")}
              </Button>
              <Button size="small" onClick={() => void choose(all)}>
                {t("acceptAll")}
              </Button>
            </div>
          </>
        )}
      </div>
    </section>
  );
}
