import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import type { Turn } from "./conversation-store.ts";
import styles from "./support-panel.module.css";
import type { Topic } from "./topics.ts";
import { useAnswer } from "./use-answer.ts";

export function TurnView({ turn, onFollow }: { turn: Turn; onFollow: () => void }) {
  const { t } = useTranslation(["support", "common"], { useSuspense: false });
  if (turn.from === "visitor") {
    return (
      <p className={styles.question}>
        <VisuallyHidden>{t("you")} </VisuallyHidden>
        {turn.text}
      </p>
    );
  }
  if (turn.topic === "failed") return <p className={styles.answer}>{t("common:support.failure")}</p>;
  return <AnswerView topic={turn.topic} onFollow={onFollow} />;
}

function AnswerView({ topic, onFollow }: { topic: Topic; onFollow: () => void }) {
  const answerTo = useAnswer();
  const { text, rows, link } = answerTo(topic);
  return (
    <div className={styles.answer}>
      <p>{text}</p>
      {rows && (
        <dl className={styles.rows}>
          {rows.map(([name, figure]) => (
            <div key={name} className={styles.row}>
              <dt>{name}</dt>
              <dd>{figure}</dd>
            </div>
          ))}
        </dl>
      )}
      {link && (
        <p>
          <Link href={link.href} onClick={onFollow}>
            {link.label}
          </Link>
        </p>
      )}
    </div>
  );
}
