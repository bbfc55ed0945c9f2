import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "wouter";
import { Button, LinkButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { PictureActions } from "#client/components/picture-actions.tsx";
import { PictureViewer } from "#client/components/picture-viewer.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { StoredClip } from "#client/components/stored-clip.tsx";
import { StoredPicture } from "#client/components/stored-picture.tsx";
import { api } from "#client/lib/api.ts";
import { knownModel } from "#client/lib/known-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useOnline } from "#client/lib/use-online.ts";
import { paths } from "#client/paths.ts";
import type { GalleryPicture } from "#contract/generations/media.ts";
import styles from "./gallery.module.css";

interface Listed {
  pictures: readonly GalleryPicture[];
  /** Null: there are no older ones. */
  nextCursor: string | null;
  status: "loading" | "ready" | "failed";
}

function usePictures() {
  const [listed, setListed] = useState<Listed>({ pictures: [], nextCursor: null, status: "loading" });
  const read = useCallback(async (cursor: string | null) => {
    setListed((before) => ({ ...before, status: "loading" }));
    try {
      const page = await api("GET /api/pictures", { querystring: { clips: true, ...(cursor !== null && { cursor }) } });
      setListed(({ pictures }) => ({
        pictures: cursor === null ? page.pictures : [...pictures, ...page.pictures],
        nextCursor: page.nextCursor,
        status: "ready",
      }));
    } catch {
      setListed((before) => ({ ...before, status: "failed" }));
    }
  }, []);
  useEffect(() => void read(null), [read]);
  const remove = (fileId: string) =>
    setListed((before) => ({ ...before, pictures: before.pictures.filter((picture) => picture.fileId !== fileId) }));
  return { ...listed, read, remove };
}

/** Latest first, so the pictures of a month follow each other. */
function byMonth(pictures: readonly GalleryPicture[], language: string): [string, GalleryPicture[]][] {
  const month = new Intl.DateTimeFormat(language, { month: "long", year: "numeric" });
  return [...Map.groupBy(pictures, ({ createdAt }) => month.format(new Date(createdAt)))];
}

/** What follows the pictures: older ones, or why there are none. */
function Rest({ pictures, nextCursor, status, read }: Listed & { read: (cursor: string | null) => Promise<void> }) {
  const { t } = useTranslation("pictures");
  const online = useOnline();
  if (status === "loading") return <Spinner label={t("gallery.loading")} />;
  if (status === "failed") {
    const cursor = pictures.length === 0 ? null : nextCursor;
    const retry = <Button onClick={() => void read(cursor)}>{t("retry")}</Button>;
    return <EmptyState title={t(online ? "gallery.failed" : "gallery.offline")} action={retry} />;
  }
  if (pictures.length === 0)
    return (
      <EmptyState
        title={t("gallery.empty")}
        action={
          <LinkButton href={paths.aiModels} variant="primary">
            {t("gallery.start")}
          </LinkButton>
        }
      >
        {t("gallery.emptyText")}
      </EmptyState>
    );
  return nextCursor !== null && <Button onClick={() => void read(nextCursor)}>{t("gallery.more")}</Button>;
}

interface ViewProps {
  pictures: readonly GalleryPicture[];
  index: number;
  onIndex: (index: number | undefined) => void;
  onDeleted: (fileId: string) => void;
  conversationPath: (id: string) => string;
}

function View({ pictures, index, onIndex, onDeleted, conversationPath }: ViewProps) {
  const { t } = useTranslation("pictures");
  const { date } = useFormat();
  const [, navigate] = useLocation();
  const picture = pictures[index];
  if (!picture) return null;
  const { fileId, prompt, modelId, conversationId, createdAt, durationMs } = picture;
  const close = () => onIndex(undefined);
  const actions = (
    <PictureActions
      key={fileId}
      {...{ picture, prompt, modelId }}
      isClip={durationMs !== null}
      onComposer={() => navigate(paths.aiModels)}
      onDeleted={() => {
        close();
        onDeleted(fileId);
      }}
    >
      {conversationId !== null && (
        <LinkButton size="small" href={conversationPath(conversationId)}>
          {t("gallery.conversation")}
        </LinkButton>
      )}
    </PictureActions>
  );
  const name = knownModel(modelId)?.name ?? modelId;
  const details = <p className={styles.details}>{t("gallery.madeWith", { name, date: date(createdAt) })}</p>;
  return <PictureViewer {...{ pictures, index, actions, details }} onIndex={onIndex} onClose={close} />;
}

function Tile({ picture, onOpen }: { picture: GalleryPicture; onOpen: () => void }) {
  const { durationMs } = picture;
  if (durationMs === null) return <StoredPicture picture={picture} square onOpen={onOpen} />;
  return <StoredClip clip={{ ...picture, durationMs }} onOpen={onOpen} />;
}

/** The person's pictures and clips by month, and each of them on the whole window. */
export function Gallery({ conversationPath }: Pick<ViewProps, "conversationPath">) {
  const { i18n } = useTranslation("pictures");
  const { remove, ...listed } = usePictures();
  const { pictures } = listed;
  const [open, setOpen] = useState<number>();
  return (
    <>
      {byMonth(pictures, i18n.language).map(([month, some]) => (
        <section key={month} className={styles.month}>
          <h2>{month}</h2>
          <ul className={styles.grid}>
            {some.map((picture) => (
              <li key={picture.fileId}>
                <Tile picture={picture} onOpen={() => setOpen(pictures.indexOf(picture))} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      <div className={styles.rest}>
        <Rest {...listed} />
      </div>
      {open !== undefined && <View {...{ pictures, conversationPath }} index={open} onIndex={setOpen} onDeleted={remove} />}
    </>
  );
}
