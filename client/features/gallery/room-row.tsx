import { Clapperboard, FileAudio, FileText, Image, Trash2, Volume2 } from "lucide-react";
import { useId } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Button } from "#client/components/button.tsx";
import { formatBytes } from "#client/lib/format-bytes.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useStoredFile } from "#client/lib/use-stored-file.ts";
import type { RoomFile } from "#contract/files.ts";
import styles from "./files.module.css";

const signs = { attachment: FileText, recording: FileAudio, picture: Image, clip: Clapperboard, speech: Volume2 };

/** A small version of a picture; for any other file an icon of its kind. */
function Thumbnail({ file: { id, category, contentType } }: { file: RoomFile }) {
  const { address, onError } = useStoredFile(id);
  const Sign = contentType.startsWith("image/") ? Image : signs[category];
  const isShown = contentType.startsWith("image/") && address;
  return (
    <span className={styles.thumbnail} aria-hidden="true">
      {isShown ? <img src={address} alt="" loading="lazy" decoding="async" onError={onError} /> : <Sign size={20} />}
    </span>
  );
}

/** What the person knows the file by: its name, or what they asked for. */
export const wordsOf = ({ prompt, name }: RoomFile) => prompt ?? name;

/** The conversation in which the file is used, or when it will be deleted. */
function Use({ file, conversationPath }: Pick<RoomRowProps, "file" | "conversationPath">) {
  const { t } = useTranslation("room");
  const { date } = useFormat();
  const { conversation, keptUntil } = file;
  if (conversation)
    return (
      <p className={styles.detail}>
        <Link className={styles.use} href={conversationPath(conversation.id)}>
          {t("in", { title: conversation.title })}
        </Link>
        <span>{t("withConversation")}</span>
      </p>
    );
  return (
    <p className={styles.detail}>
      {keptUntil !== null && <span>{t("unsent")}</span>}
      <span>{keptUntil === null ? t("stays") : t("until", { date: date(keptUntil) })}</span>
    </p>
  );
}

interface RoomRowProps {
  file: RoomFile;
  conversationPath: (id: string) => string;
  onDelete: () => void;
}

export function RoomRow({ file, conversationPath, onDelete }: RoomRowProps) {
  const { t, i18n } = useTranslation("room");
  const { date } = useFormat();
  const id = useId();
  const { category, bytes, createdAt } = file;
  return (
    <li className={styles.row}>
      <Thumbnail file={file} />
      <div className={styles.words}>
        <p className={styles.what} id={`${id}-what`} title={wordsOf(file)}>
          {wordsOf(file)}
        </p>
        <p className={styles.detail}>
          <span>{t(`one.${category}`)}</span>
          <span>{formatBytes(bytes, i18n.language)}</span>
          <time dateTime={createdAt}>{date(createdAt)}</time>
        </p>
        <Use file={file} conversationPath={conversationPath} />
      </div>
      <Button id={`${id}-delete`} size="small" aria-labelledby={`${id}-delete ${id}-what`} onClick={onDelete}>
        <Trash2 size={16} aria-hidden="true" />
        <span className={styles.act}>{t("delete")}</span>
      </Button>
    </li>
  );
}
