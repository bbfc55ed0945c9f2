import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "wouter";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Page } from "#client/components/page.tsx";
import { pieceOf, pieces } from "#client/content/library.ts";
import { pieceNameAt, piecePath } from "#client/content/names.ts";
import { useSession } from "#client/features/auth/session-store.ts";
import { KeptList } from "#client/features/kept/kept-list.tsx";
import { keptPieces } from "#client/features/kept/kept-pieces.ts";
import { refreshKept, removeAll, save, useKept } from "#client/features/kept/kept-store.ts";
import { MissingPage } from "#client/features/kept/missing-page.tsx";
import { RoomLine } from "#client/features/kept/room.tsx";
import { ownPath } from "#client/lib/own-path.ts";
import { forgetAllConversations, listKeptConversations } from "#client/offline/conversations.ts";
import styles from "./offline.module.css";

/** Everything there is to save: the legal pages are read where they apply. */
const savable = pieces.filter(({ kind }) => kind !== "legal").map(({ name }) => piecePath(name));

function titleOf(path: string, language: string): string {
  const name = pieceNameAt(path);
  return (name && pieceOf(name, language)?.title) ?? path;
}

function SaveAll() {
  const { t, i18n } = useTranslation("offline");
  const { pages, saving, failed } = useKept();
  const saved = new Set(pages.filter(({ keeping }) => keeping === "saved").map(({ path }) => path));
  const left = savable.filter((path) => !saved.has(path));
  const total = savable.length;
  return (
    <div className={styles.all}>
      {left.length > 0 && (
        <Button
          busy={saving.length > 0}
          busyLabel={t("all.saving", { done: total - left.length, total })}
          onClick={() => void save(left, i18n.language)}
        >
          {t("all.save")}
        </Button>
      )}
      {failed.length > 0 && saving.length === 0 && (
        <p className={styles.failed} role="alert">
          {t("all.failed", { count: failed.length })}
        </p>
      )}
    </div>
  );
}

function Guides() {
  const { t, i18n } = useTranslation("offline");
  const { status, pages } = useKept();
  const kept = keptPieces(pages, i18n.language);
  return (
    <section className={styles.section} aria-labelledby="kept-guides">
      <h2 id="kept-guides">{t("list.heading")}</h2>
      {status === "none" && <p className={styles.note}>{t("unsupported")}</p>}
      {status === "ready" && kept.length === 0 && <EmptyState title={t("list.emptyTitle")}>{t("list.emptyText")}</EmptyState>}
      {kept.length > 0 && <KeptList pieces={kept} />}
      {status !== "none" && <SaveAll />}
    </section>
  );
}

/** How many of the person's conversations can be read here; null while that is unknown, or nobody is signed in. */
function useConversationCount(owner: string | null): [number | null, () => Promise<void>] {
  const [count, setCount] = useState<number | null>(null);
  useEffect(() => {
    let current = true;
    if (owner === null) setCount(null);
    else void listKeptConversations(owner).then((kept) => current && setCount(kept.length));
    return () => {
      current = false;
    };
  }, [owner]);
  async function forget(): Promise<void> {
    if (owner !== null) await forgetAllConversations(owner);
    setCount(owner === null ? null : 0);
  }
  return [count, forget];
}

function ClearDialog({ open, onClose, onClear }: { open: boolean; onClose: () => void; onClear: () => void }) {
  const { t } = useTranslation("offline");
  const actions = (
    <>
      <Button onClick={onClose}>{t("clear.keep")}</Button>
      <Button variant="danger" onClick={onClear}>
        {t("clear.confirm")}
      </Button>
    </>
  );
  return (
    <Dialog open={open} onClose={onClose} title={t("clear.title")} actions={actions}>
      <p>{t("clear.text")}</p>
    </Dialog>
  );
}

/** What this device keeps, how much room it takes, and how to let it go. It also answers for pages that are not here. */
export function OfflinePage() {
  const { t, i18n } = useTranslation("offline");
  const [search] = useSearchParams();
  const { pages } = useKept();
  const owner = useSession((state) => state.user?.id ?? null);
  const [conversations, forgetConversations] = useConversationCount(owner);
  const [clearing, setClearing] = useState(false);
  const missing = ownPath(search.get("page"));

  useEffect(() => void refreshKept(), []);

  async function clear(): Promise<void> {
    setClearing(false);
    await Promise.all([removeAll(), forgetConversations()]);
  }

  const hasAnything = keptPieces(pages, i18n.language).length > 0 || (conversations ?? 0) > 0;
  return (
    <Page title={t("title")} indexable={false} width="narrow" className={styles.page ?? ""}>
      {missing ? (
        <MissingPage path={missing} title={titleOf(missing, i18n.language)} />
      ) : (
        <header className={styles.head}>
          <h1>{t("title")}</h1>
          <p className={styles.lead}>{t("lead")}</p>
        </header>
      )}
      <Guides />
      {conversations !== null && conversations > 0 && (
        <section className={styles.section} aria-labelledby="kept-conversations">
          <h2 id="kept-conversations">{t("conversations.heading")}</h2>
          <p className={styles.note}>{t("conversations.text", { count: conversations })}</p>
          <Button size="small" onClick={() => void forgetConversations()}>
            {t("conversations.remove")}
          </Button>
        </section>
      )}
      <section className={styles.section} aria-labelledby="kept-room">
        <h2 id="kept-room">{t("room.heading")}</h2>
        <RoomLine of={pages} />
        <p className={styles.note}>{t("room.base")}</p>
        {hasAnything && <Button onClick={() => setClearing(true)}>{t("clear.action")}</Button>}
      </section>
      <ClearDialog open={clearing} onClose={() => setClearing(false)} onClear={() => void clear()} />
    </Page>
  );
}
