import type { ReactNode } from "react";
import { Component } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "wouter";
import { Button } from "#client/components/button.tsx";
import { Late } from "#client/components/late.tsx";
import { Page } from "#client/components/page.tsx";
import { paths } from "#client/paths.ts";
import styles from "./page-boundary.module.css";

const loadDrawing = async () => (await import("./missing-tile.tsx")).MissingTile;
const reloadedKey = "reloadedForChunk";
/** A second failure within this time of the reload is no other release: it is broken. */
const reloadCountsMs = 60_000;

/** How the browsers say that a chunk could not be fetched: it went with an old release, or the connection broke. */
function isMissingChunk(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|module script failed|preload CSS/i.test(error.message);
}

/**
 * A page of an older release asks for chunks that are gone: one reload brings the new release, or, without a connection,
 * what the service worker has in its place. True when on its way.
 */
function reloadOnce(address: string): boolean {
  if (!navigator.onLine && !navigator.serviceWorker?.controller) return false;
  try {
    const [reloaded, atMs] = sessionStorage.getItem(reloadedKey)?.split(" ") ?? [];
    if (reloaded === address && Date.now() - Number(atMs) < reloadCountsMs) return false;
    sessionStorage.setItem(reloadedKey, `${address} ${Date.now()}`);
  } catch {
    // Without a place to note it, a second failure could reload for ever.
    return false;
  }
  location.reload();
  return true;
}

function BrokenPage({ missing }: { missing: boolean }) {
  const { t } = useTranslation("common");
  return (
    <Page title={t("broken.title")} className={styles.broken ?? ""}>
      <Late load={loadDrawing} />
      <h1>{t("broken.title")}</h1>
      <p className={styles.text}>{missing ? t("broken.missing") : t("broken.text")}</p>
      <div className={styles.actions}>
        <Button variant="primary" onClick={() => location.reload()}>
          {t("broken.reload")}
        </Button>
        {/* A full load on purpose: what broke may sit in memory. */}
        <a className={styles.home} href={paths.home}>
          {t("broken.home")}
        </a>
      </div>
    </Page>
  );
}

interface BoundaryState {
  failure: { missing: boolean; reloading: boolean } | null;
}

class Boundary extends Component<{ children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { failure: null };

  static getDerivedStateFromError(error: unknown): BoundaryState {
    const missing = isMissingChunk(error);
    return { failure: { missing, reloading: missing && reloadOnce(location.pathname) } };
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (!failure) return this.props.children;
    return failure.reloading ? null : <BrokenPage missing={failure.missing} />;
  }
}

/** A page that breaks takes nothing else down: the frame stays, and another address starts afresh. */
export function PageBoundary({ children }: { children: ReactNode }) {
  const [location] = useLocation();
  return <Boundary key={location.split("/")[1]}>{children}</Boundary>;
}
