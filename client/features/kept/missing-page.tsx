import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import styles from "./missing-page.module.css";

const askEveryMs = 10_000;

/** Asks for the page itself: of a server that answers, but not with this page, one would be sent back here at once, for ever. */
async function isReachable(path: string): Promise<boolean> {
  try {
    const response = await fetch(path, { cache: "no-store", headers: { accept: "text/html" } });
    return response.status < 500;
  } catch {
    return false;
  }
}

/** Goes to the page as soon as the server answers again: when the browser says so, and by asking now and then. */
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

/** Says which page was asked for and is not here; it opens by itself once it can. */
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
