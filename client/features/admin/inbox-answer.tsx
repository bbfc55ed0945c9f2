import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Select, TextArea, TextField } from "#client/components/field.tsx";
import { api } from "#client/lib/api.ts";
import type { InboxPage } from "#contract/admin/inbox.ts";
import type { AnswerText } from "#domain/inbox.ts";
import { answerFaults, answerLimits, tidyAnswer } from "#domain/inbox.ts";
import styles from "./inbox.module.css";
import { languageName } from "./inbox-names.ts";
import type { Neighbours } from "./inbox-neighbours.tsx";
import { NextMessage } from "./inbox-neighbours.tsx";
import type { Shown } from "./use-inbox-act.ts";
import { useInboxAct } from "./use-inbox-act.ts";

interface Draft extends AnswerText {
  /** The key of exactly this draft, so that a click that is repeated after a broken connection mails nothing twice. */
  key: string;
}

/** A draft stays while the panel is open, also if somebody looks at another message meanwhile. */
const drafts = new Map<string, Draft>();

function useDraft({ id, suggested }: InboxPage) {
  const fresh = (): Draft => ({ subject: suggested.subject, text: "", key: crypto.randomUUID() });
  const [draft, setDraft] = useState<Draft>(() => drafts.get(id) ?? fresh());
  const write = (next: Draft) => {
    drafts.set(id, next);
    setDraft(next);
  };
  return {
    draft,
    change: (part: Partial<AnswerText>) => write({ ...draft, ...part, key: crypto.randomUUID() }),
    clear: () => {
      drafts.delete(id);
      setDraft(fresh());
    },
  };
}

interface FieldsProps {
  draft: Draft;
  faults: readonly string[];
  language: string;
  change: (part: Partial<AnswerText>) => void;
}

function Fields({ draft, faults, language, change }: FieldsProps) {
  const { t } = useTranslation("inbox");
  return (
    <>
      <TextField
        label={t("answer.subject")}
        error={faults.includes("subject") ? t("answer.blank") : undefined}
        lang={language}
        dir="auto"
        autoComplete="off"
        maxLength={answerLimits.subjectMax}
        value={draft.subject}
        onChange={({ target }) => change({ subject: target.value })}
      />
      <TextArea
        label={t("answer.text")}
        error={faults.includes("text") ? t("answer.blank") : undefined}
        lang={language}
        dir="auto"
        rows={12}
        maxLength={answerLimits.textMax}
        value={draft.text}
        onChange={({ target }) => change({ text: target.value })}
      />
    </>
  );
}

/** An answer by mail. A template takes the place of an untouched one, and is added below a text of one's own. */
export function InboxAnswer({ page, look, show, neighbours }: Shown & { page: InboxPage; neighbours: Neighbours }) {
  const { t } = useTranslation("inbox");
  const { draft, change, clear } = useDraft(page);
  const [template, setTemplate] = useState("");
  const [status, setStatus] = useState<"waiting" | "done">("waiting");
  const [isTried, setTried] = useState(false);
  const [isSent, setSent] = useState(false);
  const { note, busy, waitSeconds, run } = useInboxAct({ look, show });
  const { id: messageId, version, email, language, suggested } = page;
  const faults = isTried ? answerFaults(tidyAnswer(draft)) : [];

  function begin(name: string): void {
    setTemplate(name);
    const text = suggested.templates.find((each) => each.name === name)?.text;
    if (text === undefined) return;
    const isUntouched = draft.text.trim() === "" || suggested.templates.some((each) => each.text === draft.text);
    change({ text: isUntouched ? text : `${draft.text.trimEnd()}\n\n${text}` });
  }

  function send(event: FormEvent): void {
    event.preventDefault();
    setTried(true);
    setSent(false);
    if (answerFaults(tidyAnswer(draft)).length > 0) return;
    void run(async () => {
      const chosen = suggested.templates.find((each) => each.name === template);
      const reason = t("reasons.answered", { about: chosen ? t(`answer.templates.${chosen.name}`) : draft.subject.trim() });
      const body = { version, status, reason, ...draft };
      const after = await api("POST /api/admin/inbox/:messageId/answers", { params: { messageId }, body });
      clear();
      setTemplate("");
      setTried(false);
      setSent(true);
      return after;
    });
  }

  return (
    <form className={styles.form} onSubmit={send} noValidate aria-labelledby="answer">
      <h2 id="answer">{t("answer.title")}</h2>
      <p className={styles.to}>{t("answer.to", { email, language: languageName(language) })}</p>
      <Select
        label={t("answer.template")}
        value={template}
        onChange={({ target }) => begin(target.value)}
        options={[
          { value: "", label: t("answer.none") },
          ...suggested.templates.map(({ name }) => ({ value: name, label: t(`answer.templates.${name}`) })),
        ]}
      />
      <Fields draft={draft} faults={faults} language={language} change={change} />
      {note}
      <div className={styles.sending}>
        <Select
          label={t("answer.then")}
          value={status}
          onChange={({ target }) => setStatus(target.value === "done" ? "done" : "waiting")}
          options={(["waiting", "done"] as const).map((value) => ({ value, label: t(`statuses.${value}`) }))}
        />
        <Button type="submit" variant="primary" busy={busy !== undefined} busyLabel={t("answer.sending")} aria-disabled={waitSeconds > 0}>
          {t("answer.send")}
        </Button>
      </div>
      {isSent && <NextMessage neighbours={neighbours} />}
    </form>
  );
}
