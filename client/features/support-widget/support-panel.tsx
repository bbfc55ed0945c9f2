import { ArrowUp } from "lucide-react";
import type { FormEvent } from "react";
import { useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { IconButton } from "#client/components/button.tsx";
import { limits } from "#domain/rules.ts";
import { contactAddress } from "./contact-address.ts";
import { useConversation } from "./conversation-store.ts";
import { Suggestions } from "./suggestions.tsx";
import styles from "./support-panel.module.css";
import { TurnView } from "./turn-view.tsx";

export interface SupportPanelProps {
  id: string;
  onClose: () => void;
}

/** Not modal: the page can still be read, and Escape closes the panel from anywhere inside it. */
export function SupportPanel({ id, onClose }: SupportPanelProps) {
  const { t } = useTranslation(["support", "common", "pricing"], { useSuspense: false });
  const { turns, typing } = useConversation();
  const titleId = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const lastQuestion = turns.findLast((turn) => turn.from === "visitor")?.text ?? "";

  useEffect(() => {
    // Scroll to the latest question and the beginning of its answer.
    if (turns.length > 0 || typing) scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [turns, typing]);

  return (
    <section
      id={id}
      className={styles.panel}
      role="dialog"
      aria-modal="false"
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <h2 className={styles.title} id={titleId}>
        {t("title")}
      </h2>
      <div ref={scroller} className={styles.scroller}>
        <div className={styles.log} role="log" aria-label={t("log")}>
          <p className={styles.intro}>{t("intro")}</p>
          {turns.map((turn) => (
            <TurnView key={turn.id} turn={turn} onFollow={onClose} />
          ))}
          {typing && <Typing />}
        </div>
        <Suggestions />
      </div>
      <QuestionForm />
      <p className={styles.team}>
        <Link href={contactAddress(lastQuestion)} onClick={onClose}>
          {t("write")}
        </Link>
      </p>
    </section>
  );
}

/** The typing indicator, drawn like the spinner. */
function Typing() {
  const { t } = useTranslation("support", { useSuspense: false });
  return (
    <p className={styles.typing}>
      <span className={styles.dots} aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {t("typing")}
    </p>
  );
}

function QuestionForm() {
  const { t } = useTranslation("support", { useSuspense: false });
  const ask = useConversation((state) => state.ask);
  const typing = useConversation((state) => state.typing);
  const [question, setQuestion] = useState("");
  const input = useRef<HTMLInputElement>(null);

  useEffect(() => input.current?.focus({ preventScroll: true }), []);

  function submit(event: FormEvent) {
    event.preventDefault();
    const text = question.trim();
    if (text === "" || typing) return;
    setQuestion("");
    void ask(text);
  }

  return (
    <form className={styles.form} onSubmit={submit}>
      <input
        ref={input}
        className={styles.input}
        aria-label={t("label")}
        placeholder={t("label")}
        value={question}
        maxLength={limits.messageMax}
        autoComplete="off"
        enterKeyHint="send"
        onChange={(event) => setQuestion(event.target.value)}
      />
      <IconButton type="submit" label={t("send")} className={styles.send ?? ""}>
        <ArrowUp size={20} aria-hidden="true" />
      </IconButton>
    </form>
  );
}
