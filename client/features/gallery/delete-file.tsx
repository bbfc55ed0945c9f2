import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { useAct } from "#client/components/use-act.ts";
import { formatBytes } from "#client/lib/format-bytes.ts";
import type { RoomFile } from "#contract/files.ts";
import styles from "./files.module.css";
import { wordsOf } from "./room-row.tsx";

type Loss = "unsent" | "sent" | "picture" | "clip" | "speech";

function lossOf({ category, conversation }: RoomFile): Loss {
  if (category === "attachment" || category === "recording") return conversation ? "sent" : "unsent";
  return category;
}

interface DeleteFileProps {
  file: RoomFile;
  onClose: () => void;
  /** Throws if it is not deleted. */
  onDelete: (file: RoomFile) => Promise<void>;
}

/** Says what is lost before it is. */
export function DeleteFile({ file, onClose, onDelete }: DeleteFileProps) {
  const { t, i18n } = useTranslation(["room", "common", "errors", "refusals"]);
  const { note, waitSeconds, busy, run } = useAct();
  const actions = (
    <>
      <Button onClick={onClose}>{t("common:cancel")}</Button>
      <Button
        variant="danger"
        busy={busy !== undefined}
        busyLabel={t("room:deleting")}
        aria-disabled={waitSeconds > 0}
        onClick={() => void run("delete", () => onDelete(file))}
      >
        {t("room:delete")}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t("room:deleteTitle")} actions={actions}>
      <div className={styles.question}>
        <p className={styles.named}>{wordsOf(file)}</p>
        <p>{t(`room:lost.${lossOf(file)}`)}</p>
        <p>{t("room:frees", { bytes: formatBytes(file.bytes, i18n.language) })}</p>
        {note}
      </div>
    </Dialog>
  );
}
