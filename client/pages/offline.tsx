import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "wouter";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Page } from "#client/components/page.tsx";
import { PageSpinner } from "#client/components/spinner.tsx";
import { pieceOf, pieces } from "#client/content/library.ts";
import { pieceNameAt, piecePath } from "#client/content/names.ts";
import { FormQueue } from "#client/features/contact/form-queue.tsx";
import { KeptConversations } from "#client/features/kept/kept-conversations.tsx";
import { KeptList } from "#client/features/kept/kept-list.tsx";
import { keptPieces } from "#client/features/kept/kept-pieces.ts";
import { refreshKept, removeAll, save, useKept } from "#client/features/kept/kept-store.ts";
import { MissingPage } from "#client/features/kept/missing-page.tsx";
import { RoomLine, useRoom } from "#client/features/kept/room.tsx";
import { ownPath } from "#client/lib/own-path.ts";
import { useSession } from "#client/lib/use-session.ts";
import type { OpenableConversation } from "#client/offline/conversations.ts";
import { forgetAllConversations, readKeptList } from "#client/offline/conversations.ts";
import { paths } from "#client/paths.ts";
import styles from "./offline.module.css";

/** Everything that can be saved offline. Legal pages are left out, because they are read where they apply. */
const savable = pieces.filter(({ kind }) => kind !== "legal").map(({ name }) => piecePath(name));

/** The title of a page as its links show it; undefined for an address that we don't link to. */
function useTitleOf(path: string | null): string | undefined {
  const { t, i18n } = useTranslation("common");
  const name = path && pieceNameAt(path);
  if (name) return pieceOf(name, i18n.language)?.title;
  if (path === paths.about) return t("navigation.about");
  return path === paths.blog ? t("footer.blog") : undefined;
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

/** The person's conversations kept on this device; undefined until they have been read. */
function useKeptConversations(owner: string | null | undefined): [readonly OpenableConversation[] | undefined, () => Promise<void>] {
  const [kept, setKept] = useState<readonly OpenableConversation[]>();
  useEffect(() => {
    let current = true;
    setKept(owner === null ? [] : undefined);
    if (owner) void readKeptList(owner).then((found) => current && setKept(found));
    return () => {
      current = false;
    };
  }, [owner]);
  async function forget(): Promise<void> {
    if (owner) await forgetAllConversations(owner);
    setKept([]);
  }
  return [kept, forget];
}

function Conversations({ kept, onForget }: { kept: readonly OpenableConversation[]; onForget: () => void }) {
  const { t } = useTranslation("offline");
  if (kept.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="kept-conversations">
      <h2 id="kept-conversations">{t("conversations.heading")}</h2>
      <KeptConversations conversations={kept.map((one) => ({ ...one, path: `${paths.aiModels}?conversation=${one.id}` }))} />
      <p className={styles.note}>{t("conversations.text", { count: kept.length })}</p>
      <Button size="small" onClick={onForget}>
        {t("conversations.remove")}
      </Button>
    </section>
  );
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

/** Everything kept on this device. It is rendered only when all of it has been read, so that nothing on the page moves later. */
function KeptHere() {
  const { t, i18n } = useTranslation("offline");
  const { status: keptStatus, pages } = useKept();
  const { status, user } = useSession();
  const owner = status === "loading" ? undefined : (user?.id ?? null);
  const [conversations, forgetConversations] = useKeptConversations(owner);
  const room = useRoom(pages);
  const [clearing, setClearing] = useState(false);
  if (keptStatus === "unknown" || conversations === undefined || room === undefined) return <PageSpinner />;

  async function clear(): Promise<void> {
    setClearing(false);
    await Promise.all([removeAll(), forgetConversations()]);
  }

  const hasAnything = keptPieces(pages, i18n.language).length > 0 || conversations.length > 0;
  return (
    <>
      <FormQueue owner={owner} />
      <Conversations kept={conversations} onForget={() => void forgetConversations()} />
      <Guides />
      <section className={styles.section} aria-labelledby="kept-room">
        <h2 id="kept-room">{t("room.heading")}</h2>
        {room && <RoomLine room={room} />}
        <p className={styles.note}>{t("room.base")}</p>
        {hasAnything && <Button onClick={() => setClearing(true)}>{t("clear.action")}</Button>}
      </section>
      <ClearDialog open={clearing} onClose={() => setClearing(false)} onClear={() => void clear()} />
    </>
  );
}

/**
 * Shows what this device keeps, how much space it takes, and how to remove it. It is also shown for pages that are not
 * available offline.
 */
export function OfflinePage() {
  const { t } = useTranslation("offline");
  const [search] = useSearchParams();
  const missing = ownPath(search.get("page"));
  const missingTitle = useTitleOf(missing);

  useEffect(() => void refreshKept(), []);

  return (
    <Page title={t("title")} indexable={false} width="narrow" className={styles.page ?? ""}>
      {missing ? (
        <MissingPage path={missing} title={missingTitle} />
      ) : (
        <header className={styles.head}>
          <h1>{t("title")}</h1>
          <p className={styles.lead}>{t("lead")}</p>
        </header>
      )}
      <KeptHere />
    </Page>
  );
}
