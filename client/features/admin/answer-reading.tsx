import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { knownModel } from "#client/lib/known-models.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { PersonPage } from "#contract/admin/people.ts";
import type { ReadAnswer, ReadMessage, ReadPart } from "#contract/support-access.ts";
import { dayMs } from "#domain/clock.ts";
import { accessRequestMs } from "#domain/support-access.ts";
import { ActDialog } from "./act-dialog.tsx";
import styles from "./answer-reading.module.css";

interface AskDialogProps {
  page: PersonPage;
  onClose: () => void;
  onDone: () => void;
}

function AskDialog({ page: { person }, onClose, onDone }: AskDialogProps) {
  const { t } = useTranslation("admin");
  return (
    <ActDialog
      title={t("person.reading.ask")}
      action={t("person.reading.ask")}
      onClose={onClose}
      onDone={onDone}
      wordsOf={(error) => {
        if (!(error instanceof ApiProblem)) return undefined;
        if (error.code === "rate_limited") return t("person.reading.askedToday");
        return error.code === "conflict" ? t("person.reading.blocked") : undefined;
      }}
      act={(reason) => api("POST /api/admin/people/:userId/support-access", { params: { userId: person.id }, body: { reason } })}
    >
      <p>{t("person.reading.askText", { email: person.email, days: accessRequestMs / dayMs })}</p>
    </ActDialog>
  );
}

/** Whether the person lets the team read their answers, and how to ask them. */
export function ReadingBar({ page, look }: { page: PersonPage; look: () => void }) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  const [isAsking, setAsking] = useState(false);
  const { until, askedAt } = page.supportAccess;
  if (until !== null) return <Alert>{t("person.reading.until", { time: dateTime(until) })}</Alert>;
  const ask = (
    <Button size="small" onClick={() => setAsking(true)}>
      {t("person.reading.ask")}
    </Button>
  );
  return (
    <>
      {askedAt === null ? (
        <Alert action={ask}>{t("person.reading.none")}</Alert>
      ) : (
        <Alert>{t("person.reading.asked", { time: dateTime(askedAt) })}</Alert>
      )}
      {isAsking && (
        <AskDialog
          page={page}
          onClose={() => setAsking(false)}
          onDone={() => {
            setAsking(false);
            look();
          }}
        />
      )}
    </>
  );
}

function Part({ part: { kind, text } }: { part: ReadPart }) {
  const { t } = useTranslation("admin");
  if (kind === "text")
    return (
      <p className={styles.text} dir="auto">
        {text}
      </p>
    );
  return (
    <p className={styles.other}>
      {t(`person.reading.part.${kind}`)}
      {text !== null && `: ${text}`}
    </p>
  );
}

function Message({ message: { role, at, model, parts } }: { message: ReadMessage }) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  const who =
    model === null ? t(role === "user" ? "person.reading.question" : "person.reading.answer") : (knownModel(model)?.name ?? model);
  return (
    <li className={role === "user" ? styles.question : styles.answer}>
      <p className={styles.who}>
        <strong>{who}</strong> <span className={styles.other}>{dateTime(at)}</span>
      </p>
      {parts.map((part) => (
        <Part key={part.place} part={part} />
      ))}
      {parts.length === 0 && <p className={styles.other}>{t("person.reading.empty")}</p>}
    </li>
  );
}

interface AnswerReadingProps {
  userId: string;
  answerId: string;
  onClose: () => void;
}

/** Asks why, and then shows the answer with what led to it. */
export function AnswerReading({ userId, answerId, onClose }: AnswerReadingProps) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  const [read, setRead] = useState<ReadAnswer>();
  if (!read)
    return (
      <ActDialog
        title={t("person.reading.title")}
        action={t("person.reading.read")}
        onClose={onClose}
        onDone={() => {}}
        act={async (reason) =>
          setRead(await api("POST /api/admin/people/:userId/answers/:answerId/read", { params: { userId, answerId }, body: { reason } }))
        }
      >
        <p>{t("person.reading.text")}</p>
      </ActDialog>
    );
  return (
    <Dialog open onClose={onClose} title={read.title ?? t("person.reading.title")}>
      <div className={styles.read}>
        <Alert>{t("person.reading.until", { time: dateTime(read.until) })}</Alert>
        {read.isCut && <p className={styles.other}>{t("person.reading.cut")}</p>}
        <ol className={styles.messages}>
          {read.messages.map((message) => (
            <Message key={message.id} message={message} />
          ))}
        </ol>
      </div>
    </Dialog>
  );
}
