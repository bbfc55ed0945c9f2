import { RotateCcw, X } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useShallow } from "zustand/react/shallow";
import { IconButton } from "#client/components/button.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useOnline } from "#client/lib/use-online.ts";
import { useSentences } from "#client/lib/use-sentences.ts";
import styles from "./attachments.module.css";
import { Chip, Thumbnail } from "./file-chips.tsx";
import { previewOf } from "./previews.ts";
import { RoomLink } from "./room-link.tsx";
import type { Place, Upload } from "./uploads.ts";
import { isAt, mayRetry, removeUpload, retryUpload, useUploads } from "./uploads.ts";

/** The oldest first. */
export function useUploadsAt({ purpose, threadKey }: Place): readonly Upload[] {
  return useUploads(useShallow(({ uploads }) => uploads.filter(isAt({ purpose, threadKey }))));
}

export function RemoveButton({ name, onClick }: { name: string; onClick: () => void }) {
  const { t } = useTranslation("files");
  return (
    <IconButton className={styles.remove} label={t("remove", { name })} onClick={onClick}>
      <X size={16} aria-hidden="true" />
    </IconButton>
  );
}

/** A file on its way. Load `files`, `errors`, `refusals` and `uploads` first. */
export function UploadChip({ item }: { item: Upload }) {
  const { t } = useTranslation(["files", "errors", "refusals", "uploads"]);
  const { percent } = useFormat();
  const online = useOnline();
  const sentences = useSentences();
  const { id, name, file, state, progress, code, kept, refusal } = item;
  const waiting = online ? t("files:waiting") : t("files:offline");
  const uploading = t("files:uploading", { percent: percent(Math.floor(progress * 100)) });
  const stage = state === "failed" ? problemText(code ?? "unexpected") : state === "uploading" ? uploading : waiting;
  const note = sentences(stage, kept === false && refusal === null && t("files:notKept"));
  const isSound = file.type.startsWith("audio/");
  return (
    <Chip thumbnail={<Thumbnail address={previewOf(id)} isSound={isSound} />} {...{ name, note }} fault={state === "failed"}>
      {state === "uploading" && <progress className={styles.progress} value={progress} aria-label={uploading} />}
      {mayRetry(item) && (
        <IconButton className={styles.remove} label={t("files:retry", { name })} onClick={() => retryUpload(id)}>
          <RotateCcw size={16} aria-hidden="true" />
        </IconButton>
      )}
      <RemoveButton name={name} onClick={() => void removeUpload(item)} />
    </Chip>
  );
}

/** Below the files that there is no room for: the way to make some. */
export function NoRoomFor({ uploads }: { uploads: readonly Upload[] }) {
  if (!uploads.some(({ code }) => code === "storage_full")) return null;
  return (
    <p className={styles.line}>
      <RoomLink code="storage_full" />
    </p>
  );
}

/** The files on their way to one place, where there are any. */
export function UploadChips({ place }: { place: Place }) {
  const { t } = useTranslation("files");
  const uploads = useUploadsAt(place);
  if (uploads.length === 0) return null;
  return (
    <>
      <ul className={styles.chips} aria-label={t("label")}>
        {uploads.map((item) => (
          <UploadChip key={item.id} item={item} />
        ))}
      </ul>
      <NoRoomFor uploads={uploads} />
    </>
  );
}
