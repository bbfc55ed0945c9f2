import { useTranslation } from "react-i18next";
import { useConversation } from "./conversation-store.ts";
import styles from "./support-panel.module.css";
import type { TopicKey } from "./topics.ts";

/** Suggested questions, the most frequent first, so that nobody has to guess what can be asked. */
const suggested = ["plans", "models", "refund", "rollover", "payment", "failure", "trial", "cancel", "languages", "files"] as const;
type Suggested = (typeof suggested)[number];

/** Six at the start; three once the conversation needs the space. */
const shownAtFirst = 6;
const shownLater = 3;

function isOfPricing(key: Suggested): key is "refund" | "rollover" | "payment" | "cancel" {
  return ["refund", "rollover", "payment", "cancel"].includes(key);
}

export function Suggestions() {
  const { t } = useTranslation(["support", "pricing"], { useSuspense: false });
  const { turns, typing, ask } = useConversation();
  const asked = new Set<TopicKey>();
  for (const turn of turns) {
    if (turn.from === "support" && turn.topic !== "failed" && turn.topic.kind === "topic") asked.add(turn.topic.key);
  }
  const open = suggested.filter((key) => !asked.has(key)).slice(0, turns.length === 0 ? shownAtFirst : shownLater);
  return (
    <ul className={styles.suggestions} aria-label={t("suggestions")}>
      {open.map((key) => {
        const question = isOfPricing(key) ? t(`pricing:faq.${key}.question`) : t(`${key}.question`);
        return (
          <li key={key}>
            <button
              type="button"
              className={styles.suggestion}
              aria-disabled={typing || undefined}
              onClick={() => !typing && void ask(question, { kind: "topic", key })}
            >
              {question}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
