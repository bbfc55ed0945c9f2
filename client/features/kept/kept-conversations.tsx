import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { formatDate } from "#client/lib/format.ts";
import styles from "./kept-list.module.css";

interface KeptConversation {
  id: string;
  title: string;
  path: string;
  openedAtMs: number;
}

/** Lists the conversations kept on this device, each with a link to read it. */
export function KeptConversations({ conversations }: { conversations: readonly KeptConversation[] }) {
  const { t, i18n } = useTranslation("offline");
  return (
    <ul className={styles.list}>
      {conversations.map(({ id, title, path, openedAtMs }) => (
        <li key={id} className={styles.row} data-saved>
          <div className={styles.words}>
            <Link href={path} className={styles.title}>
              {title}
            </Link>
            <p className={styles.facts}>{t("conversations.opened", { date: formatDate(new Date(openedAtMs), i18n.language) })}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}
