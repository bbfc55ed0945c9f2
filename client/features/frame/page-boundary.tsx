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
const reloadedKey = "reloaded";
/** If a page fails again within this time of a reload, a new release is not the cause, so don't reload again. */
const reloadCountsMs = 60_000;

/** The browsers' messages for a chunk that can't be fetched: it belonged to an old release, or the connection broke. */
function isMissingChunk(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|module script failed|preload CSS/i.test(error.message);
}

/**
 * A page of an older release may request chunks that no longer exist. Reloads once to get the new release or, offline, what the
 * service worker has. Returns true if it reloads.
 */
function reloadOnce(address: string): boolean {
  if (!navigator.onLine && !navigator.serviceWorker?.controller) return false;
  try {
    const [reloaded, atMs] = sessionStorage.getItem(reloadedKey)?.split(" ") ?? [];
    if (reloaded === address && Date.now() - Number(atMs) < reloadCountsMs) return false;
    sessionStorage.setItem(reloadedKey, `${address} ${Date.now()}`);
  } catch {
    // If the reload can't be recorded, the page could reload for ever, so don't.
    return false;
  }
  // The browser restores the scroll position after a reload, but that position belongs to the page that the reader has left.
  scrollTo(0, 0);
  location.reload();
  return true;
}

function BrokenPage({ missing }: { missing: boolean }) {
  const { t } = useTranslation("common");
  return (
    <Page title={t("broken.title")} className={styles.broken ?? ""}>
      <div className={styles.drawing}>
        <Late load={loadDrawing} />
      </div>
      <h1>{t("broken.title")}</h1>
      <p className={styles.text}>{missing ? t("broken.missing") : t("broken.text")}</p>
      <div className={styles.actions}>
        <Button variant="primary" onClick={() => location.reload()}>
          {t("broken.reload")}
        </Button>
        {/* Loads the whole page again, because the error may be in the state in memory. */}
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

interface BoundaryProps {
  children: ReactNode;
  /** Called when the page is replaced by the broken one. */
  onBroken: (() => void) | undefined;
}

class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failure: null };

  static getDerivedStateFromError(error: unknown): BoundaryState {
    const missing = isMissingChunk(error);
    return { failure: { missing, reloading: missing && reloadOnce(location.pathname) } };
  }

  override componentDidCatch(): void {
    this.props.onBroken?.();
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (!failure) return this.props.children;
    return failure.reloading ? null : <BrokenPage missing={failure.missing} />;
  }
}

/** Catches a page's errors: the frame stays, and navigating to another page recovers. */
export function PageBoundary({ children, onBroken }: BoundaryProps) {
  const [location] = useLocation();
  return (
    <Boundary key={location.split("/")[1]} onBroken={onBroken}>
      {children}
    </Boundary>
  );
}
