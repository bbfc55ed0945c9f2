import { Trash2 } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { IconButton } from "#client/components/button.tsx";
import { formatDate } from "#client/lib/format.ts";
import { formatBytes } from "#client/lib/format-bytes.ts";
import styles from "./kept-list.module.css";
import type { KeptPiece } from "./kept-pieces.ts";
import { remove } from "./kept-store.ts";

function Row({ piece }: { piece: KeptPiece }) {
  const { t, i18n } = useTranslation("offline");
  const { path, title, saved, bytes, keptAtMs } = piece;
  const size = formatBytes(bytes, i18n.language);
  const date = formatDate(new Date(keptAtMs), i18n.language);
  return (
    <li className={styles.row} data-saved={saved || undefined}>
      <div className={styles.words}>
        <Link href={path} className={styles.title}>
          {title}
        </Link>
        <p className={styles.facts}>{t(saved ? "list.saved" : "list.opened", { size, date })}</p>
      </div>
      <IconButton label={t("list.remove", { title })} onClick={() => void remove(path)}>
        <Trash2 size={18} aria-hidden="true" />
      </IconButton>
    </li>
  );
}

/** Lists the kept pages, each with its size and a button to remove it. The tile is filled if the page was saved on purpose. */
export function KeptList({ pieces }: { pieces: readonly KeptPiece[] }) {
  return (
    <ul className={styles.list}>
      {pieces.map((piece) => (
        <Row key={piece.path} piece={piece} />
      ))}
    </ul>
  );
}
