import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import styles from "./missing-page.module.css";

const askEveryMs = 10_000;

/** Requests the page itself. If the server responds but not with this page, going there would lead back here in an endless loop. */
async function isReachable(path: string): Promise<boolean> {
  try {
    const response = await fetch(path, { cache: "no-store", headers: { accept: "text/html" } });
    return response.status < 500;
  } catch {
    return false;
  }
}

/** Opens the page as soon as the server responds: when the browser is online again, and by checking now and then. */
function useReturn(path: string): { asking: boolean; ask: () => Promise<void> } {
  const [asking, setAsking] = useState(false);
  async function ask(): Promise<void> {
    setAsking(true);
    if (await isReachable(path)) location.replace(path);
    else setAsking(false);
  }
  useEffect(() => {
    const askQuietly = () => void isReachable(path).then((reachable) => reachable && location.replace(path));
    askQuietly();
    const timer = setInterval(askQuietly, askEveryMs);
    addEventListener("online", askQuietly);
    return () => {
      clearInterval(timer);
      removeEventListener("online", askQuietly);
    };
  }, [path]);
  return { asking, ask };
}

/** Says which page is not available offline. The page opens by itself once it can be loaded. */
export function MissingPage({ path, title }: { path: string; title: string | undefined }) {
  const { t } = useTranslation("offline");
  const { asking, ask } = useReturn(path);
  return (
    <section className={styles.missing} aria-labelledby="missing-page">
      <h1 id="missing-page" className={styles.title}>
        {title === undefined ? t("missing.untitled") : t("missing.title", { title })}
      </h1>
      <p className={styles.text}>{t("missing.text")}</p>
      <Button variant="primary" busy={asking} busyLabel={t("missing.asking")} onClick={() => void ask()}>
        {t("missing.retry")}
      </Button>
    </section>
  );
}
