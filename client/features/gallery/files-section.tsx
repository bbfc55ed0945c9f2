import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Select } from "#client/components/field.tsx";
import { Panel } from "#client/components/panel.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { formatBytes } from "#client/lib/format-bytes.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { useOnline } from "#client/lib/use-online.ts";
import { paths } from "#client/paths.ts";
import type { RoomFile } from "#contract/files.ts";
import { fileCategories, fileOrders } from "#domain/file-categories.ts";
import { DeleteFile } from "./delete-file.tsx";
import styles from "./files.module.css";
import { RoomRow } from "./room-row.tsx";
import { SpaceBar } from "./space-bar.tsx";
import type { Asked } from "./use-room.ts";
import { useRoom } from "./use-room.ts";

/** Holds the place of the first rows, in their height. */
function Waiting() {
  const { t } = useTranslation("room");
  return (
    <div role="status">
      <VisuallyHidden>{t("reading")}</VisuallyHidden>
      <div className={styles.rows} aria-hidden="true">
        {[1, 2, 3, 4].map((row) => (
          <div key={row} className={styles.row} data-waiting>
            <span className={styles.thumbnail} />
            <div className={styles.words}>
              <p className={styles.what}>&nbsp;</p>
              <p className={styles.detail}>&nbsp;</p>
              <p className={styles.detail}>&nbsp;</p>
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}

function Failed({ onRetry }: { onRetry: () => void }) {
  const { t } = useTranslation("room");
  const online = useOnline();
  const retry = (
    <Button size="small" onClick={onRetry}>
      {t("retry")}
    </Button>
  );
  return (
    <Alert tone="warning" action={retry}>
      {t(online ? "failed" : "offline")}
    </Alert>
  );
}

/** Says that there is no file, or none of the chosen kind. */
function Nothing({ category }: Pick<Asked, "category">) {
  const { t } = useTranslation("room");
  if (category !== "all") return <p className={styles.none}>{t("none")}</p>;
  const action = (
    <LinkButton href={paths.aiModels} variant="primary">
      {t("start")}
    </LinkButton>
  );
  return (
    <EmptyState title={t("empty")} action={action}>
      {t("emptyText")}
    </EmptyState>
  );
}

/** What follows the rows: more of them, or why there are none. */
function Rest({ files, nextCursor, status, read, category }: ReturnType<typeof useRoom> & Pick<Asked, "category">) {
  const { t } = useTranslation("room");
  if (status === "loading") return files.length === 0 ? <Waiting /> : <Spinner label={t("reading")} />;
  if (status === "failed") return <Failed onRetry={() => void read(files.length === 0 ? null : nextCursor)} />;
  if (nextCursor !== null) return <Button onClick={() => void read(nextCursor)}>{t("more")}</Button>;
  return files.length === 0 && <Nothing category={category} />;
}

function Choices({ asked, onAsk }: { asked: Asked; onAsk: (asked: Asked) => void }) {
  const { t } = useTranslation("room");
  const named = [{ value: "all", label: t("all") }, ...fileCategories.map((value) => ({ value, label: t(`categories.${value}`) }))];
  return (
    <div className={styles.choices}>
      <Select
        label={t("show")}
        name="category"
        options={named}
        value={asked.category}
        onChange={(event) => onAsk({ ...asked, category: fileCategories.find((known) => known === event.target.value) ?? "all" })}
      />
      <Segmented
        label={t("order")}
        options={fileOrders.map((value) => ({ value, label: t(`orders.${value}`) }))}
        value={asked.order}
        onChange={(order) => onAsk({ ...asked, order })}
      />
    </div>
  );
}

/** A section of the account: all that takes room, and the way to make some. */
export function FilesSection({ conversationPath }: { conversationPath: (id: string) => string }) {
  const { t, i18n } = useTranslation("room");
  const [asked, setAsked] = useState<Asked>({ category: "all", order: "newest" });
  const room = useRoom(asked);
  const [asking, setAsking] = useState<RoomFile>();
  const heading = useRef<HTMLHeadingElement>(null);
  const [deleted, setDeleted] = useState(0);
  // The button that was pressed has gone, and the dialog is closed by then.
  useEffect(() => {
    if (deleted > 0) heading.current?.focus();
  }, [deleted]);
  const remove = async (file: RoomFile) => {
    await room.remove(file);
    setAsking(undefined);
    setDeleted((times) => times + 1);
    showToast({ title: t("deleted", { bytes: formatBytes(file.bytes, i18n.language) }) });
  };
  return (
    <>
      <Panel name="space" title={t("space")} lead={[t("spaceLead")]}>
        {room.space ? <SpaceBar space={room.space} /> : room.status === "loading" && <div className={styles.space} data-waiting />}
      </Panel>
      <Panel name="files" title={t("list")} heading={heading} lead={[t("listLead")]}>
        <Choices asked={asked} onAsk={setAsked} />
        {room.files.length > 0 && (
          <ul className={styles.rows}>
            {room.files.map((file) => (
              <RoomRow key={file.id} {...{ file, conversationPath }} onDelete={() => setAsking(file)} />
            ))}
          </ul>
        )}
        <Rest {...room} category={asked.category} />
      </Panel>
      {asking && <DeleteFile file={asking} onClose={() => setAsking(undefined)} onDelete={remove} />}
    </>
  );
}
