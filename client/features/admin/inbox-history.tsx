import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { useUtc } from "#client/lib/use-utc.ts";
import type { InboxEvent, InboxPage } from "#contract/admin/inbox.ts";
import styles from "./inbox.module.css";
import { deliveryTones } from "./inbox-names.ts";

type Delivery = NonNullable<InboxEvent["answer"]>["delivery"];

function DeliveryState({ delivery: { state, at, error } }: { delivery: Delivery }) {
  const { t } = useTranslation("inbox");
  const { dateTime } = useUtc();
  return (
    <>
      <Badge tone={deliveryTones[state]}>{t(`delivery.${state}`)}</Badge>
      {at !== null && <span className={styles.time}>{dateTime(at)}</span>}
      {error !== null && <span className={styles.time}>{error}</span>}
    </>
  );
}

/** What was done, in a sentence. */
function useSentence(): (event: InboxEvent) => string {
  const { t } = useTranslation("inbox");
  return ({ kind, by: actor, status, owner }) => {
    const by = actor ?? t("left");
    if (kind === "answered") return t("answered", { by });
    if (kind === "status") return t("setStatus", { by, status: t(`statuses.${status ?? "open"}`) });
    return owner === null ? t("gaveBack", { by }) : owner === by ? t("took", { by }) : t("gave", { by, owner });
  };
}

/** The message and everything that was done with it, the oldest first. What people wrote is shown as text. */
export function InboxHistory({ page: { name, message, createdAt, language, history } }: { page: InboxPage }) {
  const { t } = useTranslation("inbox");
  const { dateTime } = useUtc();
  const sentence = useSentence();
  return (
    <ol className={styles.history} aria-label={t("history")}>
      <li className={styles.letter}>
        <p className={styles.act}>
          <strong>{t("wrote", { name })}</strong> <span className={styles.time}>{dateTime(createdAt)}</span>
        </p>
        <p className={styles.text} lang={language} dir="auto">
          {message}
        </p>
      </li>
      {history.map((event) => (
        <li key={event.id} className={event.answer ? styles.answer : styles.event}>
          <p className={styles.act}>
            {event.answer ? <strong>{sentence(event)}</strong> : sentence(event)} {event.reason !== null && <span>· {event.reason}</span>}{" "}
            <span className={styles.time}>{dateTime(event.at)}</span>
          </p>
          {event.answer && (
            <>
              <p className={styles.act}>
                <DeliveryState delivery={event.answer.delivery} />
              </p>
              <p className={styles.subject} lang={language} dir="auto">
                {event.answer.subject}
              </p>
              <p className={styles.text} lang={language} dir="auto">
                {event.answer.text}
              </p>
            </>
          )}
        </li>
      ))}
    </ol>
  );
}
