import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Button } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { FoundConversation } from "#contract/conversations.ts";
import { findMatch } from "#domain/search.ts";
import { conversationPath } from "./conversation-path.ts";
import styles from "./conversations.module.css";
import type { Search } from "./use-search.ts";

function Marked({ text, words }: { text: string; words: string }) {
  const match = findMatch(text, words);
  if (!match) return text;
  return (
    <>
      {text.slice(0, match.start)}
      <mark>{text.slice(match.start, match.end)}</mark>
      {text.slice(match.end)}
    </>
  );
}

function Result({ found, words, onChosen }: { found: FoundConversation; words: string; onChosen: () => void }) {
  const { date } = useFormat();
  const { conversation, excerpt } = found;
  return (
    <li>
      <Link href={conversationPath(conversation.id)} className={styles.result} onClick={onChosen}>
        <span className={styles.resultTitle}>
          <Marked text={conversation.title} words={words} />
        </span>
        {excerpt && (
          <span className={styles.excerpt}>
            {excerpt.before}
            {excerpt.match && <mark>{excerpt.match}</mark>}
            {excerpt.after}
          </span>
        )}
        <time dateTime={conversation.updatedAt}>{date(conversation.updatedAt)}</time>
      </Link>
    </li>
  );
}

/** The conversations found, latest first, with the words highlighted. */
export function SearchResults({ search, onChosen }: { search: Search; onChosen: () => void }) {
  const { t } = useTranslation("chat");
  const { words = "", status, found, onDevice, older, again } = search;
  const counted = found.length > 0 ? t("search.found", { count: found.length }) : t("search.none", { query: words });
  return (
    <>
      <p className={styles.note} role="status">
        {status === "ready" && counted}
        {status === "failed" && t("search.failed")}
      </p>
      {status === "ready" && onDevice && <p className={styles.note}>{t("search.kept")}</p>}
      <ul className={styles.items}>
        {found.map((one) => (
          <Result key={one.conversation.id} found={one} words={words} onChosen={onChosen} />
        ))}
      </ul>
      {status === "busy" && <Spinner size="small" label={t("search.busy")} />}
      {again && (
        <Button size="small" onClick={again}>
          {t("conversations.retry")}
        </Button>
      )}
      {status === "ready" && older && (
        <Button size="small" variant="quiet" onClick={older}>
          {t("search.older")}
        </Button>
      )}
    </>
  );
}
