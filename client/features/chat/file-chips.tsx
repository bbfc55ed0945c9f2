import { FileAudio, FileText } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { retryAddress, useFileAddress } from "#client/lib/file-addresses.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { AttachedFile } from "#contract/generations/generations.ts";
import styles from "./attachments.module.css";
import { previewOf } from "./previews.ts";

/** What a model reads of a file, in words. */
export function useReadingText(): (reading: AttachedFile["reading"], pages: number | null) => string {
  const { t } = useTranslation("files");
  const { number } = useFormat();
  return ({ as, pages: read, cut }, pages) => {
    if (as === "picture") return t("reads.picture");
    if (as === "sound") return t("reads.sound");
    if (as === "pages") return t("reads.pages", { count: pages ?? 1, formatted: number(pages ?? 1) });
    if (read === null) return t(cut ? "reads.beginning" : "reads.text");
    if (cut) return t("reads.firstPages", { count: read, formatted: number(read), pages: number(pages ?? read) });
    return t("reads.textOfPages", { count: read, formatted: number(read) });
  };
}

/** A small version of a picture, or the icon of a document or a recording. */
export function Thumbnail({
  address,
  isSound = false,
  onBroken,
}: {
  address: string | undefined;
  isSound?: boolean;
  onBroken?: () => void;
}) {
  const Sign = isSound ? FileAudio : FileText;
  return (
    <span className={styles.thumbnail}>
      {address ? <img src={address} alt="" onError={onBroken} /> : <Sign size={20} aria-hidden="true" />}
    </span>
  );
}

export function StoredThumbnail({ id, picture }: { id: string; picture: boolean }) {
  const address = useFileAddress(id);
  return <Thumbnail address={picture ? (previewOf(id) ?? address ?? undefined) : undefined} onBroken={() => retryAddress(id)} />;
}

export function Chip({
  thumbnail,
  name,
  note,
  fault,
  children,
}: {
  thumbnail: ReactNode;
  name: string;
  note: string;
  fault?: boolean;
  children: ReactNode;
}) {
  return (
    <li className={styles.chip}>
      {thumbnail}
      <span className={styles.words}>
        <span className={styles.name} title={name}>
          {name}
        </span>
        <span className={fault ? styles.fault : styles.note}>{note}</span>
      </span>
      {children}
    </li>
  );
}
