import { useTranslation } from "react-i18next";
import { classNames } from "#client/components/class-names.ts";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { retryAddress, useFileAddress } from "#client/lib/file-addresses.ts";
import { playTime } from "#client/lib/play-time.ts";
import type { AttachedFile } from "#contract/generations/generations.ts";
import { isPicture } from "#domain/attachments.ts";
import styles from "./attachments.module.css";
import { Thumbnail, useReadingText } from "./file-chips.tsx";

function SentFile({ file }: { file: AttachedFile }) {
  const { t } = useTranslation("files");
  const readingText = useReadingText();
  const address = useFileAddress(file.fileId);
  const picture = isPicture(file);
  const gone = address === null;
  const isSound = file.reading.as === "sound";
  const length = isSound && file.durationMs !== undefined ? ` · ${playTime(file.durationMs / 1_000)}` : "";
  const inside = (
    <>
      <Thumbnail address={picture ? (address ?? undefined) : undefined} isSound={isSound} onBroken={() => retryAddress(file.fileId)} />
      <span className={styles.words}>
        <span className={styles.name}>{file.name}</span>
        <span className={styles.note}>{gone ? t("deleted") : readingText(file.reading, file.pages) + length}</span>
      </span>
    </>
  );
  if (!address) return <li className={styles.chip}>{inside}</li>;
  return (
    <li>
      <a className={styles.chip} href={address} target="_blank" rel="noopener">
        {inside}
        <VisuallyHidden>{t("open")}</VisuallyHidden>
      </a>
    </li>
  );
}

/** The files of a question that was sent. */
export function SentFiles({ files }: { files: readonly AttachedFile[] }) {
  const { t } = useTranslation("files");
  return (
    <ul className={classNames(styles.chips, styles.sent)} aria-label={t("label")}>
      {files.map((file) => (
        <SentFile key={file.fileId} file={file} />
      ))}
    </ul>
  );
}
